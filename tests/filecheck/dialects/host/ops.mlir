// RUN: pyptoc opt %s | pyptoc opt - | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @kernel(%x: !tile.global<f16>, %y: !tile.global<f32>, %n: index) attributes {pypto.kernel = "vector"} {
    func.return
  }
  func.func @main(%x: !host.buffer<4x?xf16> {pypto.name = "x"}) -> (!host.buffer<?xf32>, !host.buffer<ui8>) {
    %n = host.dim %x axis 1 : !host.buffer<4x?xf16>
    %c2 = arith.constant 2 : index
    %w = host.constant "weights" resource "sha256-12" : !host.buffer<2x3xbf16>
    %t = host.alloc temporary "t" offset 512 : !host.buffer<4x8xf32>
    %v = host.view %t : !host.buffer<4x8xf32> -> !host.buffer<32xf32>
    %y = host.alloc result "y"(%n) : !host.buffer<?xf32>
    %z = host.alloc result "z" : !host.buffer<ui8>
    host.launch @kernel(%x, %v, %n) grid 48 core vector : !host.buffer<4x?xf16>, !host.buffer<32xf32>, index
    host.launch @kernel(%x, %y, %c2) grid 1 core vector : !host.buffer<4x?xf16>, !host.buffer<?xf32>, index
    host.return %y, %z : !host.buffer<?xf32>, !host.buffer<ui8>
  }
} loc("module.py":1:1)

// CHECK: func.func @main(%x: !host.buffer<4x?xf16> {pypto.name = "x"}
// CHECK-NEXT: %n = host.dim %x axis 1 : !host.buffer<4x?xf16>
// CHECK: %w = host.constant "weights" resource "sha256-12" : !host.buffer<2x3xbf16>
// CHECK-NEXT: %t = host.alloc temporary "t" offset 512 : !host.buffer<4x8xf32>
// CHECK-NEXT: %v = host.view %t : !host.buffer<4x8xf32> -> !host.buffer<32xf32>
// CHECK-NEXT: %y = host.alloc result "y"(%n) : !host.buffer<?xf32>
// CHECK-NEXT: %z = host.alloc result "z" : !host.buffer<ui8>
// CHECK-NEXT: host.launch @kernel(%x, %v, %n) grid 48 core vector : !host.buffer<4x?xf16>, !host.buffer<32xf32>, index
// CHECK: host.return %y, %z : !host.buffer<?xf32>, !host.buffer<ui8>
