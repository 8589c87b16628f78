// RUN: not pyptoc opt %s -p legalize | filecheck %s

// CHECK: legalize-invalid.mlir:7:3: error[UNSUPPORTED_CAST]: a cast from i64 to i32 would saturate on this machine, not wrap
// CHECK: note: in pass 'legalize'
// CHECK: fix: convert the input on the host, e.g. .astype(np.int32)
func.func @main(%x: tensor<4xi64>) -> tensor<4xi32> {
  %0 = pypto.cast %x, dtype = i32 : (tensor<4xi64>) -> tensor<4xi32>
  func.return %0 : tensor<4xi32>
}
