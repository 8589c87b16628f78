// RUN: pyptoc opt %s -p outline,tile-kernels | filecheck %s

// Where transfers take whole blocks, a column is the row it is in memory: A b is the transpose of
// the row b times A transposed, and its result is one row.
builtin.module attributes {pypto.soc = "ascend910a"} {
  func.func @main(%a: tensor<48x64xf16>, %b: tensor<64x1xf16>) -> tensor<48x1xf16> {
    %0 = pypto.matmul %a, %b : (tensor<48x64xf16>, tensor<64x1xf16>) -> tensor<48x1xf16>
    func.return %0 : tensor<48x1xf16>
  }
}

// CHECK-LABEL: func.func @matmul_f16_0(%a: !tile.global<f16>, %b: !tile.global<f16>, %0: !tile.global<f16>)
// CHECK-SAME: grid = 3 : i64}
// CHECK: [[K:%.*]] = arith.constant 64 : index
// CHECK-NEXT: [[ROW:%.*]] = tile.load %b[%{{.*}}] stride [[K]] valid(%{{.*}}, %{{.*}}) slots 2 : !tile.global<f16> -> !tile.tile<16x16xf16, l1>
// CHECK: [[TURNED:%.*]] = tile.load %a[%{{.*}}] stride [[K]] valid(%{{.*}}, %{{.*}}) slots 2
// CHECK: tile.extract [[ROW]][%{{.*}}, %{{.*}}] valid(%{{.*}}, %{{.*}}) slots 2 : !tile.tile<16x16xf16, l1> -> !tile.tile<16x16xf16, l0a>
// CHECK-NEXT: tile.extract [[TURNED]][%{{.*}}, %{{.*}}] valid(%{{.*}}, %{{.*}}) transpose slots 2 : !tile.tile<16x16xf16, l1> -> !tile.tile<16x16xf16, l0b>
// CHECK: [[WIDTH:%.*]] = arith.constant 48 : index
// CHECK-NEXT: tile.store %{{.*}}, %0[%{{.*}}] stride [[WIDTH]] : !tile.tile<16x16xf16, ub>, !tile.global<f16>
