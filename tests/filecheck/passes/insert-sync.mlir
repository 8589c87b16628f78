// RUN: pyptoc opt %s -p insert-sync | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  // c = a + b with two slots per buffer.
  func.func @elementwise(%a: !tik.ptr<gm>, %b: !tik.ptr<gm>, %c: !tik.ptr<gm>, %trips: index) attributes {pypto.kernel = "vector", tik.stage = "placed"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %x = tik.alloc "x" bytes 1024 slots 2 address 0 : !tik.buffer<ub>
    %y = tik.alloc "y" bytes 1024 slots 2 address 2048 : !tik.buffer<ub>
    %z = tik.alloc "z" bytes 1024 slots 2 address 4096 : !tik.buffer<ub>
    scf.for %i = %zero to %trips step %one {
      %two = arith.constant 2 : index
      %s = arith.remui %i, %two : index
      %xs = tik.slot %x[%s] : !tik.buffer<ub>
      tik.copy_gm_to_ubuf_align.b32 dst = %xs, src = %a, length = 1024
      %ys = tik.slot %y[%s] : !tik.buffer<ub>
      tik.copy_gm_to_ubuf_align.b32 dst = %ys, src = %b, length = 1024
      %zs = tik.slot %z[%s] : !tik.buffer<ub>
      tik.vadd.f32 dst = %zs, src0 = %xs, src1 = %ys, repeat = 4
      tik.copy_ubuf_to_gm_align.b32 dst = %c, src = %zs, length = 1024
    }
    func.return
  }

  // CHECK-LABEL: func.func @elementwise
  // CHECK-SAME:    tik.stage = "ordered"
  // CHECK:         tik.set_flag v -> mte2, 0
  // CHECK-NEXT:    tik.set_flag v -> mte2, 1
  // CHECK-NEXT:    tik.set_flag mte3 -> v, 0
  // CHECK-NEXT:    tik.set_flag mte3 -> v, 1
  // CHECK-NEXT:    scf.for
  // CHECK:           [[S:%.*]] = arith.remui
  // CHECK-NEXT:      tik.slot
  // CHECK-NEXT:      tik.wait_flag v -> mte2, [[S]]
  // CHECK-NEXT:      tik.copy_gm_to_ubuf_align.b32
  // CHECK-NEXT:      tik.slot
  // CHECK-NEXT:      tik.copy_gm_to_ubuf_align.b32
  // CHECK-NEXT:      tik.set_flag mte2 -> v, [[S]]
  // CHECK-NEXT:      tik.slot
  // CHECK-NEXT:      tik.wait_flag mte2 -> v, [[S]]
  // CHECK-NEXT:      tik.wait_flag mte3 -> v, [[S]]
  // CHECK-NEXT:      tik.vadd.f32
  // CHECK-NEXT:      tik.set_flag v -> mte2, [[S]]
  // CHECK-NEXT:      tik.set_flag v -> mte3, [[S]]
  // CHECK-NEXT:      tik.wait_flag v -> mte3, [[S]]
  // CHECK-NEXT:      tik.copy_ubuf_to_gm_align.b32
  // CHECK-NEXT:      tik.set_flag mte3 -> v, [[S]]
  // CHECK-NEXT:    }
  // CHECK-NEXT:    tik.wait_flag v -> mte2, 0
  // CHECK-NEXT:    tik.wait_flag v -> mte2, 1
  // CHECK-NEXT:    tik.wait_flag mte3 -> v, 0
  // CHECK-NEXT:    tik.wait_flag mte3 -> v, 1
  // CHECK-NEXT:    tik.barrier all
  // CHECK-NEXT:    func.return

  // Output tiles of a matmul: K steps with two slots in L1 and L0, one tile of L0C.
  func.func @matmul(%a: !tik.ptr<gm>, %b: !tik.ptr<gm>, %c: !tik.ptr<gm>, %tiles: index, %steps: index) attributes {pypto.kernel = "cube", tik.stage = "placed"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %l1a = tik.alloc "l1a" bytes 16384 slots 2 address 0 : !tik.buffer<l1>
    %l1b = tik.alloc "l1b" bytes 32768 slots 2 address 32768 : !tik.buffer<l1>
    %l0a = tik.alloc "l0a" bytes 16384 slots 2 address 0 : !tik.buffer<l0a>
    %l0b = tik.alloc "l0b" bytes 32768 slots 2 address 0 : !tik.buffer<l0b>
    %l0c = tik.alloc "l0c" bytes 131072 address 0 : !tik.buffer<l0c>
    scf.for %tile = %zero to %tiles step %one {
      %cs = tik.slot %l0c[%zero] : !tik.buffer<l0c>
      scf.for %k = %zero to %steps step %one {
        %s = arith.remui %k, %two : index
        %as = tik.slot %l1a[%s] : !tik.buffer<l1>
        tik.copy_gm_to_cbuf_multi_nd2nz.b16 dst = %as, src = %a, rows = 128, columns = 64, src_row_stride = 64, dst_column_stride = 128
        %bs = tik.slot %l1b[%s] : !tik.buffer<l1>
        tik.copy_gm_to_cbuf_multi_nd2nz.b16 dst = %bs, src = %b, rows = 64, columns = 256, src_row_stride = 256, dst_column_stride = 64
        %fa = tik.slot %l0a[%s] : !tik.buffer<l0a>
        tik.load_cbuf_to_ca.b16 dst = %fa, src = %as, repeat = 32
        %fb = tik.slot %l0b[%s] : !tik.buffer<l0b>
        tik.load_cbuf_to_cb.b16 dst = %fb, src = %bs, repeat = 64, transpose = 1
        %init = tik.compare seq %k, %zero
        tik.mad.f16 c = %cs, a = %fa, b = %fb, m = 128, k = 64, n = 256, c_init = %init
      }
      tik.copy_matrix_cc_to_gm.f32f16 dst = %c, src = %cs, n = 256, m = 128, dst_stride = 256, src_stride = 128
    }
    func.return
  }

  // CHECK-LABEL: func.func @matmul
  // CHECK:         tik.set_flag m -> mte1, 0
  // CHECK:         scf.for
  // CHECK-NEXT:      tik.slot
  // CHECK-NEXT:      tik.wait_flag fix -> m, 0
  // CHECK-NEXT:      scf.for
  // CHECK:             [[S:%.*]] = arith.remui
  // CHECK-NEXT:        arith.constant 2
  // CHECK-NEXT:        [[T:%.*]] = arith.addi [[S]]
  // CHECK:             tik.wait_flag mte1 -> mte2, [[S]]
  // CHECK-NEXT:        tik.copy_gm_to_cbuf_multi_nd2nz.b16
  // CHECK-NEXT:        tik.set_flag mte2 -> mte1, [[S]]
  // CHECK-NEXT:        tik.slot
  // CHECK-NEXT:        tik.wait_flag mte1 -> mte2, [[U:%.*]]
  // CHECK-NEXT:        tik.copy_gm_to_cbuf_multi_nd2nz.b16
  // CHECK-NEXT:        tik.set_flag mte2 -> mte1, [[V:%.*]]
  // CHECK-NEXT:        tik.slot
  // CHECK-NEXT:        tik.wait_flag mte2 -> mte1, [[S]]
  // CHECK-NEXT:        tik.wait_flag m -> mte1, [[S]]
  // CHECK-NEXT:        tik.load_cbuf_to_ca.b16
  // CHECK-NEXT:        tik.set_flag mte1 -> mte2, [[S]]
  // CHECK-NEXT:        tik.slot
  // CHECK-NEXT:        tik.wait_flag mte2 -> mte1, [[V]]
  // CHECK-NEXT:        tik.load_cbuf_to_cb.b16
  // CHECK-NEXT:        tik.set_flag mte1 -> mte2, [[U]]
  // CHECK-NEXT:        tik.set_flag mte1 -> m, [[S]]
  // CHECK-NEXT:        tik.compare
  // CHECK-NEXT:        tik.wait_flag mte1 -> m, [[S]]
  // CHECK-NEXT:        tik.mad.f16
  // CHECK-NEXT:        tik.set_flag m -> mte1, [[S]]
  // CHECK-NEXT:      }
  // CHECK-NEXT:      tik.set_flag m -> fix, 0
  // CHECK-NEXT:      tik.wait_flag m -> fix, 0
  // CHECK-NEXT:      tik.copy_matrix_cc_to_gm.f32f16
  // CHECK-NEXT:      tik.set_flag fix -> m, 0
  // CHECK-NEXT:    }
  // CHECK-NEXT:    tik.wait_flag
  // CHECK:         tik.barrier all

  // A tile of 32 x n: the cube orders the accumulation only when n is large.
  func.func @small_tiles(%n: index, %steps: index) attributes {pypto.kernel = "cube", tik.stage = "placed"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %l0a = tik.alloc "l0a" bytes 16384 address 0 : !tik.buffer<l0a>
    %l0b = tik.alloc "l0b" bytes 32768 address 0 : !tik.buffer<l0b>
    %l0c = tik.alloc "l0c" bytes 131072 address 0 : !tik.buffer<l0c>
    %as = tik.slot %l0a[%zero] : !tik.buffer<l0a>
    %bs = tik.slot %l0b[%zero] : !tik.buffer<l0b>
    %cs = tik.slot %l0c[%zero] : !tik.buffer<l0c>
    scf.for %k = %zero to %steps step %one {
      tik.mad.f16 c = %cs, a = %as, b = %bs, m = 32, k = 16, n = %n
    }
    func.return
  }

  // CHECK-LABEL: func.func @small_tiles
  // CHECK:         scf.for
  // CHECK:           arith.divui %{{.*}}
  // CHECK:           [[SMALL:%.*]] = arith.cmpi slt
  // CHECK-NEXT:      scf.if [[SMALL]] {
  // CHECK-NEXT:        tik.barrier m
  // CHECK-NEXT:      }
  // CHECK-NEXT:      tik.mad.f16
}
