// RUN: pyptoc opt %s -p tile-kernels | filecheck %s

builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @softmax(%x: tensor<37x741xf32>) -> tensor<37x741xf32> attributes {pypto.kernel = "vector"} {
    %0 = pypto.reduce %x, kind = "max", dims = [1], keepdim = true : (tensor<37x741xf32>) -> tensor<37x1xf32>
    %1 = pypto.sub %x, %0 : (tensor<37x741xf32>, tensor<37x1xf32>) -> tensor<37x741xf32>
    func.return %1 : tensor<37x741xf32>
  }
  func.func @columns(%x: tensor<5000x741xf32>) -> tensor<1x741xf32> attributes {pypto.kernel = "vector"} {
    %0 = pypto.reduce %x, kind = "sum", dims = [0], keepdim = true : (tensor<5000x741xf32>) -> tensor<1x741xf32>
    func.return %0 : tensor<1x741xf32>
  }
  func.func @matmul(%a: tensor<200x557xf16>, %b: tensor<300x557xf16>) -> tensor<200x300xf16> attributes {pypto.kernel = "cube"} {
    %0 = pypto.matmul %a, %b, tb = true : (tensor<200x557xf16>, tensor<300x557xf16>) -> tensor<200x300xf16>
    func.return %0 : tensor<200x300xf16>
  }
  func.func @transpose(%a: tensor<128x192xf16>) -> tensor<192x128xf16> attributes {pypto.kernel = "vector"} {
    %0 = pypto.permute %a, dims = [1, 0] : (tensor<128x192xf16>) -> tensor<192x128xf16>
    func.return %0 : tensor<192x128xf16>
  }
  func.func @any(%x: tensor<?xf16>, %y: tensor<?xf16>) -> tensor<?xf16> attributes {pypto.kernel = "vector"} {
    %0 = pypto.add %x, %y : (tensor<?xf16>, tensor<?xf16>) -> tensor<?xf16>
    func.return %0 : tensor<?xf16>
  }
  func.func @main(%x: tensor<37x741xf32>, %v: tensor<?xf16>) -> (tensor<741x37xf32>, tensor<?xf16>) {
    %0 = func.call @softmax(%x) : (tensor<37x741xf32>) -> tensor<37x741xf32>
    %1 = func.call @softmax(%0) : (tensor<37x741xf32>) -> tensor<37x741xf32>
    %2 = pypto.reshape %1, shape = [741, 37] : (tensor<37x741xf32>) -> tensor<741x37xf32>
    %3 = func.call @any(%v, %v) : (tensor<?xf16>, tensor<?xf16>) -> tensor<?xf16>
    func.return %2, %3 : tensor<741x37xf32>, tensor<?xf16>
  }
}

// A row kernel keeps whole rows: what the reduction gives is spread over them again.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME: kind = "row"
// CHECK: scf.for
// CHECK: [[X:%.*]] = tile.load %x
// CHECK: [[M:%.*]] = tile.reduce max [[X]] axis 1
// CHECK: [[B:%.*]] = tile.broadcast [[M]]
// CHECK: [[R:%.*]] = tile.apply sub [[X]], [[B]]
// CHECK: tile.store [[R]]

// A column kernel walks the rows with the total as a carried tile, stored once at the end.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: kind = "column"
// CHECK: [[T:%.*]] = tile.full 0.0
// CHECK: [[S:%.*]] = scf.for {{.*}} iter_args([[C:%.*]] = [[T]])
// CHECK: [[P:%.*]] = tile.reduce sum {{.*}} axis 0
// CHECK: tile.apply add [[C]], [[P]]
// CHECK-NOT: tile.store
// CHECK: scf.yield
// CHECK: tile.store [[S]]

// The transposed operand is loaded as it lies in memory and turned on the way to L0B.
// CHECK-LABEL: func.func @matmul
// CHECK: tile.accumulator
// CHECK: tile.load %a
// CHECK: [[PACKET:%.*]] = tile.load %b
// CHECK: tile.extract [[PACKET]][{{.*}}transpose
// CHECK: tile.mma
// CHECK: tile.store

// CHECK-LABEL: func.func @transpose
// CHECK: [[O:%.*]] = tile.iota {{.*}} steps(2, 128)
// CHECK: scf.for
// CHECK: [[L:%.*]] = tile.load
// CHECK: tile.gather [[L]][[[O]]]

// An extent known at launch is a scalar argument.
// CHECK-LABEL: func.func @any
// CHECK-SAME: %{{.*}}: index

// The result of @main is the buffer of the last launch, under the type it is returned as.
// CHECK-LABEL: func.func @main
// CHECK: [[FIRST:%.*]] = host.alloc temporary "softmax.0" : !host.buffer<37x741xf32>
// CHECK: host.launch @softmax(%x, [[FIRST]])
// CHECK: [[RESULT:%.*]] = host.alloc result "softmax.1" : !host.buffer<741x37xf32>
// CHECK: [[VIEW:%.*]] = host.view [[RESULT]]
// CHECK: host.launch @softmax([[FIRST]], [[VIEW]])
// CHECK: [[N:%.*]] = host.dim %v axis 0
// CHECK: host.alloc result "any.2"([[N]])
