// RUN: pyptoc opt %s -p expand-recipes | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[M:.*]] = pypto.reduce %x, kind = "max", dims = [1], keepdim = true : {{.*}} loc("softmax"("k.py":3:9))
// CHECK-NEXT: %[[S:.*]] = pypto.sub %x, %[[M]]
// CHECK-NEXT: %[[E:.*]] = pypto.exp %[[S]]
// CHECK-NEXT: %[[T:.*]] = pypto.reduce %[[E]], kind = "sum", dims = [1], keepdim = true
// CHECK-NEXT: %[[D:.*]] = pypto.div %[[E]], %[[T]]
// CHECK-NEXT: func.return %[[D]]
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = pypto.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("k.py":3:9)
  func.return %0 : tensor<4x8xf32>
}
