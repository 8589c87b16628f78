// RUN: pyptoc opt %s -p split-reductions,dce | filecheck %s

// One row is walked by one core: 48 cores take parts of it, elementwise work moves along.
// CHECK-LABEL: func.func @row
// CHECK-NEXT: %[[X:.*]] = pypto.reshape %x, shape = [1, [[PARTS:[0-9]+]], [[LENGTH:[0-9]+]]]
// CHECK-NEXT: %[[S:.*]] = pypto.mul %[[X]], %[[X]]
// CHECK-NEXT: %[[P:.*]] = pypto.reduce %[[S]], kind = "sum", dims = [2], keepdim = true : (tensor<1x[[PARTS]]x[[LENGTH]]xf32>) -> tensor<1x[[PARTS]]x1xf32>
// CHECK-NEXT: %[[T:.*]] = pypto.reduce %[[P]], kind = "sum", dims = [1], keepdim = true
// CHECK-NEXT: %[[R:.*]] = pypto.reshape %[[T]], shape = [1, 1]
// CHECK-NEXT: func.return %[[R]]
func.func @row(%x: tensor<1x1048576xf32>) -> tensor<1x1xf32> {
  %0 = pypto.mul %x, %x : (tensor<1x1048576xf32>, tensor<1x1048576xf32>) -> tensor<1x1048576xf32>
  %1 = pypto.reduce %0, kind = "sum", dims = [1], keepdim = true : (tensor<1x1048576xf32>) -> tensor<1x1xf32>
  func.return %1 : tensor<1x1xf32>
}

// Few columns are few tasks; what several read is computed where it stands.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT: %[[E:.*]] = pypto.exp %x
// CHECK-NEXT: %[[X:.*]] = pypto.reshape %[[E]], shape = [{{[0-9]+}}, {{[0-9]+}}, 8]
// CHECK-NEXT: %[[P:.*]] = pypto.reduce %[[X]], kind = "max", dims = [1], keepdim = true
// CHECK-NEXT: %[[T:.*]] = pypto.reduce %[[P]], kind = "max", dims = [0], keepdim = true
// CHECK-NEXT: %[[R:.*]] = pypto.reshape %[[T]], shape = [1, 8]
// CHECK-NEXT: func.return %[[E]], %[[R]]
func.func @columns(%x: tensor<100000x8xf32>) -> (tensor<100000x8xf32>, tensor<1x8xf32>) {
  %0 = pypto.exp %x : (tensor<100000x8xf32>) -> tensor<100000x8xf32>
  %1 = pypto.reduce %0, kind = "max", dims = [0], keepdim = true : (tensor<100000x8xf32>) -> tensor<1x8xf32>
  func.return %0, %1 : tensor<100000x8xf32>, tensor<1x8xf32>
}

// Enough rows, too little work, or no equal parts: one kernel does it.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT: pypto.reduce %a
// CHECK-NEXT: pypto.reduce %b
// CHECK-NEXT: pypto.reduce %c
// CHECK-NEXT: func.return
func.func @stays(%a: tensor<48x100000xf32>, %b: tensor<1x50000xf32>, %c: tensor<1x1048573xf32>) -> (tensor<48x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
  %0 = pypto.reduce %a, kind = "sum", dims = [1], keepdim = true : (tensor<48x100000xf32>) -> tensor<48x1xf32>
  %1 = pypto.reduce %b, kind = "sum", dims = [1], keepdim = true : (tensor<1x50000xf32>) -> tensor<1x1xf32>
  %2 = pypto.reduce %c, kind = "sum", dims = [1], keepdim = true : (tensor<1x1048573xf32>) -> tensor<1x1xf32>
  func.return %0, %1, %2 : tensor<48x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
}
