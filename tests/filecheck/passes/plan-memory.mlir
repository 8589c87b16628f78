// RUN: pyptoc opt %s -p plan-memory | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @k(%x: !tile.global<f16>, %y: !tile.global<f16>) attributes {pypto.kernel = "vector"} {
    func.return
  }
  func.func @main(%x: !host.buffer<300xf16>) -> !host.buffer<300xf16> {
    %a = host.alloc temporary "a" : !host.buffer<300xf16>
    host.launch @k(%x, %a) grid 1 core vector : !host.buffer<300xf16>, !host.buffer<300xf16>
    %b = host.alloc temporary "b" : !host.buffer<300xf16>
    host.launch @k(%a, %b) grid 1 core vector : !host.buffer<300xf16>, !host.buffer<300xf16>
    %c = host.alloc temporary "c" : !host.buffer<300xf16>
    host.launch @k(%b, %c) grid 1 core vector : !host.buffer<300xf16>, !host.buffer<300xf16>
    %r = host.alloc result "r" : !host.buffer<300xf16>
    host.launch @k(%c, %r) grid 1 core vector : !host.buffer<300xf16>, !host.buffer<300xf16>
    host.return %r : !host.buffer<300xf16>
  }
}

// The third temporary takes the place of the first, which nobody reads any more.
// CHECK: host.alloc temporary "a" offset [[A:[0-9]+]]
// CHECK: host.alloc temporary "b" offset 1024
// CHECK: host.alloc temporary "c" offset [[A]]
// CHECK: host.alloc result "r" :
