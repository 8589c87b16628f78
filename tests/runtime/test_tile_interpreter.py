"""The meaning of every tile operation, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

from pypto.dialects.context import parse_module
from pypto.dialects.tile import TILE_OPERATIONS
from pypto.errors import CompileError, DeviceError
from pypto.runtime.tile_interpreter import HANDLERS, GlobalTensor, run_kernel
from pypto.runtime.tile_numbers import ExactNumbers, IntervalNumbers, Numbers
from pypto.target.dtypes import BF16, DTYPES, F16, F32, I1, I32, I64, DType

UB = "!tile.tile<4x8xf32, ub>"
G = "!tile.global<f32>"
CONSTANTS = "\n".join(
    f"%c{number} = arith.constant {number} : index" for number in (0, 1, 2, 3, 4, 5, 8, 16, 40)
)
LOAD = f"%t = tile.load %x[%c0] stride %c8 valid(%c3, %c5) : {G} -> {UB}"
STORE = f"tile.store %t, %r[%c0] stride %c8 : {UB}, {G}"


def kernel(body: str, *elements: str) -> FuncOp:
    """A kernel of one global tensor per element type: %x, %y … and last %r."""
    names = [*"xyz"[: len(elements) - 1], "r"]
    parameters = ", ".join(
        f"%{name}: !tile.global<{element}>" for name, element in zip(names, elements, strict=True)
    )
    text = (
        f"func.func @kernel({parameters}) attributes "
        f'{{pypto.kernel = "vector", tile.granule = 8 : i64}} {{\n{CONSTANTS}\n{body}\n'
        "func.return\n}"
    )
    (function,) = parse_module(text, "kernel.mlir").ops
    assert isinstance(function, FuncOp)
    return function


def run(
    body: str,
    *arrays: np.ndarray,
    grid: int = 1,
    numbers: Numbers | None = None,
    whole_blocks: bool = False,
) -> tuple[np.ndarray, ...]:
    """The planes of the last tensor behind a kernel on the given ones."""
    numbers = numbers or ExactNumbers()
    dtypes = [next(d for d in DTYPES.values() if d.numpy == array.dtype) for array in arrays]
    elements = ["ui8" if dtype.name == "u8" else dtype.name for dtype in dtypes]
    tensors = [
        GlobalTensor(tuple(p.reshape(-1).copy() for p in numbers.lift(array)), dtype)
        for array, dtype in zip(arrays, dtypes, strict=True)
    ]
    run_kernel(kernel(body, *elements), tensors, grid, numbers, whole_blocks=whole_blocks)
    return tensors[-1].planes


def result(body: str, *arrays: np.ndarray, grid: int = 1) -> np.ndarray:
    """The last of the arrays behind a kernel on all of them."""
    (plane,) = run(body, *arrays, grid=grid)
    return plane.reshape(arrays[-1].shape)


def numbered(*shape: int, dtype: DType = F32) -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype.numpy)


def refused(body: str, *arrays: np.ndarray) -> str:
    with pytest.raises(CompileError) as caught:
        run(body, *arrays)
    assert caught.value.location is not None
    return f"{caught.value.code}: {caught.value.message}"


X = numbered(4, 8)
NOTHING = np.full((4, 8), -1, np.float32)


def test_there_is_a_method_for_every_operation():
    assert set(TILE_OPERATIONS) <= set(HANDLERS)


def test_loads_read_and_stores_write_exactly_the_valid_part():
    expected = NOTHING.copy()
    expected[:3, :5] = X[:3, :5]
    np.testing.assert_array_equal(result(LOAD + STORE, X, NOTHING), expected)


def test_offsets_and_strides_count_elements():
    body = LOAD.replace("[%c0] stride %c8", "[%c2] stride %c3") + STORE.replace("[%c0]", "[%c3]")
    made = result(body, X, NOTHING).reshape(-1)
    for row in range(3):
        read = X.reshape(-1)[2 + 3 * row :][:5]
        np.testing.assert_array_equal(made[3 + 8 * row :][:5], read)
    assert np.count_nonzero(made != -1) == 15


@pytest.mark.parametrize(
    ("tensor", "tile"), [(I1, "ui8"), (I64, "i32"), (F16, "f16"), (BF16, "bf16")], ids=str
)
def test_transfers_move_bytes(tensor, tile):
    """Booleans as bytes, 64-bit integers as pairs."""
    x = np.array([3, 0, -5, 1]).astype(tensor.numpy)
    width = 2 if tensor is I64 else 1
    kind = f"!tile.global<{tensor.name}>"
    tile = f"!tile.tile<1x{4 * width}x{tile}, ub>"
    body = f"""
    %all = arith.constant {4 * width} : index
    %t = tile.load %x[%c0] stride %c0 valid(%c1, %all) : {kind} -> {tile}
    tile.store %t, %r[%c0] stride %c0 : {tile}, {kind}"""
    np.testing.assert_array_equal(result(body, x, np.zeros_like(x)), x)


def test_what_lies_outside_of_a_tensor_is_an_error():
    message = refused(LOAD.replace("[%c0]", "[%c40]") + STORE, X, NOTHING)
    assert message == (
        "TILE_OUT_OF_RANGE: kernel kernel, block 0 of 1: tile.load touches elements 40 to 60 of a "
        "tensor of 32"
    )
    message = refused(LOAD + STORE.replace("stride %c8", "stride %c16"), X, NOTHING)
    assert message.endswith("tile.store touches elements 0 to 36 of a tensor of 32")
    before = LOAD.replace("[%c0]", "[%m]")
    message = refused("%m = arith.subi %c0, %c1 : index\n" + before + STORE, X, NOTHING)
    assert message.endswith("tile.load touches elements -1 to 19 of a tensor of 32")


def test_nothing_is_touched_when_nothing_is_valid():
    body = LOAD.replace("[%c0]", "[%c40]").replace("(%c3, %c5)", "(%c0, %c5)") + STORE
    np.testing.assert_array_equal(result(body, X, NOTHING), NOTHING)


@pytest.mark.parametrize("mark", ["", "merge", "exact"])
def test_copies_of_whole_blocks_leave_garbage_behind_rows(mark):
    """Five elements of a block of eight: three more are written unless the store keeps them."""
    store = STORE.replace("stride %c8", f"stride %c8 {mark}")
    (made,) = run(LOAD + store, X, NOTHING, whole_blocks=True)
    expected = NOTHING.copy()
    expected[:3, :5] = X[:3, :5]
    if not mark:
        expected[:3, 5:] = np.nan
    np.testing.assert_array_equal(made.reshape(4, 8), expected)


def test_garbage_ends_with_the_tensor_and_rows_overwrite_it():
    body = LOAD + STORE.replace("stride %c8", "stride %c5")
    (made,) = run(body, X, np.full(16, -1, np.float32), whole_blocks=True)
    np.testing.assert_array_equal(made[:15], X[:3, :5].reshape(-1))
    assert np.isnan(made[15])


def test_more_valid_elements_than_there_are_is_an_error():
    body = "%more = arith.addi %c4, %c1 : index\n" + LOAD.replace("(%c3,", "(%more,") + STORE
    assert refused(body, X, NOTHING) == (
        "TILE_VALID_SHAPE: kernel kernel, block 0 of 1: tile.load: 5x5 valid elements in "
        "!tile.tile<4x8xf32, ub>"
    )


def test_an_operation_without_a_meaning_is_an_error_by_name():
    body = "%v = arith.select %true, %c1, %c2 : index\n"
    message = refused("%true = arith.cmpi eq, %c1, %c1 : index\n" + body, X, NOTHING)
    assert message == (
        "UNKNOWN_TILE_OPERATION: kernel kernel, block 0 of 1: arith.select has no meaning in a "
        "tile kernel"
    )


def test_full_and_iota():
    body = f"""
    %t = tile.full 2.5 valid(%c2, %c3) : {UB}
    {STORE}"""
    expected = NOTHING.copy()
    expected[:2, :3] = 2.5
    np.testing.assert_array_equal(result(body, NOTHING), expected)
    kind = "!tile.tile<4x8xi32, ub>"
    body = f"""
    %t = tile.iota %c5 steps(10, 3) valid(%c4, %c8) : {kind}
    tile.store %t, %r[%c0] stride %c8 : {kind}, !tile.global<i32>"""
    row, column = np.indices((4, 8))
    made = result(body, np.zeros((4, 8), np.int32))
    np.testing.assert_array_equal(made, 5 + 10 * row + 3 * column)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("add %t, %u", lambda x, y: x + y),
        ("sub %t, 3.0", lambda x, y: x - 3),
        ("sub 3.0, %t", lambda x, y: 3 - x),
        ("div %t, %u", lambda x, y: x / y),
        ("max %t, %u", np.maximum),
        ("exp %u", lambda x, y: np.exp(y)),
    ],
)
def test_apply(text, meaning):
    y = np.linspace(-3, 3, 32, dtype=np.float32).reshape(4, 8)
    count = text.count("%")
    body = f"""
    %t = tile.load %x[%c0] stride %c8 valid(%c3, %c5) : {G} -> {UB}
    %u = tile.load %y[%c0] stride %c8 valid(%c3, %c5) : {G} -> {UB}
    %v = tile.apply {text} : {", ".join([UB] * count)} -> {UB}
    tile.store %v, %r[%c0] stride %c8 : {UB}, {G}"""
    expected = NOTHING.copy()
    expected[:3, :5] = meaning(X, y)[:3, :5]
    np.testing.assert_array_equal(result(body, X, y, NOTHING), expected)


def test_apply_rounds_and_selects():
    x = np.array([[-2.5, -1.5, 0.5, 1.5]], np.float32)
    floats, integers, bits = (f"!tile.tile<1x4x{e}, ub>" for e in ("f32", "i32", "i1"))
    body = f"""
    %t = tile.load %x[%c0] stride %c0 valid(%c1, %c4) : {G} -> {floats}
    %low = tile.apply lt %t, 0.0 : {floats} -> {bits}
    %u = tile.apply select %low, %t, 9.0 : {bits}, {floats} -> {floats}
    %v = tile.apply cast %u rounding {{rounding}} : {floats} -> {integers}
    tile.store %v, %r[%c0] stride %c0 : {integers}, !tile.global<i32>"""
    empty = np.zeros((1, 4), np.int32)
    for rounding, expected in (("rint", [-2, -2, 9, 9]), ("floor", [-3, -2, 9, 9])):
        made = result(body.replace("{rounding}", rounding), x, empty)
        np.testing.assert_array_equal(made, [expected])


def test_operands_with_less_valid_elements_bring_garbage():
    body = f"""
    %t = tile.load %x[%c0] stride %c8 valid(%c3, %c5) : {G} -> {UB}
    %u = tile.load %x[%c0] stride %c8 valid(%c3, %c4) : {G} -> {UB}
    %v = tile.apply add %t, %u : {UB}, {UB} -> {UB}
    tile.store %v, %r[%c0] stride %c8 : {UB}, {G}"""
    made = result(body, X, NOTHING)
    assert np.isnan(made[:3, 4]).all()
    np.testing.assert_array_equal(made[:3, :4], 2 * X[:3, :4])


@pytest.mark.parametrize("shape", [(1, 8), (4, 1), (1, 1)])
def test_broadcast(shape):
    rows, columns = shape
    small = f"!tile.tile<{rows}x{columns}xf32, ub>"
    body = f"""
    %s = tile.load %x[%c0] stride %c8 valid(%c{min(rows, 3)}, %c{min(columns, 5)}) : {G} -> {small}
    %t = tile.broadcast %s valid(%c3, %c5) : {small} -> {UB}
    {STORE}"""
    expected = NOTHING.copy()
    expected[:3, :5] = np.broadcast_to(X[:rows, :columns], (4, 8))[:3, :5]
    np.testing.assert_array_equal(result(body, X, NOTHING), expected)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("kind", "meaning"), [("sum", np.sum), ("max", np.max), ("min", np.min)])
def test_reduce(kind, meaning, axis):
    small = "!tile.tile<1x8xf32, ub>" if axis == 0 else "!tile.tile<4x1xf32, ub>"
    body = f"""
    {LOAD}
    %s = tile.reduce {kind} %t axis {axis} : {UB} -> {small}
    tile.store %s, %r[%c0] stride %c1 : {small}, {G}"""
    made = result(body, X, np.full(8, -1, np.float32))
    expected = meaning(X[:3, :5], axis=axis)
    np.testing.assert_array_equal(made[: len(expected)], expected)
    assert (made[len(expected) :] == -1).all()


def test_transpose():
    turned = "!tile.tile<8x4xf32, ub>"
    body = f"""
    {LOAD}
    %u = tile.transpose %t : {UB} -> {turned}
    tile.store %u, %r[%c0] stride %c4 : {turned}, {G}"""
    expected = np.full((8, 4), -1, np.float32)
    expected[:5, :3] = X[:3, :5].T
    np.testing.assert_array_equal(result(body, X, np.full_like(expected, -1)), expected)


GATHER = """
    %s = tile.load %x[%c0] stride %c5 valid(%c4, %c5) : !tile.global<f32> -> !tile.tile<4x8xf32, ub>
    %o = tile.load %y[%c0] stride %c0 valid(%c1, %c4) : !tile.global<i32> -> !tile.tile<1x8xi32, ub>
    %t = tile.gather %s[%o] : !tile.tile<4x8xf32, ub>, !tile.tile<1x8xi32, ub> -> !tile.tile<1x8xf32, ub>
    tile.store %t, %r[%c0] stride %c0 : !tile.tile<1x8xf32, ub>, !tile.global<f32>"""  # noqa: E501


def test_gather_takes_bytes_of_the_packed_buffer():
    """Rows of five valid elements lie a granule of eight apart, with garbage between."""
    x = numbered(4, 5)
    offsets = np.array([0, 4 * 8, 4 * (3 * 8 + 4), 4 * 5], np.int32)
    made = result(GATHER, x, offsets, np.zeros(4, np.float32))
    np.testing.assert_array_equal(made, [x[0, 0], x[1, 0], x[3, 4], np.nan])


@pytest.mark.parametrize("offset", [-4, 2, 4 * 64])
def test_gather_outside_of_its_buffer_is_an_error(offset):
    message = refused(GATHER, numbered(4, 5), np.full(4, offset, np.int32), np.zeros(4, np.float32))
    assert message.endswith(
        f"tile.gather at byte {offset} of a buffer of 256 bytes of 4-byte elements"
    )


def product(a: np.ndarray, b: np.ndarray, target: str, *, transpose: bool = False) -> str:
    """A kernel of one product in two steps of 16 along K; ``target`` empties %total."""
    element = next(d.name for d in DTYPES.values() if d.numpy == a.dtype)
    (rows, depth), columns = a.shape, b.shape[1]
    numbers = {"m": rows, "k": depth, "n": columns, "h": 16}
    constants = "\n".join(f"%{k} = arith.constant {v} : index" for k, v in numbers.items())
    size = "32x16" if transpose else "16x32"
    valid = "%k, %m" if transpose else "%m, %k"
    place = "%start, %c0" if transpose else "%c0, %start"
    turn = "transpose " if transpose else ""
    l1a, l1b = f"!tile.tile<{size}x{element}, l1>", f"!tile.tile<32x16x{element}, l1>"
    l0a, l0b = f"!tile.tile<16x16x{element}, l0a>", f"!tile.tile<16x16x{element}, l0b>"
    l0c, gm = "!tile.tile<16x16xf32, l0c>", f"!tile.global<{element}>"
    stride = "%m" if transpose else "%k"
    return f"""{constants}
    %a = tile.load %x[%c0] stride {stride} valid({valid}) : {gm} -> {l1a}
    %b = tile.load %y[%c0] stride %n valid(%k, %n) : {gm} -> {l1b}
    %zero = tile.accumulator valid(%m, %n) : {l0c}
    %total = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %zero) -> ({l0c}) {{
      %start = arith.muli %i, %h : index
      %rest = arith.subi %k, %start : index
      %step = arith.minsi %rest, %h : index
      %p = tile.extract %a[{place}] valid(%m, %step) {turn}: {l1a} -> {l0a}
      %q = tile.extract %b[%start, %c0] valid(%step, %n) : {l1b} -> {l0b}
      %first = tik.compare seq %i, %c0
      %next = tile.mma %sum, %p, %q init %first : {l0c}, {l0a}, {l0b} -> {l0c}
      scf.yield %next : {l0c}
    }}
    {target}"""


def by_steps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b in f32, one k after the other."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        total = total + np.outer(a[:, k].astype(np.float32), b[k].astype(np.float32))
    return total


DRAW = np.random.default_rng(0)
A, B = (DRAW.normal(0, 1, shape).astype(np.float32) for shape in ((5, 29), (29, 7)))


@pytest.mark.parametrize("transpose", [False, True])
def test_product(transpose):
    stored = "tile.store %total, %r[%c0] stride %n : !tile.tile<16x16xf32, l0c>, !tile.global<f32>"
    body = product(A, B, stored, transpose=transpose)
    a = np.ascontiguousarray(A.T) if transpose else A
    np.testing.assert_array_equal(result(body, a, B, np.zeros((5, 7), np.float32)), by_steps(A, B))


def test_accumulators_are_rounded_on_their_way_out():
    """To global memory they saturate, to the unified buffer they become infinite."""
    a, b = (100 * A).astype(np.float16), (100 * B).astype(np.float16)
    exact = by_steps(a, b)
    empty = np.zeros((5, 7), np.float16)
    assert (abs(exact) > 65504).any()
    stored = (
        "tile.store %total, %r[%c0] stride %n relu : !tile.tile<16x16xf32, l0c>, !tile.global<f16>"
    )
    made = result(product(a, b, stored), a, b, empty)
    np.testing.assert_array_equal(made, np.clip(exact, 0, 65504).astype(np.float16))
    ub = "!tile.tile<16x16xf16, ub>"
    drained = f"""%d = tile.drain %total : !tile.tile<16x16xf32, l0c> -> {ub}
    tile.store %d, %r[%c0] stride %n : {ub}, !tile.global<f16>"""
    made = result(product(a, b, drained), a, b, empty)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(made, exact.astype(np.float16))


def test_an_accumulator_holds_garbage_until_it_is_overwritten():
    body = product(A, B, "tile.store %total, %r[%c0] stride %n : L0C, !tile.global<f32>")
    body = body.replace("L0C", "!tile.tile<16x16xf32, l0c>").replace("init %first", "init %c0")
    assert np.isnan(result(body, A, B, np.zeros((5, 7), np.float32))).all()


def test_extracts_stay_inside_of_their_tile():
    body = product(A, B, "").replace("%a[%c0, %start]", "%a[%c0, %c40]")
    message = refused(body, A, B, np.zeros((5, 7), np.float32))
    assert message.endswith("tile.extract of 5x16 elements at [0, 40] of !tile.tile<16x32xf32, l1>")


def test_blocks_run_one_after_another():
    one = "!tile.tile<1x1xi32, ub>"
    body = f"""
    %i = tik.block_idx
    %n = tik.block_num
    %t = tile.iota %n steps(0, 0) valid(%c1, %c1) : {one}
    tile.store %t, %r[%i] stride %c0 : {one}, !tile.global<i32>"""
    np.testing.assert_array_equal(result(body, np.zeros(4, np.int32), grid=3), [3, 3, 3, 0])


ROW_PER_BLOCK = f"""
    %b = tik.block_idx
    %o = arith.muli %b, %c5 : index
    %t = tile.load %x[%o] stride %c8 valid(%c1, %c5) : {G} -> {UB}
    tile.store %t, %r[%o] stride %c8 {{}}: {UB}, {G}"""


def test_blocks_that_write_the_same_element_are_an_error():
    with pytest.raises(DeviceError) as caught:
        run(LOAD + STORE, X, NOTHING, grid=2)
    assert caught.value.code == "RACE_WAW"
    assert caught.value.message == "kernel kernel: blocks 0 and 1 of 2 store to the same bytes"
    assert caught.value.fix == "give the bytes to one block only, or launch a grid of one block"
    assert caught.value.location is not None


@pytest.mark.parametrize(("mark", "collide"), [("", True), ("merge ", True), ("exact ", False)])
def test_blocks_that_share_a_block_of_bytes_collide(mark, collide):
    """Whether what lies behind a row is written back or not; copies of bytes never do."""
    body = ROW_PER_BLOCK.format(mark)
    run(body, X, NOTHING, grid=2)
    if not collide:
        run(body, X, NOTHING, grid=2, whole_blocks=True)
        return
    with pytest.raises(DeviceError, match="blocks 0 and 1 of 2 store to the same bytes"):
        run(body, X, NOTHING, grid=2, whole_blocks=True)


def test_a_column_is_stored_as_one_row():
    """Eight elements of four bytes are a whole block: nothing lies behind the last one."""
    column = "!tile.tile<8x1xf32, ub>"
    body = f"""
    %b = tik.block_idx
    %o = arith.muli %b, %c8 : index
    %t = tile.load %x[%o] stride %c1 valid(%c8, %c1) : {G} -> {column}
    tile.store %t, %r[%o] stride %c1 : {column}, {G}"""
    whole = run(body, X, NOTHING, grid=2, whole_blocks=True)
    np.testing.assert_array_equal(whole, run(body, X, NOTHING, grid=2))


def test_branches():
    body = f"""
    scf.for %i = %c0 to %c4 step %c1 {{
      %rest = arith.remui %i, %c2 : index
      %even = arith.cmpi eq, %rest, %c0 : index
      scf.if %even {{
        %place = arith.muli %i, %c8 : index
        %t = tile.full 7.0 valid(%c1, %c1) : {UB}
        tile.store %t, %r[%place] stride %c8 : {UB}, {G}
        scf.yield
      }}
      scf.yield
    }}"""
    made = result(body, NOTHING)
    np.testing.assert_array_equal(made[:, 0], [7, -1, 7, -1])


@pytest.mark.parametrize(
    "text", ["add %t, %t", "mul %t, 0.1", "exp %t", "div 1.0, %t"], ids=lambda text: text[:3]
)
def test_intervals_hold_what_arrays_give(text):
    x = DRAW.normal(0, 1, (4, 8)).astype(np.float32)
    count = text.count("%")
    body = f"""
    {LOAD}
    %u = tile.apply {text} : {", ".join([UB] * count)} -> {UB}
    %v = tile.reduce sum %u axis 1 : {UB} -> !tile.tile<4x1xf32, ub>
    tile.store %v, %r[%c0] stride %c1 : !tile.tile<4x1xf32, ub>, {G}"""
    target = np.zeros(3, np.float32)
    value, low, high = run(body, x, target, numbers=IntervalNumbers())
    made = result(body, x, target)
    assert (low <= made).all()
    assert (made <= high).all()
    np.testing.assert_allclose(value, made, rtol=1e-5)
    assert (high - low < 1e-3 * np.abs(value)).all()


@pytest.mark.parametrize("saturates", [False, True])
def test_intervals_of_products(saturates):
    a, b = (A * 100).astype(np.float16), (B * 100).astype(np.float16)
    stored = "tile.store %total, %r[%c0] stride %n : !tile.tile<16x16xf32, l0c>, !tile.global<f16>"
    ub = "!tile.tile<16x16xf16, ub>"
    drained = f"""%d = tile.drain %total : !tile.tile<16x16xf32, l0c> -> {ub}
    tile.store %d, %r[%c0] stride %n : {ub}, !tile.global<f16>"""
    body = product(a, b, stored if saturates else drained)
    empty = np.zeros((5, 7), np.float16)
    _, low, high = run(body, a, b, empty, numbers=IntervalNumbers())
    made = result(body, a, b, empty).reshape(-1).astype(np.float64)
    assert (low <= made).all()
    assert (made <= high).all()
    assert np.isinf(high).any() != saturates


def test_intervals_know_nothing_of_garbage():
    body = f"""
    %t = tile.load %x[%c0] stride %c8 valid(%c3, %c5) : {G} -> {UB}
    %u = tile.load %x[%c0] stride %c8 valid(%c3, %c4) : {G} -> {UB}
    %v = tile.apply add %t, %u : {UB}, {UB} -> {UB}
    tile.store %v, %r[%c0] stride %c8 : {UB}, {G}"""
    _, low, high = run(body, X, NOTHING, numbers=IntervalNumbers())
    assert (low[4], high[4]) == (-np.inf, np.inf)
    assert np.isfinite([low[3], high[3]]).all()


@pytest.mark.parametrize("dtype", [I1, I32], ids=str)
def test_garbage_of_integers(dtype):
    (exact,) = ExactNumbers().garbage((4, 8), dtype)
    assert len(np.unique(exact)) == (2 if dtype is I1 else 1)
    _, low, high = IntervalNumbers().garbage((4, 8), dtype)
    assert low.min() < high.max()
