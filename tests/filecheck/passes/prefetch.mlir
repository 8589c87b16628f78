// RUN: pyptoc opt %s -p insert-sync,prefetch | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @k(%a: !tik.ptr<gm>, %c: !tik.ptr<gm>, %trips: index) attributes {pypto.kernel = "vector", tik.stage = "placed"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %x = tik.alloc "x" bytes 256 slots 2 address 0 : !tik.buffer<ub>
    scf.for %i = %zero to %trips step %one {
      %turn = arith.remui %i, %two : index
      %p = tik.slot %x[%turn] : !tik.buffer<ub>
      tik.copy_gm_to_ubuf_align.b32 dst = %p, src = %a, length = 256
      tik.copy_ubuf_to_gm_align.b32 dst = %c, src = %p, length = 256
    }
    func.return
  }
}

// The first load stands before the loop, the next one at the head of each turn.
// CHECK:      arith.cmpi slt, %zero, %trips
// CHECK-NEXT: scf.if
// CHECK:        tik.wait_flag mte3 -> mte2
// CHECK-NEXT:   tik.copy_gm_to_ubuf_align.b32
// CHECK-NEXT:   tik.set_flag mte2 -> mte3
// CHECK:      scf.for
// CHECK-NEXT:   arith.addi
// CHECK-NEXT:   arith.cmpi slt
// CHECK-NEXT:   scf.if
// CHECK:          tik.wait_flag mte3 -> mte2
// CHECK-NEXT:     tik.copy_gm_to_ubuf_align.b32
// CHECK-NEXT:     tik.set_flag mte2 -> mte3
// CHECK-NOT:    tik.copy_gm_to_ubuf_align
// CHECK:        tik.wait_flag mte2 -> mte3
// CHECK:        tik.copy_ubuf_to_gm_align.b32
