// RUN: pyptoc opt %s | filecheck %s

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<2x?xf16>, %b: tensor<2x?xi1>) -> tensor<2x?xf16> {
  // A weak scalar stands in place of an operand; a float always has a point.
  // CHECK-NEXT: %0 = pypto.mul %x, 2.0 : (tensor<2x?xf16>) -> tensor<2x?xf16>
  %0 = pypto.mul %x, 2.0 : (tensor<2x?xf16>) -> tensor<2x?xf16>
  // CHECK-NEXT: %1 = pypto.sub 1.0e-06, %0 : (tensor<2x?xf16>) -> tensor<2x?xf16>
  %1 = pypto.sub 1.0e-06, %0 : (tensor<2x?xf16>) -> tensor<2x?xf16>
  // CHECK-NEXT: %2 = pypto.select %b, %1, -inf : (tensor<2x?xi1>, tensor<2x?xf16>) -> tensor<2x?xf16>
  %2 = pypto.select %b, %1, -inf : (tensor<2x?xi1>, tensor<2x?xf16>) -> tensor<2x?xf16>
  // CHECK-NEXT: %3 = pypto.clip %2, _, 1 : (tensor<2x?xf16>) -> tensor<2x?xf16>
  %3 = pypto.clip %2, _, 1 : (tensor<2x?xf16>) -> tensor<2x?xf16>
  // Defaults are hidden, also when they were written.
  // CHECK-NEXT: %4 = pypto.gelu %3 : (tensor<2x?xf16>) -> tensor<2x?xf16>
  %4 = pypto.gelu %3, approximate = "none" : (tensor<2x?xf16>) -> tensor<2x?xf16>
  func.return %4 : tensor<2x?xf16>
}

// CHECK-LABEL: func.func @whole
func.func @whole(%x: tensor<2x8xf16>, %w: tensor<8xf16>, %m: tensor<3x8xf16>) {
  // CHECK-NEXT: %0 = pypto.layer_norm %x, _, %w, eps = 1.0e-06 : (tensor<2x8xf16>, tensor<8xf16>) -> tensor<2x8xf16>
  %0 = pypto.layer_norm %x, _, %w, eps = 1.0e-06 : (tensor<2x8xf16>, tensor<8xf16>) -> tensor<2x8xf16>
  // CHECK-NEXT: %1 = pypto.matmul %0, %m, tb = true : (tensor<2x8xf16>, tensor<3x8xf16>) -> tensor<2x3xf16>
  %1 = pypto.matmul %0, %m, ta = false, tb = true : (tensor<2x8xf16>, tensor<3x8xf16>) -> tensor<2x3xf16>
  // CHECK-NEXT: %2 = pypto.reduce %1, kind = "max", dims = [1] : (tensor<2x3xf16>) -> tensor<2xf16>
  %2 = pypto.reduce %1, kind = "max", dims = [-1] : (tensor<2x3xf16>) -> tensor<2xf16>
  // CHECK-NEXT: %3 = pypto.concat [%x, %x], dim = 1 : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x16xf16>
  %3 = pypto.concat [%x, %x], dim = 1 : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x16xf16>
  // CHECK-NEXT: %4, %5 = pypto.split %3, sections = 2, dim = 1 : (tensor<2x16xf16>) -> (tensor<2x8xf16>, tensor<2x8xf16>)
  %4, %5 = pypto.split %3, sections = 2, dim = 1 : (tensor<2x16xf16>) -> (tensor<2x8xf16>, tensor<2x8xf16>)
  // CHECK-NEXT: %6 = pypto.cast %4, dtype = ui8 : (tensor<2x8xf16>) -> tensor<2x8xui8>
  %6 = pypto.cast %4, dtype = ui8, round = "trunc" : (tensor<2x8xf16>) -> tensor<2x8xui8>
  // CHECK-NEXT: %7 = pypto.full shape = [], value = true : () -> tensor<i1>
  %7 = pypto.full shape = [], value = true : () -> tensor<i1>
  // CHECK-NEXT: %8 = pypto.constant {resource = "sha256-00"} : tensor<4xf32> loc("k.py":3:7)
  %8 = pypto.constant {resource = "sha256-00"} : tensor<4xf32> loc("k.py":3:7)
  func.return
}
