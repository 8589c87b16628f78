// RUN: pyptoc opt %s -p insert-sync | filecheck %s

builtin.module attributes {pypto.soc = "ascend910a"} {
  // The inner loop reads what it stores and may run once: nothing of it counts outside, where a
  // flag back keeps the sets of each flag apart.
  func.func @store_back(%c: !tik.ptr<gm>, %trips: index) attributes {pypto.kernel = "aicore", tik.stage = "placed"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %b = tik.alloc "b" bytes 1024 address 0 : !tik.buffer<ub>
    scf.for %i = %zero to %trips step %one {
      scf.for %j = %zero to %trips step %one {
        %x = tik.slot %b[%zero] : !tik.buffer<ub>
        tik.copy_gm_to_ubuf.b32 dst = %x, src = %c, length = 32
        tik.copy_ubuf_to_gm.b32 dst = %c, src = %x, length = 32
      }
    }
    func.return
  }

  // CHECK-LABEL: func.func @store_back
  // CHECK-NOT:     sync.
  // CHECK:         tik.set_flag mte2 -> mte3, 1
  // CHECK-NEXT:    tik.set_flag mte3 -> mte2, 0
  // CHECK-NEXT:    tik.set_flag mte3 -> mte2, 2
  // CHECK-NEXT:    scf.for
  // CHECK-NEXT:      tik.wait_flag mte3 -> mte2, 0
  // CHECK-NEXT:      tik.set_flag mte2 -> mte3, 0
  // CHECK-NEXT:      tik.barrier mte3
  // CHECK-NEXT:      tik.wait_flag mte2 -> mte3, 1
  // CHECK-NEXT:      tik.set_flag mte3 -> mte2, 1
  // CHECK-NEXT:      scf.for
  // CHECK:             tik.wait_flag mte3 -> mte2, 2
  // CHECK-NEXT:        tik.copy_gm_to_ubuf.b32
  // CHECK-NEXT:        tik.set_flag mte2 -> mte3, 2
  // CHECK-NEXT:        tik.wait_flag mte2 -> mte3, 2
  // CHECK-NEXT:        tik.copy_ubuf_to_gm.b32
  // CHECK-NEXT:        tik.set_flag mte3 -> mte2, 2
  // CHECK-NEXT:      }
  // CHECK-NEXT:      tik.wait_flag mte3 -> mte2, 1
  // CHECK-NEXT:      tik.set_flag mte2 -> mte3, 1
  // CHECK-NEXT:      tik.wait_flag mte2 -> mte3, 0
  // CHECK-NEXT:      tik.set_flag mte3 -> mte2, 0
  // CHECK-NEXT:    }
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 2
  // CHECK-NEXT:    tik.wait_flag mte2 -> mte3, 1
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 0
  // CHECK-NEXT:    tik.barrier all

  // Loops one behind the other want more events of a pair than there are: the two pipes wait for
  // each other in between, and every loop has the same events, two for two slots.
  func.func @loops(%a: !tik.ptr<gm>, %c: !tik.ptr<gm>, %trips: index) attributes {pypto.kernel = "aicore", tik.stage = "placed"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %b = tik.alloc "b" bytes 1024 slots 2 address 0 : !tik.buffer<ub>
    scf.for %i0 = %zero to %trips step %one {
      %two0 = arith.constant 2 : index
      %t0 = arith.remui %i0, %two0 : index
      %x0 = tik.slot %b[%t0] : !tik.buffer<ub>
      tik.copy_gm_to_ubuf.b32 dst = %x0, src = %a, length = 32
      tik.copy_ubuf_to_gm.b32 dst = %c, src = %x0, length = 32
    }
    scf.for %i1 = %zero to %trips step %one {
      %two1 = arith.constant 2 : index
      %t1 = arith.remui %i1, %two1 : index
      %x1 = tik.slot %b[%t1] : !tik.buffer<ub>
      tik.copy_gm_to_ubuf.b32 dst = %x1, src = %a, length = 32
      tik.copy_ubuf_to_gm.b32 dst = %c, src = %x1, length = 32
    }
    scf.for %i2 = %zero to %trips step %one {
      %two2 = arith.constant 2 : index
      %t2 = arith.remui %i2, %two2 : index
      %x2 = tik.slot %b[%t2] : !tik.buffer<ub>
      tik.copy_gm_to_ubuf.b32 dst = %x2, src = %a, length = 32
      tik.copy_ubuf_to_gm.b32 dst = %c, src = %x2, length = 32
    }
    func.return
  }

  // CHECK-LABEL: func.func @loops
  // CHECK-SAME:    sync.joins = 2
  // CHECK:         tik.set_flag mte3 -> mte2, 1
  // CHECK-NEXT:    tik.set_flag mte3 -> mte2, 2
  // CHECK-NEXT:    scf.for
  // CHECK:         }
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 1
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 2
  // CHECK-NEXT:    tik.set_flag mte2 -> mte3, 0
  // CHECK-NEXT:    tik.wait_flag mte2 -> mte3, 0
  // CHECK-NEXT:    tik.set_flag mte3 -> mte2, 0
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 0
  // CHECK:         tik.set_flag mte3 -> mte2, 1
  // CHECK-NEXT:    tik.set_flag mte3 -> mte2, 2
  // CHECK-NEXT:    scf.for
  // CHECK:         }
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 1
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 2
  // CHECK-NEXT:    tik.set_flag mte2 -> mte3, 0
  // CHECK-NEXT:    tik.wait_flag mte2 -> mte3, 0
  // CHECK-NEXT:    tik.set_flag mte3 -> mte2, 0
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 0
  // CHECK:         tik.set_flag mte3 -> mte2, 1
  // CHECK-NEXT:    tik.set_flag mte3 -> mte2, 2
  // CHECK-NEXT:    scf.for
  // CHECK:         }
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 1
  // CHECK-NEXT:    tik.wait_flag mte3 -> mte2, 2
  // CHECK-NEXT:    tik.barrier all
}
