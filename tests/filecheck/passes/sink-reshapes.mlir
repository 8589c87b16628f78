// RUN: pyptoc opt %s -p sink-reshapes,canonicalize,dce | filecheck %s

// What is computed behind a reshape of a computed value is computed before it.
// CHECK-LABEL: func.func @behind_a_reduction
// CHECK-NEXT: %[[R:.*]] = pypto.reduce %x
// CHECK-NEXT: %[[B:.*]] = pypto.reshape %b, shape = [4, 1]
// CHECK-NEXT: %[[M:.*]] = pypto.mul %[[R]], %[[B]]
// CHECK-NEXT: %[[H:.*]] = pypto.mul %[[M]], 0.5
// CHECK-NEXT: %[[Y:.*]] = pypto.reshape %[[H]], shape = [4]
// CHECK-NEXT: func.return %[[Y]]
func.func @behind_a_reduction(%x: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pypto.reduce %x, kind = "sum", dims = [1], keepdim = true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = pypto.reshape %0, shape = [4] : (tensor<4x1xf32>) -> tensor<4xf32>
  %2 = pypto.mul %1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = pypto.mul %2, 0.5 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// A view of an input has nothing to fuse with, and a broadcast operand has no other shape.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT: %[[V:.*]] = pypto.reshape %x, shape = [32]
// CHECK-NEXT: pypto.exp %[[V]]
// CHECK-NEXT: %[[E:.*]] = pypto.exp %x
// CHECK-NEXT: %[[W:.*]] = pypto.reshape %[[E]], shape = [2, 16]
// CHECK-NEXT: pypto.add %[[W]], %b
func.func @stays(%x: tensor<4x8xf32>, %b: tensor<16xf32>) -> (tensor<32xf32>, tensor<2x16xf32>) {
  %0 = pypto.reshape %x, shape = [32] : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = pypto.exp %0 : (tensor<32xf32>) -> tensor<32xf32>
  %2 = pypto.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = pypto.reshape %2, shape = [2, 16] : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %4 = pypto.add %3, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  func.return %1, %4 : tensor<32xf32>, tensor<2x16xf32>
}

// Rank 0 is a shape like any other.
// CHECK-LABEL: func.func @rank_0
// CHECK-NEXT: %[[R:.*]] = pypto.reduce %x
// CHECK-NEXT: %[[C:.*]] = pypto.cast %[[R]], dtype = f16
// CHECK-NEXT: %[[Y:.*]] = pypto.reshape %[[C]], shape = []
func.func @rank_0(%x: tensor<8xf32>) -> tensor<f16> {
  %0 = pypto.reduce %x, kind = "max", keepdim = true : (tensor<8xf32>) -> tensor<1xf32>
  %1 = pypto.reshape %0, shape = [] : (tensor<1xf32>) -> tensor<f32>
  %2 = pypto.cast %1, dtype = f16 : (tensor<f32>) -> tensor<f16>
  func.return %2 : tensor<f16>
}
