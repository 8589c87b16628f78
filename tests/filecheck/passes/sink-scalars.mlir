// RUN: pyptoc opt %s -p sink-scalars | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @k(%x: !tik.ptr<gm>, %n: index) attributes {pypto.kernel = "vector", tik.stage = "virtual"} {
    %a = tik.alloc "a" bytes 256 slots 1 : !tik.buffer<ub>
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %late = arith.muli %n, %n : index
    %inner = arith.addi %n, %1 : index
    scf.for %i = %0 to %n step %1 {
      %p = tik.slot %a[%0] : !tik.buffer<ub>
      tik.vector_dup.f32 dst = %p, scalar = 0.0, repeat = %inner
    }
    %q = tik.slot %a[%0] : !tik.buffer<ub>
    tik.vector_dup.f32 dst = %q, scalar = 0.0, repeat = %late
    func.return
  }
}

// What only the last instruction needs is computed behind the loop; what the loop needs, before it.
// CHECK: arith.addi
// CHECK-NOT: arith.muli
// CHECK: scf.for
// CHECK: arith.muli
// CHECK-NEXT: tik.vector_dup.f32
