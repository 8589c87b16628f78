// RUN: pyptoc opt %s -p legalize,canonicalize,cse,dce | filecheck %s

// bf16 has no arithmetic: f32 in between, the number rounded to bf16 as the tensor's is.
// CHECK-LABEL: func.func @bf16
// CHECK-NEXT: %[[W:.*]] = pypto.cast %x, dtype = f32
// CHECK-NEXT: %[[S:.*]] = pypto.add %[[W]], 0.10009765625
// CHECK-NEXT: %[[R:.*]] = pypto.cast %[[S]], dtype = bf16
// CHECK-NEXT: func.return %[[R]]
func.func @bf16(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = pypto.add %x, 0.1 : (tensor<4xbf16>) -> tensor<4xbf16>
  func.return %0 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @f16_sums
// CHECK-NEXT: %[[W:.*]] = pypto.cast %x, dtype = f32
// CHECK-NEXT: %[[S:.*]] = pypto.reduce %[[W]], kind = "sum", dims = [1], keepdim = true
// CHECK-NEXT: %[[V:.*]] = pypto.reshape %[[S]], shape = [4]
// CHECK-NEXT: %[[R:.*]] = pypto.cast %[[V]], dtype = f16
// CHECK-NEXT: %[[M:.*]] = pypto.reduce %x, kind = "max", dims = [1], keepdim = true : (tensor<4x8xf16>)
func.func @f16_sums(%x: tensor<4x8xf16>) -> (tensor<4xf16>, tensor<4x1xf16>) {
  %0 = pypto.reduce %x, kind = "sum", dims = [1] : (tensor<4x8xf16>) -> tensor<4xf16>
  %1 = pypto.reduce %x, kind = "max", dims = [1], keepdim = true : (tensor<4x8xf16>) -> tensor<4x1xf16>
  func.return %0, %1 : tensor<4xf16>, tensor<4x1xf16>
}

// Each run of neighbouring axes by itself; an axis of extent 1 does not part two others.
// CHECK-LABEL: func.func @runs_of_axes
// CHECK-NEXT: %[[A:.*]] = pypto.reduce %x, kind = "sum", dims = [2], keepdim = true
// CHECK-NEXT: %[[B:.*]] = pypto.reduce %[[A]], kind = "sum", dims = [0], keepdim = true
// CHECK-NEXT: %[[C:.*]] = pypto.reduce %u, kind = "max", dims = [0, 2], keepdim = true
// CHECK-NEXT: func.return %[[B]], %[[C]]
func.func @runs_of_axes(%x: tensor<2x3x4xf32>, %u: tensor<2x1x4xf32>) -> (tensor<1x3x1xf32>, tensor<1x1x1xf32>) {
  %0 = pypto.reduce %x, kind = "sum", dims = [0, 2], keepdim = true : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %1 = pypto.reduce %u, kind = "max", dims = [0, 1, 2], keepdim = true : (tensor<2x1x4xf32>) -> tensor<1x1x1xf32>
  func.return %0, %1 : tensor<1x3x1xf32>, tensor<1x1x1xf32>
}

// CHECK-LABEL: func.func @integer_rows
// CHECK-NEXT: %[[P:.*]] = pypto.permute %x, dims = [1, 0]
// CHECK-NEXT: %[[A:.*]] = pypto.reduce %[[P]], kind = "sum", dims = [0], keepdim = true
// CHECK-NEXT: %[[R:.*]] = pypto.reshape %[[A]], shape = [3, 1]
// CHECK-NEXT: %[[V:.*]] = pypto.reshape %v, shape = [7, 1]
// CHECK-NEXT: %[[W:.*]] = pypto.broadcast %[[V]], shape = [7, 8]
// CHECK-NEXT: %[[M:.*]] = pypto.reduce %[[W]], kind = "max", dims = [0], keepdim = true
// CHECK-NEXT: %[[O:.*]] = pypto.slice %[[M]], start = [0, 0], stop = [1, 1]
// CHECK-NEXT: %[[S:.*]] = pypto.reshape %[[O]], shape = []
// CHECK-NEXT: func.return %[[R]], %[[S]]
func.func @integer_rows(%x: tensor<3x7xi32>, %v: tensor<7xi32>) -> (tensor<3x1xi32>, tensor<i32>) {
  %0 = pypto.reduce %x, kind = "sum", dims = [1], keepdim = true : (tensor<3x7xi32>) -> tensor<3x1xi32>
  %1 = pypto.reduce %v, kind = "max", dims = [0] : (tensor<7xi32>) -> tensor<i32>
  func.return %0, %1 : tensor<3x1xi32>, tensor<i32>
}

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: %[[A:.*]] = pypto.full shape = [2], value = -inf : () -> tensor<2xf32>
// CHECK-NEXT: %[[B:.*]] = pypto.full shape = [2, 0], value = 0.0
// CHECK-NEXT: %[[C:.*]] = pypto.full shape = [2, 3], value = 0.0
// CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]]
func.func @nothing(%x: tensor<2x0xf32>, %y: tensor<0x3xf32>) -> (tensor<2xf32>, tensor<2x0xf32>, tensor<2x3xf32>) {
  %0 = pypto.reduce %x, kind = "max", dims = [1] : (tensor<2x0xf32>) -> tensor<2xf32>
  %1 = pypto.exp %x : (tensor<2x0xf32>) -> tensor<2x0xf32>
  %2 = pypto.matmul %x, %y : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1, %2 : tensor<2xf32>, tensor<2x0xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @integer_order
// CHECK-NEXT: %[[M:.*]] = pypto.min %x, %y
// CHECK-NEXT: %[[E:.*]] = pypto.eq %[[M]], %y
// CHECK-NEXT: %[[L:.*]] = pypto.not %[[E]]
// CHECK-NEXT: %[[N:.*]] = pypto.min %x, 3
// CHECK-NEXT: %[[K:.*]] = pypto.eq %[[N]], %x
// CHECK-NEXT: func.return %[[L]], %[[K]]
func.func @integer_order(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
  %0 = pypto.lt %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %1 = pypto.le %x, 3 : (tensor<4xi32>) -> tensor<4xi1>
  func.return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: func.func @exclusive_or
// CHECK-NEXT: %[[O:.*]] = pypto.or %x, 12
// CHECK-NEXT: %[[A:.*]] = pypto.and %x, 12
// CHECK-NEXT: pypto.sub %[[O]], %[[A]]
func.func @exclusive_or(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = pypto.xor %x, 12 : (tensor<4xi32>) -> tensor<4xi32>
  func.return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @conversions
// CHECK-NEXT: %[[A:.*]] = pypto.cast %b, dtype = f32 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = pypto.cast %[[A]], dtype = f16
// CHECK-NEXT: %[[C:.*]] = pypto.add %i, 128
// CHECK-NEXT: %[[D:.*]] = pypto.and %[[C]], 255
// CHECK-NEXT: %[[E:.*]] = pypto.add %[[D]], -128
// CHECK-NEXT: %[[F:.*]] = pypto.cast %[[E]], dtype = f32
// CHECK-NEXT: %[[G:.*]] = pypto.cast %[[F]], dtype = f16
// CHECK-NEXT: %[[H:.*]] = pypto.cast %[[G]], dtype = i8, round = "rint"
// CHECK-NEXT: %[[I:.*]] = pypto.eq %[[A]], 0.0
// CHECK-NEXT: %[[J:.*]] = pypto.not %[[I]]
// CHECK-NEXT: func.return %[[B]], %[[H]], %[[J]]
func.func @conversions(%b: tensor<4xbf16>, %i: tensor<4xi32>) -> (tensor<4xf16>, tensor<4xi8>, tensor<4xi1>) {
  %0 = pypto.cast %b, dtype = f16 : (tensor<4xbf16>) -> tensor<4xf16>
  %1 = pypto.cast %i, dtype = i8 : (tensor<4xi32>) -> tensor<4xi8>
  %2 = pypto.cast %b, dtype = i1 : (tensor<4xbf16>) -> tensor<4xi1>
  func.return %0, %1, %2 : tensor<4xf16>, tensor<4xi8>, tensor<4xi1>
}

// CHECK-LABEL: func.func @batches
// CHECK-NEXT: %[[A:.*]] = pypto.reshape %a, shape = [24, 8]
// CHECK-NEXT: %[[P:.*]] = pypto.matmul %[[A]], %w
// CHECK-NEXT: %[[R:.*]] = pypto.reshape %[[P]], shape = [2, 3, 4, 5]
// CHECK-NEXT: %[[B:.*]] = pypto.reshape %a, shape = [6, 4, 8]
// CHECK-NEXT: %[[C:.*]] = pypto.reshape %c, shape = [6, 8, 5]
// CHECK-NEXT: %[[Q:.*]] = pypto.matmul %[[B]], %[[C]]
// CHECK-NEXT: pypto.reshape %[[Q]], shape = [2, 3, 4, 5]
func.func @batches(%a: tensor<2x3x4x8xf16>, %w: tensor<8x5xf16>, %c: tensor<2x3x8x5xf16>) -> (tensor<2x3x4x5xf16>, tensor<2x3x4x5xf16>) {
  %0 = pypto.matmul %a, %w : (tensor<2x3x4x8xf16>, tensor<8x5xf16>) -> tensor<2x3x4x5xf16>
  %1 = pypto.matmul %a, %c : (tensor<2x3x4x8xf16>, tensor<2x3x8x5xf16>) -> tensor<2x3x4x5xf16>
  func.return %0, %1 : tensor<2x3x4x5xf16>, tensor<2x3x4x5xf16>
}
