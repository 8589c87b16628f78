// RUN: pyptoc opt %s | pyptoc opt - | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @vector(%g: !tile.global<f16>, %n: index) attributes {pypto.kernel = "vector", tile.granule = 16 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = tile.load %g[%c0] stride %n valid(%c8, %n) slots 2 : !tile.global<f16> -> !tile.tile<8x128xf16, ub>
    %y = tile.load %g[%c0] stride %n valid(%c8, %n) slots 1 : !tile.global<f16> -> !tile.tile<8x128xf16, ub>
    %sum = tile.apply add %x, %y : !tile.tile<8x128xf16, ub>, !tile.tile<8x128xf16, ub> -> !tile.tile<8x128xf16, ub>
    %twice = tile.apply mul %sum, -2.0 : !tile.tile<8x128xf16, ub> -> !tile.tile<8x128xf16, ub>
    %from = tile.apply sub inf, %twice : !tile.tile<8x128xf16, ub> -> !tile.tile<8x128xf16, ub>
    %small = tile.apply lt %from, 1.0e-05 : !tile.tile<8x128xf16, ub> -> !tile.tile<8x128xi1, ub>
    %chosen = tile.apply select %small, %x, %y : !tile.tile<8x128xi1, ub>, !tile.tile<8x128xf16, ub>, !tile.tile<8x128xf16, ub> -> !tile.tile<8x128xf16, ub>
    %whole = tile.apply cast %chosen rounding floor {note = "kept"} : !tile.tile<8x128xf16, ub> -> !tile.tile<8x128xi32, ub>
    %full = tile.full nan valid(%c1, %n) : !tile.tile<1x128xf16, ub>
    %places = tile.iota %c0 steps(0, -2) valid(%c1, %n) : !tile.tile<1x128xi32, ub>
    %rows = tile.broadcast %full valid(%c8, %n) : !tile.tile<1x128xf16, ub> -> !tile.tile<8x128xf16, ub>
    %top = tile.reduce max %rows axis 1 : !tile.tile<8x128xf16, ub> -> !tile.tile<8x1xf16, ub>
    %taken = tile.gather %x[%places] : !tile.tile<8x128xf16, ub>, !tile.tile<1x128xi32, ub> -> !tile.tile<1x128xf16, ub>
    tile.store %taken, %g[%c0] stride %n : !tile.tile<1x128xf16, ub>, !tile.global<f16>
    %turned = tile.transpose %x {note = "kept"} : !tile.tile<8x128xf16, ub> -> !tile.tile<128x8xf16, ub>
    tile.store %turned, %g[%c0] stride %n merge : !tile.tile<128x8xf16, ub>, !tile.global<f16>
    tile.store %taken, %g[%c0] stride %n exact : !tile.tile<1x128xf16, ub>, !tile.global<f16>
    func.return
  }
  func.func @cube(%g: !tile.global<f16>, %n: index) attributes {pypto.kernel = "cube"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %start = tile.accumulator valid(%c16, %c16) slots 2 : !tile.tile<32x32xf32, l0c>
    %total = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %start) -> (!tile.tile<32x32xf32, l0c>) {
      %l1 = tile.load %g[%k] stride %n valid(%c16, %c16) : !tile.global<f16> -> !tile.tile<32x32xf16, l1>
      %a = tile.extract %l1[%c0, %c16] valid(%c16, %c16) : !tile.tile<32x32xf16, l1> -> !tile.tile<32x16xf16, l0a>
      %b = tile.extract %l1[%c0, %c16] valid(%c16, %c16) transpose slots 2 : !tile.tile<32x32xf16, l1> -> !tile.tile<16x32xf16, l0b>
      %init = tik.compare seq %k, %c0
      %next = tile.mma %acc, %a, %b init %init : !tile.tile<32x32xf32, l0c>, !tile.tile<32x16xf16, l0a>, !tile.tile<16x32xf16, l0b> -> !tile.tile<32x32xf32, l0c>
      scf.yield %next : !tile.tile<32x32xf32, l0c>
    }
    tile.store %total, %g[%c0] stride %n relu : !tile.tile<32x32xf32, l0c>, !tile.global<f16>
    func.return
  }
  func.func @coupled(%g: !tile.global<f16>, %n: index) attributes {pypto.kernel = "aicore", tile.granule = 16 : i64} {
    %c0 = arith.constant 0 : index
    %total = tile.accumulator valid(%n, %n) : !tile.tile<32x32xf32, l0c>
    %plain = tile.drain %total : !tile.tile<32x32xf32, l0c> -> !tile.tile<32x32xf32, ub>
    %half = tile.drain %total relu {note = "kept"} : !tile.tile<32x32xf32, l0c> -> !tile.tile<32x32xf16, ub>
    tile.store %half, %g[%c0] stride %n : !tile.tile<32x32xf16, ub>, !tile.global<f16>
    func.return
  }
} loc("module.py":1:1)

