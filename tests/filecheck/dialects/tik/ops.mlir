// RUN: pyptoc opt %s | pyptoc opt - | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @kernel(%x: !tik.ptr<gm>, %n: index) attributes {pypto.kernel = "vector", tik.stage = "ordered"} {
    %c0 = arith.constant 0 : index
    %a = tik.alloc "a" bytes 4096 slots 2 address 0 : !tik.buffer<ub>
    %m = tik.alloc "mask" bytes 512 slots 1 address 8192 : !tik.buffer<ub>
    %block = tik.block_idx
    %blocks = tik.block_num
    %less = tik.compare slt %block, %blocks
    %p = tik.slot %a[%less] : !tik.buffer<ub>
    %q = tik.offset %p, %n : !tik.ptr<ub>
    %bits = tik.slot %m[%c0] : !tik.buffer<ub>
    tik.copy_gm_to_ubuf_align.b16 dst = %p, src = %x, bursts = 1, length = %n, pad_value = 15360
    tik.set_flag mte2 -> v, %less
    tik.wait_flag mte2 -> v, %less
    tik.vadd.f16 src1 = %q, dst = %p, src0 = %p, repeat = 4, mask_high = -1
    tik.barrier v
    tik.vmuls.f16 dst = %p, src = %p, scalar = 2, mask_mode = 1, mask_low = %n
    tik.vadds.f32 dst = %p, src = %p, scalar = -inf
    tik.vadds.i32 dst = %p, src = %p, scalar = -7
    tik.vsel.f16 dst = %p, src0 = %p, src1 = %q, mask = %bits
    tik.vconv_f322f16r dst = %p, src = %q, dst_repeat = 4
    tik.set_flag v -> mte3, 0
    tik.wait_flag v -> mte3, 0
    tik.copy_ubuf_to_gm_align.b16 dst = %x, src = %p, length = %n, atomic = 1
    tik.barrier all
    func.return
  }
} loc("module.py":1:1)

// CHECK: %a = tik.alloc "a" bytes 4096 slots 2 address 0 : !tik.buffer<ub>
// CHECK-NEXT: %m = tik.alloc "mask" bytes 512 address 8192 : !tik.buffer<ub>
// CHECK-NEXT: %block = tik.block_idx
// CHECK-NEXT: %blocks = tik.block_num
// CHECK-NEXT: %less = tik.compare slt %block, %blocks
// CHECK-NEXT: %p = tik.slot %a[%less] : !tik.buffer<ub>
// CHECK-NEXT: %q = tik.offset %p, %n : !tik.ptr<ub>
// CHECK-NEXT: %bits = tik.slot %m[%c0] : !tik.buffer<ub>
// CHECK-NEXT: tik.copy_gm_to_ubuf_align.b16 dst = %p, src = %x, length = %n, pad_value = 15360
// CHECK-NEXT: tik.set_flag mte2 -> v, %less
// CHECK-NEXT: tik.wait_flag mte2 -> v, %less
// CHECK-NEXT: tik.vadd.f16 dst = %p, src0 = %p, src1 = %q, repeat = 4
// CHECK-NEXT: tik.barrier v
// CHECK-NEXT: tik.vmuls.f16 dst = %p, src = %p, scalar = 2.0, mask_mode = 1, mask_low = %n
// CHECK-NEXT: tik.vadds.f32 dst = %p, src = %p, scalar = -inf
// CHECK-NEXT: tik.vadds.i32 dst = %p, src = %p, scalar = -7
// CHECK-NEXT: tik.vsel.f16 dst = %p, src0 = %p, src1 = %q, mask = %bits
// CHECK-NEXT: tik.vconv_f322f16r dst = %p, src = %q, dst_repeat = 4
// CHECK-NEXT: tik.set_flag v -> mte3, 0
// CHECK-NEXT: tik.wait_flag v -> mte3, 0
// CHECK-NEXT: tik.copy_ubuf_to_gm_align.b16 dst = %x, src = %p, length = %n, atomic = 1
// CHECK-NEXT: tik.barrier all
