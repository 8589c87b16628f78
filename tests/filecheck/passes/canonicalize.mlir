// RUN: pyptoc opt %s -p canonicalize,dce | filecheck %s

// CHECK-LABEL: func.func @neutral
// CHECK-NEXT: func.return %x, %x, %i
func.func @neutral(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %0 = pypto.mul %x, 1.0 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pypto.div %0, 1.0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = pypto.sub %x, 0.0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = pypto.add %i, 0 : (tensor<4xi32>) -> tensor<4xi32>
  func.return %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// -0.0 + 0.0 is 0.0, so a float zero may not go.
// CHECK-LABEL: func.func @keeps_the_sign_of_zero
// CHECK-NEXT: pypto.add %x, 0.0
func.func @keeps_the_sign_of_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pypto.add %x, 0.0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @numbers_stand_inline_on_the_right
// CHECK-NEXT: %[[A:.*]] = pypto.mul %x, 3.0
// CHECK-NEXT: %[[B:.*]] = pypto.add %[[A]], -2.0
// CHECK-NEXT: pypto.mul %[[B]], 0.25
func.func @numbers_stand_inline_on_the_right(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %f = pypto.full shape = [1, 1], value = 3.0 : () -> tensor<1x1xf32>
  %0 = pypto.mul %f, %x : (tensor<1x1xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = pypto.sub %0, 2.0 : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %2 = pypto.div %1, 4.0 : (tensor<4x?xf32>) -> tensor<4x?xf32>
  func.return %2 : tensor<4x?xf32>
}

// A full that sets the shape of a result has to stay a tensor.
// CHECK-LABEL: func.func @full_gives_the_shape
// CHECK: pypto.add %x, %
func.func @full_gives_the_shape(%x: tensor<1xf32>) -> tensor<4xf32> {
  %f = pypto.full shape = [4], value = 3.0 : () -> tensor<4xf32>
  %0 = pypto.add %x, %f : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @twice
// CHECK-NEXT: pypto.abs %x
// CHECK-NEXT: func.return %b, %x, %{{.*}}, %x
func.func @twice(%b: tensor<4xi1>, %x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = pypto.not %b : (tensor<4xi1>) -> tensor<4xi1>
  %1 = pypto.not %0 : (tensor<4xi1>) -> tensor<4xi1>
  %2 = pypto.mul %x, -1.0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = pypto.mul %2, -1.0 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = pypto.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = pypto.abs %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = pypto.max %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %3, %5, %6 : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @dead_branch
// CHECK-NEXT: func.return %x, %y
func.func @dead_branch(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = pypto.full shape = [4], value = true, dtype = i1 : () -> tensor<4xi1>
  %0 = pypto.select %t, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = pypto.select %c, %y, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @numbers_fold
// CHECK-NEXT: pypto.full shape = [2, 3], value = 7.0 : () -> tensor<2x3xf32>
// CHECK-NEXT: func.return
func.func @numbers_fold() -> tensor<2x3xf32> {
  %a = pypto.full shape = [3, 2], value = 2.0 : () -> tensor<3x2xf32>
  %0 = pypto.mul %a, 3.5 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = pypto.permute %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// exp of a number is not folded: NumPy may round it otherwise than the machine.
// CHECK-LABEL: func.func @inexact_stays
// CHECK: pypto.exp
func.func @inexact_stays() -> tensor<3xf32> {
  %a = pypto.full shape = [3], value = 2.0 : () -> tensor<3xf32>
  %0 = pypto.exp %a : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @casts
// CHECK-NEXT: %[[N:.*]] = pypto.cast %w, dtype = f16 : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: %[[W:.*]] = pypto.cast %[[N]], dtype = f32
// CHECK-NEXT: func.return %h, %[[W]]
func.func @casts(%h: tensor<4xf16>, %w: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf32>) {
  %0 = pypto.cast %h, dtype = f32 : (tensor<4xf16>) -> tensor<4xf32>
  %1 = pypto.cast %0, dtype = f16 : (tensor<4xf32>) -> tensor<4xf16>
  %2 = pypto.cast %1, dtype = f16 : (tensor<4xf16>) -> tensor<4xf16>
  %3 = pypto.cast %w, dtype = f16 : (tensor<4xf32>) -> tensor<4xf16>
  %4 = pypto.cast %3, dtype = f32 : (tensor<4xf16>) -> tensor<4xf32>
  func.return %2, %4 : tensor<4xf16>, tensor<4xf32>
}

// CHECK-LABEL: func.func @movement
// CHECK-NEXT: %[[A:.*]] = pypto.reshape %x, shape = [24]
// CHECK-NEXT: %[[B:.*]] = pypto.permute %x, dims = [2, 0, 1]
// CHECK-NEXT: %[[C:.*]] = pypto.reshape %u, shape = [3, 1]
// CHECK-NEXT: %[[D:.*]] = pypto.slice %x, start = [0, 1, 1], stop = [1, 2, 4], step = [1, 1, 2]
// CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]], %[[D]], %x
func.func @movement(%x: tensor<2x3x4xf32>, %u: tensor<1x3xf32>, %e: tensor<2x0x4xf32>) -> (tensor<24xf32>, tensor<4x2x3xf32>, tensor<3x1xf32>, tensor<1x1x2xf32>, tensor<2x3x4xf32>) {
  %0 = pypto.reshape %x, shape = [6, 4] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = pypto.reshape %0, shape = [24] : (tensor<6x4xf32>) -> tensor<24xf32>
  %2 = pypto.permute %x, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %3 = pypto.permute %2, dims = [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %4 = pypto.permute %u, dims = [1, 0] : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %5 = pypto.slice %x, start = [0, 1, 1], stop = [2, 3, 4] : (tensor<2x3x4xf32>) -> tensor<2x2x3xf32>
  %6 = pypto.slice %5, start = [0, 0, 0], stop = [1, 1, 3], step = [1, 1, 2] : (tensor<2x2x3xf32>) -> tensor<1x1x2xf32>
  %7 = pypto.concat [%x, %e], dim = 1 : (tensor<2x3x4xf32>, tensor<2x0x4xf32>) -> tensor<2x3x4xf32>
  func.return %1, %3, %4, %6, %7 : tensor<24xf32>, tensor<4x2x3xf32>, tensor<3x1xf32>, tensor<1x1x2xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @broadcasts
// CHECK-NEXT: %[[A:.*]] = pypto.add %x, %r
// CHECK-NEXT: func.return %[[A]]
func.func @broadcasts(%x: tensor<2x3xf32>, %r: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = pypto.broadcast %r, shape = [1, 3] : (tensor<3xf32>) -> tensor<1x3xf32>
  %1 = pypto.broadcast %0, shape = [2, 3] : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = pypto.add %x, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @reductions
// CHECK-NEXT: %[[A:.*]] = pypto.reshape %u, shape = [3]
// CHECK-NEXT: %[[B:.*]] = pypto.reduce %x, kind = "sum", dims = [1], keepdim = true
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @reductions(%u: tensor<1x3xf32>, %x: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x1xf32>) {
  %0 = pypto.reduce %u, kind = "max", dims = [0] : (tensor<1x3xf32>) -> tensor<3xf32>
  %1 = pypto.reduce %x, kind = "sum", dims = [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  %2 = pypto.reshape %1, shape = [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
  func.return %0, %2 : tensor<3xf32>, tensor<2x1xf32>
}
