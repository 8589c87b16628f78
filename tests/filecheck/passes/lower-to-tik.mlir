// RUN: pyptoc opt %s -p lower-to-tik | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  // x * 2 + y on rows of up to 300 elements: one instruction per operator, counted by elements.
  func.func @elementwise(%x: !tile.global<f32>, %y: !tile.global<f32>, %z: !tile.global<f32>, %n: index) attributes {pypto.kernel = "vector", tile.granule = 8 : i64, tile.schedule = {slots = 2 : i64}} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 300 : index
    scf.for %i = %zero to %n step %one {
      %place = arith.muli %i, %size : index
      %a = tile.load %x[%place] stride %zero valid(%one, %size) slots 2 : !tile.global<f32> -> !tile.tile<1x300xf32, ub>
      %twice = tile.apply mul %a, 2.0 : !tile.tile<1x300xf32, ub> -> !tile.tile<1x300xf32, ub>
      %b = tile.load %y[%place] stride %zero valid(%one, %size) slots 2 : !tile.global<f32> -> !tile.tile<1x300xf32, ub>
      %sum = tile.apply add %twice, %b : !tile.tile<1x300xf32, ub>, !tile.tile<1x300xf32, ub> -> !tile.tile<1x300xf32, ub>
      tile.store %sum, %z[%place] stride %zero : !tile.tile<1x300xf32, ub>, !tile.global<f32>
    }
    func.return
  }

  // CHECK-LABEL: func.func @elementwise(%x: !tik.ptr<gm>, %y: !tik.ptr<gm>, %z: !tik.ptr<gm>, %n: index)
  // CHECK-SAME:    tik.stage = "virtual"
  // CHECK-NEXT:    [[X:%.*]] = tik.alloc "load0" bytes 1280 slots 2 : !tik.buffer<ub>
  // CHECK-NEXT:    [[Y:%.*]] = tik.alloc "load1" bytes 1280 slots 2 : !tik.buffer<ub>
  // CHECK-NEXT:    [[T:%.*]] = tik.alloc "apply0" bytes 1280 : !tik.buffer<ub>
  // CHECK-NEXT:    [[Z:%.*]] = tik.alloc "apply1" bytes 1280 slots 2 : !tik.buffer<ub>
  // CHECK:         scf.for [[I:%.*]] =
  // CHECK:           [[TURN:%.*]] = arith.remui [[I]]
  // Loads come first, and a row is filled up to the pitch of 304 elements.
  // CHECK:           [[XS:%.*]] = tik.slot [[X]][[[TURN]]]
  // CHECK:           tik.copy_gm_to_ubuf_align.b32 dst = [[XS]], src = %{{.*}}, length = 1200, right = 4
  // CHECK:           [[YS:%.*]] = tik.slot [[Y]][[[TURN]]]
  // CHECK:           tik.copy_gm_to_ubuf_align.b32 dst = [[YS]], src = %{{.*}}, length = 1200, right = 4
  // CHECK:           [[TS:%.*]] = tik.slot [[T]]
  // CHECK-NEXT:      tik.vmuls.f32 dst = [[TS]], src = [[XS]], scalar = 2.0, mask_mode = 1, mask_high = 0, mask_low = 304
  // CHECK-NEXT:      [[ZS:%.*]] = tik.slot [[Z]][[[TURN]]]
  // CHECK-NEXT:      tik.vadd.f32 dst = [[ZS]], src0 = [[TS]], src1 = [[YS]], mask_mode = 1, mask_high = 0, mask_low = 304
  // CHECK:           tik.copy_ubuf_to_gm_align.b32 dst = %{{.*}}, src = [[ZS]], length = 1200

  // A carried maximum stays in one buffer; a row of a 3 x 20 tile takes 32 f16 lanes.
  func.func @reduce(%x: !tile.global<f16>, %z: !tile.global<f16>, %n: index) attributes {pypto.kernel = "vector", tile.granule = 16 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %rows = arith.constant 3 : index
    %columns = arith.constant 20 : index
    %start = tile.full -inf valid(%rows, %one) : !tile.tile<3x1xf16, ub>
    %last = scf.for %i = %zero to %n step %one iter_args(%total = %start) -> (!tile.tile<3x1xf16, ub>) {
      %a = tile.load %x[%i] stride %columns valid(%rows, %columns) : !tile.global<f16> -> !tile.tile<3x20xf16, ub>
      %part = tile.reduce max %a axis 1 : !tile.tile<3x20xf16, ub> -> !tile.tile<3x1xf16, ub>
      %next = tile.apply max %total, %part : !tile.tile<3x1xf16, ub>, !tile.tile<3x1xf16, ub> -> !tile.tile<3x1xf16, ub>
      scf.yield %next : !tile.tile<3x1xf16, ub>
    }
    tile.store %last, %z[%zero] stride %one : !tile.tile<3x1xf16, ub>, !tile.global<f16>
    func.return
  }

  // CHECK-LABEL: func.func @reduce
  // CHECK:         [[TOTAL:%.*]] = tik.slot
  // CHECK-NEXT:    tik.vector_dup.f16 dst = [[TOTAL]], scalar = -inf, mask_mode = 1, mask_high = 0, mask_low = 3
  // CHECK:         scf.for
  // CHECK:           tik.copy_gm_to_ubuf_align.b16 dst = [[A:%.*]], src = %{{.*}}, bursts = 3, length = 40, right = 12
  // CHECK:           tik.vcmax.f16 dst = [[PART:%.*]], src = [[A]], repeat = 3, src_repeat = 2, mask_high = 0, mask_low = 1048575
  // CHECK:           tik.vmax.f16 dst = [[TOTAL]], src0 = [[TOTAL]], src1 = [[PART]], mask_mode = 1, mask_high = 0, mask_low = 3
  // CHECK:         tik.copy_ubuf_to_gm_align.b16 dst = %{{.*}}, src = [[TOTAL]], length = 6

  // One step of a product: 32 x 64 by 64 x 48, f16, B transposed fractal by fractal.
  func.func @matmul(%a: !tile.global<f16>, %b: !tile.global<f16>, %c: !tile.global<f16>) attributes {pypto.kernel = "cube"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %m = arith.constant 32 : index
    %k = arith.constant 64 : index
    %n = arith.constant 48 : index
    %l1a = tile.load %a[%zero] stride %k valid(%m, %k) : !tile.global<f16> -> !tile.tile<32x64xf16, l1>
    %l1b = tile.load %b[%zero] stride %n valid(%k, %n) : !tile.global<f16> -> !tile.tile<64x48xf16, l1>
    %l0a = tile.extract %l1a[%zero, %zero] valid(%m, %k) : !tile.tile<32x64xf16, l1> -> !tile.tile<32x64xf16, l0a>
    %l0b = tile.extract %l1b[%zero, %zero] valid(%k, %n) : !tile.tile<64x48xf16, l1> -> !tile.tile<64x48xf16, l0b>
    %l0c = tile.accumulator valid(%m, %n) : !tile.tile<32x48xf32, l0c>
    %sum = tile.mma %l0c, %l0a, %l0b init %one : !tile.tile<32x48xf32, l0c>, !tile.tile<32x64xf16, l0a>, !tile.tile<64x48xf16, l0b> -> !tile.tile<32x48xf32, l0c>
    tile.store %sum, %c[%zero] stride %n relu : !tile.tile<32x48xf32, l0c>, !tile.global<f16>
    func.return
  }

  // CHECK-LABEL: func.func @matmul
  // CHECK:         tik.copy_gm_to_cbuf_multi_nd2nz.b16 dst = [[L1A:%.*]], src = %a, rows = 32, columns = 64, src_row_stride = 64, dst_column_stride = 32
  // CHECK:         tik.copy_gm_to_cbuf_multi_nd2nz.b16 dst = [[L1B:%.*]], src = %b, rows = 64, columns = 48, src_row_stride = 48, dst_column_stride = 64
  // CHECK:         scf.for
  // CHECK:           tik.load_cbuf_to_ca.b16 {{.*}}repeat = 4, src_stride = 2
  // CHECK:         } {tik.disjoint}
  // CHECK:         scf.for
  // CHECK:           tik.load_cbuf_to_cb.b16 {{.*}}repeat = 4, dst_gap = 2, transpose = 1
  // CHECK:         } {tik.disjoint}
  // CHECK:         tik.mad.f16 {{.*}}m = 32, k = 64, n = 48, c_init = 1
  // CHECK:         tik.copy_matrix_cc_to_gm.f32f16 dst = %c, {{.*}}n = 48, m = 32, dst_stride = 48, src_stride = 32, relu = 1
}
