// RUN: pyptoc opt %s -p place-buffers | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  // x and y are moved by other pipes; s, t and u belong to the vector pipe alone.
  func.func @kernel(%a: !tik.ptr<gm>, %b: !tik.ptr<gm>, %trips: index) attributes {pypto.kernel = "vector", tik.stage = "virtual"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %x = tik.alloc "x" bytes 1000 slots 2 : !tik.buffer<ub>
    %y = tik.alloc "y" bytes 1024 slots 2 : !tik.buffer<ub>
    %s = tik.alloc "s" bytes 2048 : !tik.buffer<ub>
    %t = tik.alloc "t" bytes 2048 : !tik.buffer<ub>
    %u = tik.alloc "u" bytes 2048 : !tik.buffer<ub>
    scf.for %i = %zero to %trips step %one {
      %turn = arith.remui %i, %two : index
      %xs = tik.slot %x[%turn] : !tik.buffer<ub>
      tik.copy_gm_to_ubuf_align.b32 dst = %xs, src = %a, length = 1000
      %ss = tik.slot %s[%zero] : !tik.buffer<ub>
      tik.vexp.f32 dst = %ss, src = %xs, repeat = 4
      %ts = tik.slot %t[%zero] : !tik.buffer<ub>
      tik.vadd.f32 dst = %ts, src0 = %ss, src1 = %xs, repeat = 4
      %us = tik.slot %u[%zero] : !tik.buffer<ub>
      tik.vexp.f32 dst = %us, src = %ts, repeat = 4
      %ys = tik.slot %y[%turn] : !tik.buffer<ub>
      tik.vadd.f32 dst = %ys, src0 = %us, src1 = %us, repeat = 4
      tik.copy_ubuf_to_gm_align.b32 dst = %b, src = %ys, length = 1000
    }
    func.return
  }
}

// CHECK-LABEL: func.func @kernel
// CHECK-SAME:    tik.stage = "placed"
// In a layer of banks of its own, beside what is alive at once, or where another one was.
// CHECK:         tik.alloc "x" bytes 1024 slots 2 address 186112
// CHECK-NEXT:    tik.alloc "y" bytes 1024 slots 2 address 0
// CHECK-NEXT:    tik.alloc "s" bytes 2048 address 2048
// CHECK-NEXT:    tik.alloc "t" bytes 2048 address 6144
// CHECK-NEXT:    tik.alloc "u" bytes 2048 address 2048
