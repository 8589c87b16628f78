// RUN: pyptoc opt %s -p lower-to-tik | filecheck %s

builtin.module attributes {pypto.soc = "ascend910a"} {
  // Rows of 37 elements: their last 32 bytes come together in global memory.
  func.func @exact(%x: !tile.global<f32>, %y: !tile.global<f32>) attributes {pypto.kernel = "aicore", tile.granule = 8 : i64, tile.schedule = {slots = 1 : i64}} {
    %zero = arith.constant 0 : index
    %rows = arith.constant 4 : index
    %width = arith.constant 37 : index
    %a = tile.load %x[%zero] stride %width valid(%rows, %width) : !tile.global<f32> -> !tile.tile<4x37xf32, ub>
    tile.store %a, %y[%zero] stride %width exact : !tile.tile<4x37xf32, ub>, !tile.global<f32>
    func.return
  }
  // Rows of 5 elements 32 bytes apart: what lies behind is read first; every second row at once.
  func.func @merge(%x: !tile.global<f32>, %y: !tile.global<f32>) attributes {pypto.kernel = "aicore", tile.granule = 8 : i64, tile.schedule = {slots = 1 : i64}} {
    %zero = arith.constant 0 : index
    %rows = arith.constant 4 : index
    %width = arith.constant 5 : index
    %apart = arith.constant 8 : index
    %a = tile.load %x[%zero] stride %apart valid(%rows, %width) : !tile.global<f32> -> !tile.tile<4x5xf32, ub>
    tile.store %a, %y[%zero] stride %apart merge : !tile.tile<4x5xf32, ub>, !tile.global<f32>
    func.return
  }
  func.func @turn(%x: !tile.global<f16>, %y: !tile.global<f16>) attributes {pypto.kernel = "aicore", tile.granule = 16 : i64, tile.schedule = {slots = 1 : i64}} {
    %zero = arith.constant 0 : index
    %rows = arith.constant 16 : index
    %width = arith.constant 32 : index
    %a = tile.load %x[%zero] stride %width valid(%rows, %width) : !tile.global<f16> -> !tile.tile<16x32xf16, ub>
    %b = tile.transpose %a : !tile.tile<16x32xf16, ub> -> !tile.tile<32x16xf16, ub>
    tile.store %b, %y[%zero] stride %rows : !tile.tile<32x16xf16, ub>, !tile.global<f16>
    func.return
  }
}

// CHECK-LABEL: func.func @exact
// CHECK:      [[A:%.*]] = tik.slot
// CHECK:        tik.copy_gm_to_ubuf.b32 dst = %{{.*}}, src = %{{.*}}, length = 5
// CHECK:      [[E:%.*]] = tik.slot
// CHECK:        tik.copy_ubuf_to_gm.b32 dst = %{{.*}}, src = %{{.*}}, length = 2
// CHECK:        [[END:%.*]] = tik.offset [[E]]
// CHECK-NEXT:   tik.copy_gm_to_ubuf.b32 dst = [[END]], src = %{{.*}}, length = 1
// CHECK:        tik.copy_ubuf_to_gm.b32 dst = %{{.*}}, src = %{{.*}}, length = 4
// CHECK:        [[END:%.*]] = tik.offset [[E]]
// CHECK-NEXT:   tik.copy_ubuf_to_gm.b32 dst = %{{.*}}, src = [[END]], length = 1
// CHECK:      } {tik.disjoint}
// CHECK-NEXT: func.return

// CHECK-LABEL: func.func @merge
// CHECK:      tik.copy_gm_to_ubuf.b32 dst = [[A:%.*]], src = %x, bursts = 4, length = 1
// CHECK:      [[B:%.*]] = tik.slot
// CHECK:      [[TWO:%.*]] = arith.constant 2 : index
// CHECK:      scf.for %{{.*}} = %{{.*}} to [[TWO]]
// CHECK:        [[BEHIND:%.*]] = tik.offset [[B]]
// CHECK-NEXT:   tik.copy_gm_to_ubuf.b32 dst = [[BEHIND]], src = %{{.*}}, length = 1
// CHECK:        [[ROW:%.*]] = tik.offset [[A]]
// CHECK-NEXT:   tik.copy_ubuf_to_gm.b32 dst = %{{.*}}, src = [[ROW]], length = 1
// CHECK:        [[BEHIND:%.*]] = tik.offset [[B]]
// CHECK-NEXT:   tik.copy_ubuf_to_gm.b32 dst = %{{.*}}, src = [[BEHIND]], length = 1
// CHECK:      func.return

// All squares of 16 rows go at once.
// CHECK-LABEL: func.func @turn
// CHECK:      tik.copy_gm_to_ubuf.b32 dst = [[A:%.*]], src = %x, length = 32
// CHECK:      tik.scatter_vnchwconv.b16 dst = [[B:%.*]], src = [[A]], repeat = 2, dst_step = 2, dst_pair = 1, src_step = 4, src_pair = 2, dst_repeat = 16, src_repeat = 1
// CHECK-NEXT: tik.copy_ubuf_to_gm.b32 dst = %y, src = [[B]], length = 32
