// RUN: pyptoc opt %s -p cse | filecheck %s

// The first of two equal operations stays, with its location; numbers are equal by their bits.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[A:.*]] = pypto.exp %x : {{.*}} loc("k.py":1:4)
// CHECK-NEXT: %[[B:.*]] = pypto.add %[[A]], 0.0
// CHECK-NEXT: %[[C:.*]] = pypto.add %[[A]], -0.0
// CHECK-NEXT: func.return %[[A]], %[[A]], %[[B]], %[[C]]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = pypto.exp %x : (tensor<4xf32>) -> tensor<4xf32> loc("k.py":1:4)
  %1 = pypto.exp %x : (tensor<4xf32>) -> tensor<4xf32> loc("k.py":2:4)
  %2 = pypto.add %0, 0.0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = pypto.add %1, -0.0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
