"""Where fusion stops: memory, pointers, idle cores, extents known at launch, what is exchanged."""

from __future__ import annotations

from collections import Counter

from pypto.dialects.context import make_context, parse_module, print_module
from pypto.passes.driver import run_pipeline
from pypto.passes.tensor.rewriting import tensor_operations
from pypto.passes.tensor.units import group_of


def groups(body: str, *, passes: str = "fuse") -> list[list[str]]:
    """The operators of each group, in order; operations without a group are left out."""
    context = make_context()
    module = parse_module(body, "source.mlir", context)
    run_pipeline(module, passes, context)
    found: dict[int, list[str]] = {}
    for op in tensor_operations(module):
        group = group_of(op)
        if group is not None:
            found.setdefault(group, []).append(op.row.name)
    return list(found.values())


def softmax_of(rows: int, columns: int) -> str:
    wide, narrow = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}x1xf32>"
    return f"""func.func @main(%x: {wide}) -> {wide} {{
  %0 = pypto.reduce %x, kind = "max", dims = [1], keepdim = true : ({wide}) -> {narrow}
  %1 = pypto.sub %x, %0 : ({wide}, {narrow}) -> {wide}
  %2 = pypto.exp %1 : ({wide}) -> {wide}
  %3 = pypto.reduce %2, kind = "sum", dims = [1], keepdim = true : ({wide}) -> {narrow}
  %4 = pypto.div %2, %3 : ({wide}, {narrow}) -> {wide}
  func.return %4 : {wide}
}}"""


def test_rows_that_fit_are_one_kernel() -> None:
    assert groups(softmax_of(64, 4096)) == [["reduce", "sub", "exp", "reduce", "div"]]


def test_rows_that_do_not_fit_are_reduced_in_pieces() -> None:
    found = groups(softmax_of(64, 40_000))
    assert found == [["reduce"], ["sub", "exp", "reduce"], ["div"]]


def test_one_slot_leaves_room_for_longer_rows() -> None:
    assert len(groups(softmax_of(64, 8_000))) > 1
    assert len(groups(softmax_of(64, 8_000), passes="fuse{slots=1}")) == 1


def test_twelve_pointers_are_the_most() -> None:
    count = 16
    names = [f"%x{i}" for i in range(count)]
    arguments = ", ".join(f"{name}: tensor<64xf32>" for name in names)
    adds = ["%s0 = pypto.add %x0, %x1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>"]
    for i in range(2, count):
        adds.append(
            f"%s{i - 1} = pypto.add %s{i - 2}, %x{i}"
            " : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>"
        )
    lines = "\n  ".join(adds)
    last = f"%s{count - 2}"
    found = groups(
        f"func.func @main({arguments}) -> tensor<64xf32> {{\n  {lines}\n"
        f"  func.return {last} : tensor<64xf32>\n}}"
    )
    assert [len(group) for group in found] == [10, 5]


def test_work_that_would_leave_cores_idle_stands_alone() -> None:
    def sum_of_exp(rows: int, columns: int) -> str:
        wide, narrow = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}x1xf32>"
        return f"""func.func @main(%x: {wide}) -> {narrow} {{
  %0 = pypto.exp %x : ({wide}) -> {wide}
  %1 = pypto.reduce %0, kind = "sum", dims = [1], keepdim = true : ({wide}) -> {narrow}
  func.return %1 : {narrow}
}}"""

    assert groups(sum_of_exp(64, 100_000)) == [["exp", "reduce"]]
    assert groups(sum_of_exp(1, 10_000)) == [["exp", "reduce"]]
    assert groups(sum_of_exp(1, 1_000_000)) == [["exp"], ["reduce"]]


def test_readers_of_one_tensor_share_its_load() -> None:
    body = """func.func @main(%x: tensor<64x8xf32>) -> (tensor<64x8xf32>, tensor<64x8xf32>) {
  %0 = pypto.exp %x : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %1 = pypto.sqrt %x : (tensor<64x8xf32>) -> tensor<64x8xf32>
  func.return %0, %1 : tensor<64x8xf32>, tensor<64x8xf32>
}"""
    assert groups(body) == [["exp", "sqrt"]]


def test_extents_known_at_launch_are_not_taken_as_equal() -> None:
    body = """func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %s: tensor<1xf32>)
    -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = pypto.exp %s : (tensor<1xf32>) -> tensor<1xf32>
  %1 = pypto.mul %x, %0 : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  %2 = pypto.mul %y, %0 : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  func.return %1, %2 : tensor<?xf32>, tensor<?xf32>
}"""
    assert all(group.count("mul") <= 1 for group in groups(body))


def test_kernels_exchange_the_narrow_value() -> None:
    body = """func.func @main(%x: tensor<64x8xf16>, %w: tensor<8x8xf32>)
    -> (tensor<1x8xf32>, tensor<64x1xf32>) {
  %0 = pypto.exp %x : (tensor<64x8xf16>) -> tensor<64x8xf16>
  %1 = pypto.cast %0, dtype = f32 : (tensor<64x8xf16>) -> tensor<64x8xf32>
  %2 = pypto.reduce %1, kind = "sum", dims = [0], keepdim = true
     : (tensor<64x8xf32>) -> tensor<1x8xf32>
  %3 = pypto.reduce %1, kind = "sum", dims = [1], keepdim = true
     : (tensor<64x8xf32>) -> tensor<64x1xf32>
  func.return %2, %3 : tensor<1x8xf32>, tensor<64x1xf32>
}"""
    found = groups(body)
    assert Counter(name for group in found for name in group)["cast"] == 2
    context = make_context()
    module = parse_module(body, "source.mlir", context)
    run_pipeline(module, "fuse,outline", context)
    main = print_module(module).partition("func.func @fused")[0]
    assert "tensor<64x8xf32>" not in main


def test_positions_along_one_axis_keep_the_axes_apart() -> None:
    body = """func.func @main(%x: tensor<4x8xi32>) -> tensor<1x1xi32> {
  %0 = pypto.iota shape = [4, 8], dim = 1 : () -> tensor<4x8xi32>
  %1 = pypto.add %x, %0 : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %2 = pypto.reduce %1, kind = "max", dims = [0, 1], keepdim = true
     : (tensor<4x8xi32>) -> tensor<1x1xi32>
  func.return %2 : tensor<1x1xi32>
}"""
    assert groups(body) == [["add"], ["reduce"]]
