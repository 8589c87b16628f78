// RUN: pyptoc opt %s -p legalize | filecheck %s

// This machine compares floats only: integers are equal where their difference is 0.
builtin.module attributes {pypto.soc = "ascend910a"} {
  func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
    %0 = pypto.eq %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %1 = pypto.le %x, 3 : (tensor<4xi32>) -> tensor<4xi1>
    func.return %0, %1 : tensor<4xi1>, tensor<4xi1>
  }
}

// CHECK: [[D:%[0-9a-z_]+]] = pypto.sub %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: [[F:%[0-9a-z_]+]] = pypto.cast [[D]]{{.*}} -> tensor<4xf32>
// CHECK-NEXT: pypto.eq [[F]], 0.0 : (tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: [[L:%[0-9a-z_]+]] = pypto.min %x, 3
// CHECK-NEXT: [[E:%[0-9a-z_]+]] = pypto.sub [[L]], %x
// CHECK-NEXT: [[G:%[0-9a-z_]+]] = pypto.cast [[E]]{{.*}} -> tensor<4xf32>
// CHECK-NEXT: pypto.eq [[G]], 0.0
