// RUN: pyptoc opt %s -p lower-to-tik | filecheck %s

builtin.module attributes {pypto.soc = "ascend910a"} {
  // No mask counts: 304 f32 are four repeats and 48 lanes. A number no instruction takes is a block.
  func.func @elementwise(%x: !tile.global<f32>, %z: !tile.global<f32>) attributes {pypto.kernel = "aicore", tile.granule = 16 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 300 : index
    %a = tile.load %x[%zero] stride %zero valid(%one, %size) : !tile.global<f32> -> !tile.tile<1x300xf32, ub>
    %twice = tile.apply mul %a, 2.0 : !tile.tile<1x300xf32, ub> -> !tile.tile<1x300xf32, ub>
    %held = tile.apply max %twice, 1.0 : !tile.tile<1x300xf32, ub> -> !tile.tile<1x300xf32, ub>
    tile.store %held, %z[%zero] stride %zero : !tile.tile<1x300xf32, ub>, !tile.global<f32>
    func.return
  }

  // CHECK-LABEL: func.func @elementwise
  // CHECK:         tik.vector_dup.f32 dst = [[ONE:%.*]], scalar = 1.0, mask_low = 255
  // CHECK:         tik.vmuls.f32 dst = [[T:%.*]], src = [[A:%.*]], scalar = 2.0, repeat = 4
  // CHECK:         [[AR:%.*]] = tik.offset [[A]]
  // CHECK:         tik.vmuls.f32 dst = %{{.*}}, src = [[AR]], scalar = 2.0, mask_low = 281474976710655
  // CHECK:         tik.vmax.f32 dst = %{{.*}}, src0 = [[T]], src1 = [[ONE]], repeat = 4, src1_block = 0, src1_repeat = 0
  // CHECK:         tik.vmax.f32 {{.*}}src1 = [[ONE]], src1_block = 0, src1_repeat = 0, mask_low = 281474976710655

  // Repeat 0 is not legal, so whole repeats and lanes left over are guarded where extents vary.
  func.func @dynamic(%x: !tile.global<f16>, %z: !tile.global<f16>, %n: index) attributes {pypto.kernel = "aicore", tile.granule = 16 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %a = tile.load %x[%zero] stride %zero valid(%one, %n) : !tile.global<f16> -> !tile.tile<1x300xf16, ub>
    %b = tile.apply exp %a : !tile.tile<1x300xf16, ub> -> !tile.tile<1x300xf16, ub>
    tile.store %b, %z[%zero] stride %zero : !tile.tile<1x300xf16, ub>, !tile.global<f16>
    func.return
  }

  // CHECK-LABEL: func.func @dynamic
  // CHECK:         scf.if
  // CHECK-NEXT:      tik.vexp.f16 {{.*}}repeat = %
  // CHECK:         arith.remui
  // CHECK:         scf.if
  // CHECK:           tik.vexp.f16 {{.*}}mask_high = %{{.*}}, mask_low = %

  // Rows are halved to a block each; two transpositions make dense vectors of its lanes.
  func.func @row_sums(%x: !tile.global<f32>, %z: !tile.global<f32>) attributes {pypto.kernel = "aicore", tile.granule = 16 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %rows = arith.constant 16 : index
    %columns = arith.constant 64 : index
    %a = tile.load %x[%zero] stride %columns valid(%rows, %columns) : !tile.global<f32> -> !tile.tile<16x64xf32, ub>
    %sum = tile.reduce sum %a axis 1 : !tile.tile<16x64xf32, ub> -> !tile.tile<16x1xf32, ub>
    tile.store %sum, %z[%zero] stride %one : !tile.tile<16x1xf32, ub>, !tile.global<f32>
    func.return
  }

  // CHECK-LABEL: func.func @row_sums
  // CHECK:         tik.vadd.f32 dst = [[F:%.*]], src0 = [[F]], {{.*}}repeat = 16, mask_low = 4294967295
  // CHECK:         tik.vadd.f32 dst = [[F]], src0 = [[F]], {{.*}}repeat = 16, mask_low = 65535
  // CHECK:         tik.vadd.f32 dst = [[H:%.*]], src0 = [[F]], {{.*}}repeat = 16, dst_repeat = 1, mask_low = 255
  // CHECK:         tik.scatter_vnchwconv.b16 dst = [[W:%.*]], src = [[H]], repeat = 8, dst_step = 2, dst_pair = 1, src_step = 16, src_pair = 8, dst_repeat = 16, src_repeat = 1
  // CHECK:         tik.scatter_vnchwconv.b16 dst = [[H]], src = [[W]], dst_step = 2, dst_pair = 1, src_step = 16, src_pair = 1
  // CHECK:         tik.vadd.f32 dst = [[H]], src0 = [[H]], {{.*}}repeat = 8
  // CHECK:         tik.vadd.f32 dst = [[H]], src0 = [[H]], {{.*}}repeat = 4
  // CHECK:         tik.vadd.f32 {{.*}}src0 = [[H]], {{.*}}mask_low = 65535

  // Bits choose one repeat of halves at a time; elements of 32 bits by masks made from halves.
  func.func @choose(%x: !tile.global<f32>, %z: !tile.global<f32>) attributes {pypto.kernel = "aicore", tile.granule = 16 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 128 : index
    %a = tile.load %x[%zero] stride %zero valid(%one, %size) : !tile.global<f32> -> !tile.tile<1x128xf32, ub>
    %bits = tile.apply lt %a, 0.0 : !tile.tile<1x128xf32, ub> -> !tile.tile<1x128xi1, ub>
    %b = tile.apply select %bits, %a, 1.0 : !tile.tile<1x128xi1, ub>, !tile.tile<1x128xf32, ub> -> !tile.tile<1x128xf32, ub>
    tile.store %b, %z[%zero] stride %zero : !tile.tile<1x128xf32, ub>, !tile.global<f32>
    func.return
  }

  // CHECK-LABEL: func.func @choose
  // CHECK:         tik.vcmpv_lt.f32 dst = [[B:%.*]], src0 = [[A:%.*]], src1 = %{{.*}}, repeat = 2, src1_block = 0, src1_repeat = 0
  // CHECK:         tik.vsel.f16 dst = [[C:%.*]], src0 = %{{.*}}, src1 = %{{.*}}, mask = [[B]]
  // CHECK:         tik.vconv_f162i32r dst = [[M:%.*]], src = [[C]], repeat = 2, src_repeat = 4
  // CHECK:         tik.vand.u16 dst = [[C]], src0 = [[A]], src1 = [[M]], repeat = 2
  // CHECK:         tik.vnot.u16 dst = [[M]], src = [[M]], repeat = 2
  // CHECK:         tik.vand.u16 dst = [[M]], {{.*}}src1 = [[M]], repeat = 2
  // CHECK:         tik.vor.u16 dst = %{{.*}}, src0 = [[C]], src1 = [[M]], repeat = 2
}
