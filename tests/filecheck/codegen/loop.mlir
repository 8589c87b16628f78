// RUN: pyptoc compile %s --emit asm | filecheck %s

// A loop over tiles of 64 elements: parameters are loaded where they are first needed, numbers are
// immediates, a mode register is set before the loop when the whole loop agrees on it.
builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @double(%x: !tik.ptr<gm> {pypto.name = "x"}, %y: !tik.ptr<gm> {pypto.name = "y"}, %n: index {pypto.name = "n"}) attributes {pypto.kernel = "vector", tik.stage = "ordered"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %b = tik.alloc "b" bytes 128 slots 2 address 256 : !tik.buffer<ub>
    %tiles = arith.divui %n, %c64 : index loc("k.py":2:1)
    scf.for %i = %c0 to %tiles step %c1 {
      %slot = arith.remui %i, %c2 : index loc("k.py":3:1)
      %p = tik.slot %b[%slot] : !tik.buffer<ub> loc("k.py":3:1)
      %start = arith.muli %i, %c64 : index loc("k.py":3:1)
      %left = arith.subi %n, %start : index loc("k.py":3:1)
      %count = arith.minsi %left, %c64 : index loc("k.py":3:1)
      %bytes = arith.muli %count, %c2 : index loc("k.py":3:1)
      %px = tik.offset %x, %start : !tik.ptr<gm> loc("k.py":3:1)
      tik.copy_gm_to_ubuf_align.b16 dst = %p, src = %px, length = %bytes loc("k.py":4:1)
      tik.set_flag mte2 -> v, %slot loc("k.py":4:1)
      tik.wait_flag mte2 -> v, %slot loc("k.py":4:1)
      tik.vmuls.f16 dst = %p, src = %p, scalar = 2.0, mask_mode = 1, mask_low = %count loc("k.py":5:1)
      tik.vmuls.f16 dst = %p, src = %p, scalar = 3.0, mask_mode = 1, mask_low = %count loc("k.py":5:1)
      tik.copy_ubuf_to_gm_align.b16 dst = %y, src = %p, length = %bytes loc("k.py":6:1)
    } loc("k.py":2:1)
    tik.barrier all loc("k.py":7:1)
    func.return loc("k.py":7:1)
  }
  func.func @main(%x: !host.buffer<?xf16> {pypto.name = "x"}) -> !host.buffer<?xf16> {
    %n = host.dim %x axis 0 : !host.buffer<?xf16>
    %y = host.alloc result "y"(%n) : !host.buffer<?xf16>
    host.launch @double(%x, %y, %n) grid 2 core vector : !host.buffer<?xf16>, !host.buffer<?xf16>, index
    host.return %y : !host.buffer<?xf16>
  }
}

// CHECK: .buffer x input f16 [dim(0, 0)]
// CHECK-NEXT: .buffer y result f16 [dim(0, 0)]
// CHECK: .parameter x buffer f16
// CHECK-NEXT: .parameter y buffer f16 writes
// CHECK-NEXT: .parameter n scalar
// CHECK-NEXT: .local b ub address=0x100 bytes=256 slots=2
// CHECK-NEXT: .loc "k.py:2:1"
// CHECK-NEXT: ldp r2, n
// CHECK-NEXT: div r3, r2, 64
// CHECK-NEXT: ldp r4, x
// CHECK-NEXT: ldp r5, y
// CHECK-NEXT: set_mask_count
// CHECK-NEXT: set_mov_pad_val 0
// CHECK-NEXT: set_atomic 0
// CHECK-NEXT: mov r6, 0
// CHECK-NEXT: bge r6, r3, L1
// CHECK-NEXT: L0:
// CHECK-NEXT: .loc "k.py:3:1"
// CHECK-NEXT: rem r7, r6, 2
// CHECK-NEXT: mul r8, r7, 128
// CHECK-NEXT: add r8, r8, 256
// CHECK-NEXT: mul r9, r6, 64
// CHECK-NEXT: sub r10, r2, r9
// CHECK-NEXT: min r10, r10, 64
// CHECK-NEXT: mul r11, r10, 2
// CHECK-NEXT: add r9, r4, r9
// CHECK-NEXT: .loc "k.py:4:1"
// CHECK-NEXT: copy_gm_to_ubuf_align.b16 dst=r8, src=r9, length=r11
// CHECK-NEXT: set_flag mte2, v, r7
// CHECK-NEXT: wait_flag mte2, v, r7
// CHECK-NEXT: .loc "k.py:5:1"
// CHECK-NEXT: set_vector_mask -1, r10
// CHECK-NEXT: vmuls.f16 dst=r8, src=r8, scalar=2.0
// CHECK-NEXT: vmuls.f16 dst=r8, src=r8, scalar=3.0
// CHECK-NEXT: .loc "k.py:6:1"
// CHECK-NEXT: copy_ubuf_to_gm_align.b16 dst=r5, src=r8, length=r11
// CHECK-NEXT: .loc "k.py:2:1"
// CHECK-NEXT: add r6, r6, 1
// CHECK-NEXT: blt r6, r3, L0
// CHECK-NEXT: L1:
// CHECK-NEXT: .loc "k.py:7:1"
// CHECK-NEXT: pipe_barrier all
// CHECK-NEXT: end
// CHECK: .launch double grid=2 (x, y, dim(0, 0))
// CHECK: .inputs x
// CHECK: .results y