// CHECK: %x = tile.load %g[%c0] stride %n valid(%c8, %n) slots 2 : !tile.global<f16> -> !tile.tile<8x128xf16, ub>
// CHECK-NEXT: %y = tile.load %g[%c0] stride %n valid(%c8, %n) : !tile.global<f16> -> !tile.tile<8x128xf16, ub>
// CHECK-NEXT: %sum = tile.apply add %x, %y : !tile.tile<8x128xf16, ub>, !tile.tile<8x128xf16, ub> -> !tile.tile<8x128xf16, ub>
// CHECK-NEXT: %twice = tile.apply mul %sum, -2.0 : !tile.tile<8x128xf16, ub> -> !tile.tile<8x128xf16, ub>
// CHECK-NEXT: %from = tile.apply sub inf, %twice :
// CHECK-NEXT: %small = tile.apply lt %from, 1.0e-05 :
// CHECK-NEXT: %chosen = tile.apply select %small, %x, %y :
// CHECK-NEXT: %whole = tile.apply cast %chosen rounding floor {note = "kept"} :
// CHECK-NEXT: %full = tile.full nan valid(%c1, %n) : !tile.tile<1x128xf16, ub>
// CHECK-NEXT: %places = tile.iota %c0 steps(0, -2) valid(%c1, %n) : !tile.tile<1x128xi32, ub>
// CHECK-NEXT: %rows = tile.broadcast %full valid(%c8, %n) : !tile.tile<1x128xf16, ub> -> !tile.tile<8x128xf16, ub>
// CHECK-NEXT: %top = tile.reduce max %rows axis 1 : !tile.tile<8x128xf16, ub> -> !tile.tile<8x1xf16, ub>
// CHECK-NEXT: %taken = tile.gather %x[%places] : !tile.tile<8x128xf16, ub>, !tile.tile<1x128xi32, ub> -> !tile.tile<1x128xf16, ub>
// CHECK-NEXT: tile.store %taken, %g[%c0] stride %n : !tile.tile<1x128xf16, ub>, !tile.global<f16>
// CHECK-NEXT: %turned = tile.transpose %x {note = "kept"} : !tile.tile<8x128xf16, ub> -> !tile.tile<128x8xf16, ub>
// CHECK-NEXT: tile.store %turned, %g[%c0] stride %n merge : !tile.tile<128x8xf16, ub>, !tile.global<f16>
// CHECK-NEXT: tile.store %taken, %g[%c0] stride %n exact : !tile.tile<1x128xf16, ub>, !tile.global<f16>
// CHECK: tile.accumulator valid(%c16, %c16) slots 2 : !tile.tile<32x32xf32, l0c>
// CHECK: tile.extract %l1[%c0, %c16] valid(%c16, %c16) : !tile.tile<32x32xf16, l1> -> !tile.tile<32x16xf16, l0a>
// CHECK-NEXT: tile.extract %l1[%c0, %c16] valid(%c16, %c16) transpose slots 2 : !tile.tile<32x32xf16, l1> -> !tile.tile<16x32xf16, l0b>
// CHECK: tile.mma %acc, %a, %b init %init :
// CHECK: tile.store %total, %g[%c0] stride %n relu :
// CHECK: %plain = tile.drain %total : !tile.tile<32x32xf32, l0c> -> !tile.tile<32x32xf32, ub>
// CHECK-NEXT: %half = tile.drain %total relu {note = "kept"} : !tile.tile<32x32xf32, l0c> -> !tile.tile<32x32xf16, ub>
