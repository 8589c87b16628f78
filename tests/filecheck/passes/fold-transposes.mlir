// RUN: pyptoc opt %s -p fold-transposes,dce | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[A:.*]] = pypto.matmul %a, %b, tb = true
// CHECK-NEXT: %[[B:.*]] = pypto.matmul %c, %b, ta = true
// CHECK-NEXT: %[[P:.*]] = pypto.permute %d, dims = [1, 0, 2]
// CHECK-NEXT: %[[C:.*]] = pypto.matmul %[[P]], %b
// CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]]
func.func @main(%a: tensor<4x8xf16>, %b: tensor<8x8xf16>, %c: tensor<8x4xf16>, %d: tensor<4x2x8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf16>, tensor<2x4x8xf16>) {
  %bt = pypto.permute %b, dims = [1, 0] : (tensor<8x8xf16>) -> tensor<8x8xf16>
  %0 = pypto.matmul %a, %bt : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
  %ct = pypto.permute %c, dims = [1, 0] : (tensor<8x4xf16>) -> tensor<4x8xf16>
  %1 = pypto.matmul %ct, %bt, tb = true : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
  %dt = pypto.permute %d, dims = [1, 0, 2] : (tensor<4x2x8xf16>) -> tensor<2x4x8xf16>
  %2 = pypto.matmul %dt, %b : (tensor<2x4x8xf16>, tensor<8x8xf16>) -> tensor<2x4x8xf16>
  func.return %0, %1, %2 : tensor<4x8xf16>, tensor<4x8xf16>, tensor<2x4x8xf16>
}
