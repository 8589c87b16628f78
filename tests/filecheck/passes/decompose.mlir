// RUN: pyptoc opt %s -p decompose | filecheck %s

// Composites become primitives whose location names what the user wrote; f16 is widened for
// operators that compute in f32; primitives with a recipe stay.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[W:.*]] = pypto.cast %x, dtype = f32 : {{.*}} loc("silu"("k.py":3:9))
// CHECK-NEXT: %[[N:.*]] = pypto.mul %[[W]], -1.0 : {{.*}} loc("silu"("k.py":3:9))
// CHECK-NEXT: %[[E:.*]] = pypto.exp %[[N]]
// CHECK-NEXT: %[[P:.*]] = pypto.add %[[E]], 1.0
// CHECK-NEXT: %[[D:.*]] = pypto.div %[[W]], %[[P]]
// CHECK-NEXT: %[[Y:.*]] = pypto.cast %[[D]], dtype = f16
// CHECK-NEXT: %[[T:.*]] = pypto.tanh %[[Y]] : {{.*}} loc("k.py":4:9)
// CHECK-NEXT: func.return %[[T]]
func.func @main(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = pypto.silu %x : (tensor<4xf16>) -> tensor<4xf16> loc("k.py":3:9)
  %1 = pypto.tanh %0 : (tensor<4xf16>) -> tensor<4xf16> loc("k.py":4:9)
  func.return %1 : tensor<4xf16>
}
