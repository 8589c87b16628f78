// RUN: not pyptoc opt %s | filecheck %s

func.func @main(%x: tensor<4x8xf16>) {
  // CHECK: invalid_text.mlir:5:{{[0-9]+}}: error[IR_SYNTAX]: softmax: dim = 2 is out of range (-2..1)
  %0 = pypto.softmax %x, dim = 2 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return
}
