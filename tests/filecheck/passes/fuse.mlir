// RUN: pyptoc opt %s -p fuse | filecheck %s

// Elementwise work before and behind row reductions is one kernel; the product stays alone.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: pypto.matmul %x, %w :
// CHECK-NEXT: pypto.add %{{.*}} {pypto.group = 0 : i64}
// CHECK-NEXT: pypto.reduce %{{.*}} {pypto.group = 0 : i64}
// CHECK-NEXT: pypto.sub %{{.*}} {pypto.group = 0 : i64}
// CHECK-NEXT: pypto.exp %{{.*}} {pypto.group = 0 : i64}
// CHECK-NEXT: pypto.reduce %{{.*}} {pypto.group = 1 : i64}
// CHECK-NEXT: pypto.mul %{{.*}} {pypto.group = 1 : i64}
// CHECK-NEXT: pypto.permute %{{.*}} : (tensor
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>, %b: tensor<48xf32>) -> (tensor<48x32xf32>, tensor<1x48xf32>) {
  %0 = pypto.matmul %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = pypto.add %0, %b : (tensor<32x48xf32>, tensor<48xf32>) -> tensor<32x48xf32>
  %2 = pypto.reduce %1, kind = "max", dims = [1], keepdim = true : (tensor<32x48xf32>) -> tensor<32x1xf32>
  %3 = pypto.sub %1, %2 : (tensor<32x48xf32>, tensor<32x1xf32>) -> tensor<32x48xf32>
  %4 = pypto.exp %3 : (tensor<32x48xf32>) -> tensor<32x48xf32>
  %5 = pypto.reduce %4, kind = "sum", dims = [0], keepdim = true : (tensor<32x48xf32>) -> tensor<1x48xf32>
  %6 = pypto.mul %5, 0.03125 : (tensor<1x48xf32>) -> tensor<1x48xf32>
  %7 = pypto.permute %4, dims = [1, 0] : (tensor<32x48xf32>) -> tensor<48x32xf32>
  func.return %7, %6 : tensor<48x32xf32>, tensor<1x48xf32>
}
