// RUN: pyptoc opt %s -p dce | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: pypto.exp %x
// CHECK-NEXT: func.return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pypto.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pypto.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = pypto.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
