// RUN: pyptoc opt %s -p outline,tile-kernels | filecheck %s

// On coupled cores every kernel runs on all of them; an accumulator leaves through UB, and rows
// that end within a block of 32 bytes are stored exactly, together when short, or, when few, in
// order on one core.
builtin.module attributes {pypto.soc = "ascend910a"} {
  func.func @main(%a: tensor<32x40xf16>, %b: tensor<40x200xf16>, %c: tensor<40x7xf16>, %d: tensor<3x40xf16>) -> (tensor<32x200xf16>, tensor<32x7xf16>, tensor<3x7xf16>, tensor<32x40xf16>) {
    %0 = pypto.matmul %a, %b : (tensor<32x40xf16>, tensor<40x200xf16>) -> tensor<32x200xf16>
    %1 = pypto.matmul %a, %c : (tensor<32x40xf16>, tensor<40x7xf16>) -> tensor<32x7xf16>
    %2 = pypto.matmul %d, %c : (tensor<3x40xf16>, tensor<40x7xf16>) -> tensor<3x7xf16>
    %3 = pypto.exp %a : (tensor<32x40xf16>) -> tensor<32x40xf16>
    func.return %0, %1, %2, %3 : tensor<32x200xf16>, tensor<32x7xf16>, tensor<3x7xf16>, tensor<32x40xf16>
  }
}

// CHECK-LABEL: func.func @main
// CHECK: host.launch @matmul_f16_0({{.*}}) grid 4 core aicore
// CHECK: host.launch @matmul_f16_1({{.*}}) grid 2 core aicore
// CHECK: host.launch @matmul_f16_2({{.*}}) grid 1 core aicore
// CHECK: host.launch @exp_f16_0({{.*}}) grid {{[0-9]+}} core aicore
// CHECK-LABEL: func.func @matmul_f16_0
// CHECK-SAME: attributes {pypto.kernel = "aicore", tile.granule = 16 : i64, tile.schedule = {m = 16 : i64, n = 128 : i64,
// CHECK: [[D:%.*]] = tile.drain %{{.*}} : !tile.tile<16x128xf32, l0c> -> !tile.tile<16x128xf16, ub>
// CHECK-NEXT: tile.store [[D]], %{{.*}} exact : !tile.tile<16x128xf16, ub>, !tile.global<f16>
// CHECK-LABEL: func.func @matmul_f16_1
// CHECK: tile.store %{{.*}} exact : !tile.tile<16x16xf16, ub>, !tile.global<f16>
// CHECK-LABEL: func.func @matmul_f16_2
// CHECK-SAME: grid = 1 : i64, order = "serial"}
// CHECK: [[S:%.*]] = tile.drain %{{.*}} : !tile.tile<{{.*}}x16xf32, l0c> -> !tile.tile<{{.*}}x16xf16, ub>
// CHECK-NEXT: tile.store [[S]], %{{.*}} merge : !tile.tile<{{.*}}x16xf16, ub>, !tile.global<f16>
// CHECK-LABEL: func.func @exp_f16_0
// CHECK-SAME: pypto.kernel = "aicore"
