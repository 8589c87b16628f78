// RUN: not pyptoc opt %s -p place-buffers | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @kernel(%a: !tik.ptr<gm>) attributes {pypto.kernel = "vector", tik.stage = "virtual"} {
    %x = tik.alloc "x" bytes 65536 slots 2 : !tik.buffer<ub>
    %y = tik.alloc "y" bytes 65536 : !tik.buffer<ub>
    func.return
  }
}

// CHECK: error[LOCAL_MEMORY_EXHAUSTED]: kernel kernel wants 196608 bytes of ub; ascend910b1 has 188416
// CHECK: note: largest buffers: x: 2 x 65536 bytes, y: 1 x 65536 bytes
// CHECK: fix: use smaller tiles
