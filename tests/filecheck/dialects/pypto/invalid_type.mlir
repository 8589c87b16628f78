// RUN: not pyptoc opt %s | filecheck %s

func.func @main(%x: tensor<4x8xf16>, %y: tensor<7xf16>) {
  // CHECK: layer_norm: mul: shapes (4, 8) and (7,) do not broadcast: axis -1 is 8 and 7
  %0 = pypto.layer_norm %x, %y, _ : (tensor<4x8xf16>, tensor<7xf16>) -> tensor<4x8xf16>
  func.return
}
