// RUN: pyptoc opt %s -p outline | filecheck %s

// Groups and lone operations become functions, equal ones once; views, constants and empty
// tensors stay; every result is a buffer of its own; each kernel makes its own numbers.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[C:.*]] = pypto.constant {resource = "sha256-0"} : tensor<4x8xf16>
// CHECK-NEXT: %[[F:.*]] = func.call @fused_add_gelu_0(%x, %[[C]])
// CHECK-NEXT: %[[E:.*]] = func.call @exp_f16_0(%[[F]])
// CHECK-NEXT: %[[V:.*]] = pypto.reshape %[[E]], shape = [32]
// CHECK-NEXT: %[[W:.*]] = func.call @exp_f16_0(%x)
// CHECK-NEXT: %[[S:.*]] = func.call @select_f16_0(%m)
// CHECK-NEXT: %[[Z:.*]] = pypto.full shape = [0, 8]
// CHECK-NEXT: %[[Y:.*]] = func.call @slice_f16_0(%[[V]])
// CHECK-NEXT: %[[X:.*]] = func.call @slice_f16_1(%x)
// CHECK-NEXT: func.return %[[E]], %[[Y]], %[[W]], %[[S]], %[[Z]], %[[X]]
func.func @main(%x: tensor<4x8xf16>, %m: tensor<3xi1>) -> (tensor<4x8xf16>, tensor<32xf16>, tensor<4x8xf16>, tensor<3xf16>, tensor<0x8xf16>, tensor<4x8xf16>) {
  %c = pypto.constant {resource = "sha256-0"} : tensor<4x8xf16>
  %0 = pypto.add %x, %c {pypto.group = 0 : i64} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("k.py":3:9)
  %1 = pypto.mul %0, 0.5 {pypto.group = 0 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("gelu"("k.py":4:9))
  %2 = pypto.exp %1 : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("k.py":5:9)
  %3 = pypto.reshape %2, shape = [32] : (tensor<4x8xf16>) -> tensor<32xf16>
  %5 = pypto.exp %x : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("k.py":6:9)
  %one = pypto.full shape = [], value = 1.0, dtype = f16 : () -> tensor<f16>
  %6 = pypto.select %m, %one, 0.0 : (tensor<3xi1>, tensor<f16>) -> tensor<3xf16>
  %z = pypto.full shape = [0, 8], value = 0.0, dtype = f16 : () -> tensor<0x8xf16>
  func.return %2, %3, %5, %6, %z, %x : tensor<4x8xf16>, tensor<32xf16>, tensor<4x8xf16>, tensor<3xf16>, tensor<0x8xf16>, tensor<4x8xf16>
}

// CHECK-LABEL: func.func @fused_add_gelu_0
// CHECK-SAME: attributes {pypto.kernel = "vector"}
// CHECK-NEXT: pypto.add {{.*}} loc("k.py":3:9)
// CHECK-NEXT: pypto.mul {{.*}} loc("k.py":4:9)
// CHECK-NEXT: func.return

// CHECK-LABEL: func.func @exp_f16_0
// CHECK-LABEL: func.func @select_f16_0
// CHECK-NEXT: pypto.full shape = [], value = 1.0
// CHECK-NEXT: pypto.select
// CHECK-LABEL: func.func @slice_f16_0
// CHECK-NEXT: pypto.slice %{{.*}}, start = [0], stop = [32]
// CHECK-LABEL: func.func @slice_f16_1
// CHECK-NEXT: pypto.slice %{{.*}}, start = [0, 0], stop = [4, 8]
