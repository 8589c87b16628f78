// RUN: pyptoc opt %s -p tile-kernels | filecheck %s

builtin.module attributes {pypto.soc = "ascend910a"} {
  func.func @whole(%x: tensor<64x40xf32>, %y: tensor<40xf32>) -> tensor<64x40xf32> attributes {pypto.kernel = "aicore"} {
    %0 = pypto.add %x, %y : (tensor<64x40xf32>, tensor<40xf32>) -> tensor<64x40xf32>
    func.return %0 : tensor<64x40xf32>
  }
  func.func @longer(%x: tensor<64x37xf32>, %y: tensor<37xf32>) -> tensor<64x37xf32> attributes {pypto.kernel = "aicore"} {
    %0 = pypto.add %x, %y : (tensor<64x37xf32>, tensor<37xf32>) -> tensor<64x37xf32>
    func.return %0 : tensor<64x37xf32>
  }
  func.func @shorter(%x: tensor<64x5xf32>, %y: tensor<5xf32>) -> tensor<64x5xf32> attributes {pypto.kernel = "aicore"} {
    %0 = pypto.add %x, %y : (tensor<64x5xf32>, tensor<5xf32>) -> tensor<64x5xf32>
    func.return %0 : tensor<64x5xf32>
  }
  func.func @beside(%x: tensor<64x5xf32>, %y: tensor<64x3xf32>) -> tensor<64x8xf32> attributes {pypto.kernel = "aicore"} {
    %0 = pypto.concat [%x, %y], dim = 1 : (tensor<64x5xf32>, tensor<64x3xf32>) -> tensor<64x8xf32>
    func.return %0 : tensor<64x8xf32>
  }
  func.func @sums(%x: tensor<64x37xf32>) -> tensor<64x1xf32> attributes {pypto.kernel = "aicore"} {
    %0 = pypto.reduce %x, kind = "sum", dims = [1], keepdim = true : (tensor<64x37xf32>) -> tensor<64x1xf32>
    func.return %0 : tensor<64x1xf32>
  }
  func.func @any(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> attributes {pypto.kernel = "aicore"} {
    %0 = pypto.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    func.return %0 : tensor<?xf32>
  }
  func.func @turn(%x: tensor<130x34xf32>) -> tensor<34x130xf32> attributes {pypto.kernel = "aicore"} {
    %0 = pypto.permute %x, dims = [1, 0] : (tensor<130x34xf32>) -> tensor<34x130xf32>
    func.return %0 : tensor<34x130xf32>
  }
  func.func @bytes(%x: tensor<128x64xui8>) -> tensor<64x128xui8> attributes {pypto.kernel = "aicore"} {
    %0 = pypto.permute %x, dims = [1, 0] : (tensor<128x64xui8>) -> tensor<64x128xui8>
    func.return %0 : tensor<64x128xui8>
  }
  func.func @pick(%x: tensor<741xf32>) -> tensor<371xf32> attributes {pypto.kernel = "aicore"} {
    %0 = pypto.slice %x, start = [0], stop = [741], step = [2] : (tensor<741xf32>) -> tensor<371xf32>
    func.return %0 : tensor<371xf32>
  }
}

// Rows of whole blocks meet no neighbours.
// CHECK-LABEL: func.func @whole
// CHECK: tile.store %{{.*}} stride %{{[^ ]*}} :

// Longer rows than two blocks end without touching the next task's. So do tiles of shorter ones
// without gaps, of so many that they are longer; with gaps, tasks take turns.
// CHECK-LABEL: func.func @longer
// CHECK-SAME: grid = 32 : i64}
// CHECK: tile.store %{{.*}} stride %{{.*}} exact :
// CHECK-LABEL: func.func @shorter
// CHECK-SAME: rows = 4 : i64, columns = 5 : i64
// CHECK-SAME: grid = 16 : i64}
// CHECK: tile.store %{{.*}} stride %{{.*}} exact :
// CHECK-LABEL: func.func @beside
// CHECK-SAME: grid = 1 : i64, order = "serial"}
// CHECK: tile.store %{{.*}} stride %{{.*}} merge :
// CHECK: tile.store %{{.*}} stride %{{.*}} merge :

// Results of rows share blocks: tasks take so many rows that they fill some.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: rows = 8 : i64
// CHECK-SAME: grid = 8 : i64}
// CHECK: tile.store %{{.*}} stride %{{[^ ]*}} :

// What lies behind the end of a tensor belongs to nobody.
// CHECK-LABEL: func.func @any
// CHECK-SAME: grid = 32 : i64}
// CHECK: tile.store %{{.*}} stride %{{[^ ]*}} :

// Of all widths of a tile the largest one that leaves more than two blocks: 130 = 112 + 18.
// CHECK-LABEL: func.func @turn
// CHECK-SAME: rows = 34 : i64, columns = 112 : i64
// CHECK: [[X:%.*]] = tile.load {{.*}} -> !tile.tile<128x40xf32, ub>
// CHECK: [[T:%.*]] = tile.transpose [[X]]
// CHECK: tile.store [[T]], {{.*}} exact :

// Bytes go as halves.
// CHECK-LABEL: func.func @bytes
// CHECK: [[H:%.*]] = tile.apply cast
// CHECK: [[T:%.*]] = tile.transpose [[H]]
// CHECK: [[B:%.*]] = tile.apply cast [[T]]
// CHECK: tile.store [[B]]

// Elements that are no neighbours are loaded as a column.
// CHECK-LABEL: func.func @pick
// CHECK: tile.load {{.*}} -> !tile.tile<{{.*}}x1xf32, ub>
// CHECK: tile.store %{{.*}} stride %{{[^ ]*}} : !tile.tile<{{.*}}x1xf32, ub>
