// RUN: pyptoc opt %s -p lower-to-tik | filecheck %s

builtin.module attributes {pypto.soc = "ascend910a"} {
  // Rows a whole number of blocks apart come column by column, others row by row, a lone row of
  // A at once; fractals lie side by side in L0.
  func.func @matmul(%a: !tile.global<f16>, %b: !tile.global<f16>, %y: !tile.global<f16>) attributes {pypto.kernel = "aicore", tile.granule = 16 : i64, tile.schedule = {slots = 1 : i64}} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %depth = arith.constant 32 : index
    %width = arith.constant 40 : index
    %row = arith.constant 64 : index
    %odd = arith.constant 200 : index
    %pa = tile.load %a[%zero] stride %depth valid(%one, %depth) : !tile.global<f16> -> !tile.tile<16x32xf16, l1>
    %pb = tile.load %b[%zero] stride %row valid(%depth, %width) : !tile.global<f16> -> !tile.tile<32x48xf16, l1>
    %pc = tile.load %b[%zero] stride %width valid(%depth, %width) : !tile.global<f16> -> !tile.tile<32x48xf16, l1>
    %fa = tile.extract %pa[%zero, %zero] valid(%one, %depth) : !tile.tile<16x32xf16, l1> -> !tile.tile<16x32xf16, l0a>
    %fb = tile.extract %pb[%zero, %zero] valid(%depth, %width) : !tile.tile<32x48xf16, l1> -> !tile.tile<32x48xf16, l0b>
    %start = tile.accumulator valid(%one, %width) : !tile.tile<16x48xf32, l0c>
    %total = tile.mma %start, %fa, %fb init %one : !tile.tile<16x48xf32, l0c>, !tile.tile<16x32xf16, l0a>, !tile.tile<32x48xf16, l0b> -> !tile.tile<16x48xf32, l0c>
    %held = tile.drain %total relu : !tile.tile<16x48xf32, l0c> -> !tile.tile<16x48xf16, ub>
    tile.store %held, %y[%zero] stride %width : !tile.tile<16x48xf16, ub>, !tile.global<f16>
    func.return
  }
}

// CHECK-LABEL: func.func @matmul
// CHECK:      [[F:%.*]] = tik.alloc "fractals0" bytes 1536 : !tik.buffer<ub>
// CHECK:      tik.copy_gm_to_cbuf.b32 dst = %{{.*}}, src = %a, length = 2
// CHECK:      scf.for
// CHECK:        tik.copy_gm_to_cbuf.b32 dst = %{{.*}}, src = %{{.*}}, bursts = 32, length = 1, src_gap = 3
// CHECK:      scf.for
// CHECK:        tik.copy_gm_to_cbuf.b32 dst = %{{.*}}, src = %{{.*}}, bursts = 3, length = 1, dst_gap = 31
// CHECK:      tik.load_cbuf_to_ca.b16 dst = %{{.*}}, src = %{{.*}}, repeat = 1
// CHECK:      scf.for
// CHECK:        tik.load_cbuf_to_cb.b16 dst = %{{.*}}, src = %{{.*}}, repeat = 3, src_stride = 2, transpose = 1
// CHECK:      tik.mad.f16 {{.*}} m = 1, k = 32, n = 40, c_init = 1
// CHECK:      [[S:%.*]] = tik.slot [[F]]
// CHECK-NEXT: tik.copy_matrix_cc_to_ubuf.f32f16 dst = [[S]], src = %{{.*}}, length = 3, relu = 1
// The last eight columns were never computed: zeros stand there when whole blocks are stored.
// CHECK:      tik.vector_dup.u16 dst = %{{.*}}, scalar = 0, repeat = 2, mask_high = -71777214294589696, mask_low = -71777214294589696
// CHECK:      tik.copy_ubuf_to_ubuf.b32 dst = %{{.*}}, src = [[S]], bursts = 3, length = 1, src_gap = 15
// CHECK-NEXT: tik.copy_ubuf_to_gm.b32 dst = %y, src = %{{.*}}, length = 3
