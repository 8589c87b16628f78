// RUN: pyptoc compile %s --emit asm | filecheck %s

// Branches with results, a carried value that two turns swap, and mode registers at joins.
builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @k(%n: index, %m: index) attributes {pypto.kernel = "vector", tik.stage = "ordered"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %a = tik.alloc "a" bytes 512 address 0 : !tik.buffer<ub>
    %p = tik.slot %a[%c0] : !tik.buffer<ub>
    %is_less = arith.cmpi slt, %n, %m : index
    %larger = scf.if %is_less -> (index) {
      tik.vector_dup.f16 dst = %p, scalar = 0.0, mask_mode = 1, mask_low = 8
      scf.yield %m : index
    } else {
      tik.vector_dup.f16 dst = %p, scalar = 1.0, mask_mode = 1, mask_low = 9
      scf.yield %n : index
    }
    tik.vector_dup.f16 dst = %p, scalar = 2.0, mask_mode = 1, mask_low = 8
    %u, %v = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %larger, %t = %c1) -> (index, index) {
      scf.yield %t, %s : index, index
    }
    tik.vector_dup.f16 dst = %p, scalar = 3.0, repeat = %u, mask_low = %v
    %is_more = arith.cmpi sgt, %n, %c3 : index
    scf.if %is_more {
      tik.barrier v
    }
    tik.barrier all
    func.return
  }
}

// CHECK: ldp r2, argument0
// CHECK-NEXT: ldp r3, argument1
// The first branch leaves when n < m does not hold.
// CHECK: bge r2, r3, L0
// CHECK: set_mask_count
// CHECK-NEXT: set_vector_mask -1, 8
// CHECK-NEXT: vector_dup.f16 dst=0x0, scalar=0.0
// CHECK: mov [[LARGER:r[0-9]+]], r3
// CHECK-NEXT: jmp L1
// CHECK: set_mask_count
// CHECK-NEXT: set_vector_mask -1, 9
// CHECK: mov [[LARGER]], r2
// CHECK-NEXT: L1:
// Both arms end in count mode, with different masks.
// CHECK-NOT: set_mask_count
// CHECK: set_vector_mask -1, 8
// CHECK-NEXT: vector_dup.f16 dst=0x0, scalar=2.0
// A loop that is known to run begins without a test; the swap needs a third register.
// CHECK: mov [[I:r[0-9]+]], 0
// CHECK: mov [[S:r[0-9]+]], [[LARGER]]
// CHECK: mov [[T:r[0-9]+]], 1
// CHECK-NOT: bge
// CHECK: mov [[SPARE:r[0-9]+]], [[S]]
// CHECK-NEXT: mov [[S]], [[T]]
// CHECK-NEXT: mov [[T]], [[SPARE]]
// CHECK: add [[I]], [[I]], 1
// CHECK-NEXT: blt [[I]], 3, L2
// CHECK: set_mask_norm
// CHECK-NEXT: set_vector_mask -1, [[T]]
// CHECK-NEXT: vector_dup.f16 dst=0x0, scalar=3.0, repeat=[[S]]
// CHECK: bge 3, r2, L3
// CHECK-NEXT: .loc
// CHECK-NEXT: pipe_barrier v
// CHECK-NEXT: L3:
