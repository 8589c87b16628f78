"""Moves, broadcasts, reductions, positions and carried tiles, run on instruction meanings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pypto.dialects import tile
from pypto.dialects.emitter import Index
from pypto.errors import CompileError
from pypto.target.dtypes import DTYPES
from pypto.target.soc import soc
from tests.passes.tik.tile_runner import (
    COUPLED,
    SPLIT,
    TileKernel,
    lowered,
    outcome,
    run,
    vector_kernel,
)

NUMPY = {name: dtype.numpy for name, dtype in DTYPES.items()}
RANDOM = np.random.default_rng(11)


def drawn(*names: str) -> list:
    """Element types with static and dynamic extents; `make test` leaves out half of them."""
    return [
        pytest.param(name, dynamic, marks=[] if dynamic or name == "f32" else pytest.mark.full)
        for name in names
        for dynamic in (False, True)
    ]


def drawn_for_all(*names: str) -> list:
    """The same for each machine in turn: names it has vectors of."""
    both = [pytest.param(*p.values, SPLIT, marks=p.marks) for p in drawn(*names)]
    coupled = [name for name in names if name not in ("bf16", "i64")]
    return both + [pytest.param(*p.values, COUPLED, marks=p.marks) for p in drawn(*coupled)]


def values(name: str, *shape: int) -> np.ndarray:
    """Small whole numbers: sums of them are exact in any order."""
    if name == "i1":
        return RANDOM.integers(0, 2, shape).astype(bool)
    low = 0 if name == "u8" else -20
    return RANDOM.integers(low, 20, shape).astype(NUMPY[name])


def one_tile(
    compute: Callable,
    inputs: list[np.ndarray],
    shape: tuple[int, ...],
    result: str,
    *,
    shapes: list[tuple[int, int]] | None = None,
    dynamic: bool = False,
    granule: int = 16,
    machine: str = SPLIT,
) -> np.ndarray:
    """``compute(kernel, *tiles)`` on whole arrays; ``dynamic``: extents come as arguments."""
    shapes = shapes or [x.shape for x in inputs]
    extents = [n for x in inputs for n in x.shape]

    def body(kernel: TileKernel, handles, scalars) -> None:
        sizes: list[Index] = list(scalars) if dynamic else list(extents)
        tiles = []
        for handle, held in zip(handles[:-1], shapes, strict=True):
            rows, columns = sizes.pop(0), sizes.pop(0)
            tiles.append(kernel.load(handle, held, (rows, columns), 0, stride_of(columns, held)))
        made = compute(kernel, *tiles)
        kernel.store_beside(made, handles[-1], 0, stride_of(shape[1], tile.tile_type(made).shape))

    kernel = vector_kernel(body, machine, granule)
    return outcome(kernel, inputs, shape, NUMPY[result], extents if dynamic else [])


def stride_of(columns: Index, held: tuple[int, int]) -> Index:
    return 1 if held[1] == 1 else columns


@pytest.mark.parametrize(("name", "dynamic"), drawn(*DTYPES))
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (3, 7), (7, 1), (5, 32), (2, 130)])
def test_tiles_come_back(shape: tuple[int, int], name: str, dynamic: bool) -> None:
    x = values(name, *shape)
    got = one_tile(lambda k, a: a, [x], shape, name, dynamic=dynamic, granule=32)
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("name", ["f16", "f32", "i32", "i16"])
@pytest.mark.parametrize("machine", [SPLIT, COUPLED])
def test_strided_columns(name: str, machine: str) -> None:
    x = values(name, 9, 5)

    def body(kernel: TileKernel, handles, scalars) -> None:
        column = kernel.load(handles[0], (9, 1), (9, 1), 2, 5)
        kernel.store_beside(column, handles[1], 1, 5)

    got = outcome(vector_kernel(body, machine), [x], (9, 5), NUMPY[name])
    np.testing.assert_array_equal(got[:, 1], x[:, 2])


def test_more_rows_than_a_transfer_has_bursts() -> None:
    x = values("f16", 4500, 3)
    got = one_tile(lambda k, a: a, [x], (4500, 3), "f16", dynamic=True)
    np.testing.assert_array_equal(got, x)


def test_rows_that_overlap_are_an_error() -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        kernel.store(kernel.load(handles[0], (4, 8), (4, 8), 0, 3), handles[1], 0, 8)

    module = TileKernel(body).module([DTYPES["f32"]] * 2)
    with pytest.raises(CompileError, match="begin 3 elements apart"):
        lowered(module, soc())


@pytest.mark.parametrize(
    ("name", "dynamic", "machine"), drawn_for_all("f16", "f32", "i32", "bf16", "i1")
)
@pytest.mark.parametrize(("small", "large"), [
    ((1, 1), (1, 40)), ((1, 1), (6, 20)), ((1, 1), (9, 1)), ((1, 40), (7, 40)),
    ((1, 300), (3, 300)), ((7, 1), (7, 40)), ((3, 1), (3, 300)),
    ((300, 1), (300, 9)), ((1, 9), (300, 9)), ((100, 1), (100, 150)), ((1, 150), (100, 150)),
])  # fmt: skip
def test_broadcasts(
    small: tuple[int, int], large: tuple[int, int], name: str, dynamic: bool, machine: str
) -> None:
    x, like = values(name, *small), values(name, *large)

    def compute(kernel: TileKernel, a, b):
        valid = tile.valid_shape(b)
        return kernel.broadcast(a, large, valid)

    granule = 32 if name == "i1" else 16
    got = one_tile(
        compute, [x, like], large, name, dynamic=dynamic, granule=granule, machine=machine
    )
    np.testing.assert_array_equal(got, np.broadcast_to(x, large))


@pytest.mark.parametrize("name", ["f16", "f32", "i32"])
@pytest.mark.parametrize("small", [(1, 1), (1, 40), (7, 1)])
@pytest.mark.parametrize("large", [(7, 40), (7, 300), (300, 40), (3, 4000)])
@pytest.mark.parametrize(("left", "machine"), [(False, SPLIT), (True, SPLIT), (True, COUPLED)])
def test_arithmetic_with_a_row_or_column(
    small: tuple[int, int], large: tuple[int, int], name: str, left: bool, machine: str
) -> None:
    shape = tuple(1 if s == 1 else n for s, n in zip(small, large, strict=True))
    x, y = values(name, *shape), values(name, *large)

    def compute(kernel: TileKernel, a, b):
        many = kernel.broadcast(a, large, tile.valid_shape(b))
        return kernel.apply("sub", many, b) if left else kernel.apply("sub", b, many)

    got = one_tile(compute, [x, y], large, name, dynamic=True, machine=machine)
    np.testing.assert_array_equal(got, x - y if left else y - x)


@pytest.mark.parametrize("machine", [SPLIT, COUPLED])
def test_two_small_tiles_and_a_broadcast_with_other_readers(machine: str) -> None:
    x, y = values("f32", 1, 40), values("f32", 7, 1)

    def compute(kernel: TileKernel, a, b):
        rows, columns = (kernel.broadcast(t, (7, 40), (7, 40)) for t in (a, b))
        total = kernel.apply("add", rows, columns)
        return kernel.apply("mul", total, kernel.apply("exp", columns))

    got = one_tile(compute, [x, y], (7, 40), "f32", machine=machine)
    np.testing.assert_array_equal(got, (x + y) * np.exp(y.astype(np.float64)).astype(np.float32))


def test_a_carried_row_is_read_before_its_next_value() -> None:
    x = values("f32", 6, 40)

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        start = kernel.full(1.0, (1, 40), (1, 40), "f32")
        with emit.for_(0, 3, [start]) as loop:
            place = emit.mul(loop.index, 80)
            a = kernel.load(handles[0], (2, 40), (2, 40), place, 40)
            many = kernel.broadcast(loop.args[0], (2, 40), (2, 40))
            loop.yield_(kernel.apply("add", loop.args[0], 1.0))
            kernel.store(kernel.apply("mul", a, many), handles[1], place, 40)

    got = outcome(TileKernel(body, slots=2), [x], (6, 40), np.float32)
    np.testing.assert_array_equal(got, x * np.repeat([1, 2, 3], 2)[:, None].astype(np.float32))


REDUCE = {"sum": np.sum, "max": np.max, "min": np.min}


@pytest.mark.parametrize(("name", "dynamic", "machine"), drawn_for_all("f16", "f32", "i32"))
@pytest.mark.parametrize("kind", REDUCE)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [
    (1, 1), (1, 7), (7, 1), (3, 50), (50, 3), (9, 64), (5, 200), (40, 200), (1, 900), (300, 5),
    (300, 1), (2, 130),
])  # fmt: skip
def test_reductions(
    shape: tuple[int, int], axis: int, kind: str, name: str, dynamic: bool, machine: str
) -> None:
    x = values(name, *shape)
    wanted = REDUCE[kind](x.astype(np.int64), axis=axis, keepdims=True)

    def compute(kernel: TileKernel, a):
        return kernel.emit.value(tile.ReduceOp, kind, a, axis)

    got = one_tile(compute, [x], wanted.shape, name, dynamic=dynamic, machine=machine)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("machine", [SPLIT, COUPLED])
def test_wide_rows_are_folded_one_by_one(machine: str) -> None:
    x = values("f32", 2, 18000)

    def compute(kernel: TileKernel, a):
        return kernel.emit.value(tile.ReduceOp, "sum", a, 1)

    for dynamic in (False, True):
        got = one_tile(compute, [x], (2, 1), "f32", dynamic=dynamic, machine=machine)
        np.testing.assert_array_equal(got, x.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("shape", [(1, 5), (1, 64), (1, 300), (4, 20), (9, 1), (130, 1), (3, 70)])
@pytest.mark.parametrize("steps", [(0, 1), (1, 0), (-3, 7)])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("machine", [SPLIT, COUPLED])
def test_positions(
    shape: tuple[int, int], steps: tuple[int, int], dynamic: bool, machine: str
) -> None:
    rows, columns = np.indices(shape)
    wanted = 5 + rows * steps[0] + columns * steps[1]

    def body(kernel: TileKernel, handles, scalars) -> None:
        valid = (scalars[0], scalars[1]) if dynamic else shape
        made = kernel.iota(shape, valid, steps, scalars[2])
        kernel.store_beside(made, handles[0], 0, stride_of(shape[1], shape))

    got = outcome(vector_kernel(body, machine), [], shape, np.int32, [*shape, 5])
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["f16", "f32", "i16", "i32"])
def test_transposition_by_gather(name: str) -> None:
    x = values(name, 13, 21)
    size = DTYPES[name].bytes

    def compute(kernel: TileKernel, a):
        pitch = 32  # 21 rounded up to the granule
        offsets = kernel.iota((21, 13), (21, 13), (size, pitch * size))
        return kernel.emit.value(tile.GatherOp, a, offsets)

    got = one_tile(compute, [x], (21, 13), name)
    np.testing.assert_array_equal(got, x.T)


def test_gathering_is_an_error_where_nothing_gathers() -> None:
    def compute(kernel: TileKernel, a):
        return kernel.emit.value(tile.GatherOp, a, kernel.iota((4, 8), (4, 8), (2, 16)))

    with pytest.raises(CompileError, match="ascend910a lacks instructions for gathering") as caught:
        one_tile(compute, [values("f16", 4, 8)], (4, 8), "f16", machine=COUPLED)
    assert caught.value.fix == "transpose or slice whole rows instead"


@pytest.mark.parametrize(
    ("name", "machine"),
    [(n, SPLIT) for n in DTYPES] + [(n, COUPLED) for n in DTYPES if n not in ("bf16", "i64")],
)
def test_constants(name: str, machine: str) -> None:
    value = 1.5 if DTYPES[name].is_float else 1

    def body(kernel: TileKernel, handles, scalars) -> None:
        made = kernel.full(value, (3, 20), (3, scalars[0]), name)
        kernel.store_beside(made, handles[0], 0, 20)

    got = outcome(vector_kernel(body, machine, 32), [], (3, 20), NUMPY[name], [20])
    np.testing.assert_array_equal(got, np.full((3, 20), value, NUMPY[name]))


@pytest.mark.parametrize("trips", [0, 1, 2, 3, 5])
def test_a_running_maximum_stays_in_its_buffer(trips: int) -> None:
    x = values("f32", 5, 40)

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        start = kernel.full(-100.0, (1, 40), (1, 40), "f32")
        with emit.for_(0, scalars[0], [start]) as loop:
            row = kernel.load(handles[0], (1, 40), (1, 40), emit.mul(loop.index, 40))
            loop.yield_(kernel.apply("max", loop.args[0], row))
        kernel.store(loop.results[0], handles[1])

    got = outcome(TileKernel(body, slots=2), [x], (40,), np.float32, [trips])
    wanted = np.maximum.reduce(x[:trips], axis=0, initial=-100.0)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_carried_tiles_that_cannot_stay_in_place(trips: int) -> None:
    """The next value is read beside the old one, and two carried tiles change places."""
    x = values("f32", 1, 40)

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        a = kernel.load(handles[0], (1, 40), (1, 40))
        b = kernel.full(1.0, (1, 40), (1, 40), "f32")
        with emit.for_(0, scalars[0], [a, b, b]) as loop:
            p, q, total = loop.args
            larger = kernel.apply("add", p, 1.0)
            mixed = kernel.apply("add", larger, p)
            loop.yield_(q, p, kernel.apply("add", total, mixed))
        for number, value in enumerate(loop.results):
            kernel.store(value, handles[1], 40 * number)

    got = outcome(TileKernel(body, slots=2), [x], (3, 40), np.float32, [trips])
    p, q, total = x[0], np.ones(40, np.float32), np.ones(40, np.float32)
    for _ in range(trips):
        p, q, total = q, p, total + (p + 1 + p)
    np.testing.assert_array_equal(got, np.stack([p, q, total]))


@pytest.mark.parametrize("columns", [1, 7, 40, 150])
@pytest.mark.parametrize(("slots", "machine"), [(1, SPLIT), (2, SPLIT), (2, COUPLED)])
def test_softmax(columns: int, slots: int, machine: str) -> None:
    rows = 11
    x = RANDOM.standard_normal((rows, columns)).astype(np.float32)

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        shape = (4, columns)
        with emit.for_(0, 3) as loop:
            row = emit.mul(loop.index, 4)
            valid = (emit.min(4, emit.sub(rows, row)), columns)
            place = emit.mul(row, columns)
            a = kernel.load(handles[0], shape, valid, place, columns)
            largest = emit.value(tile.ReduceOp, "max", a, 1)
            shifted = kernel.apply("sub", a, kernel.broadcast(largest, shape, valid))
            powers = kernel.apply("exp", shifted)
            total = emit.value(tile.ReduceOp, "sum", powers, 1)
            kernel.store_beside(
                kernel.apply("div", powers, kernel.broadcast(total, shape, valid)),
                handles[1],
                place,
                columns,
            )

    got = outcome(vector_kernel(body, machine, slots=slots), [x], x.shape, np.float32)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(got, powers / powers.sum(axis=1, keepdims=True), rtol=1e-6)


def test_many_inputs_share_event_numbers() -> None:
    inputs = [values("f32", 700) for _ in range(7)]

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        with emit.for_(0, scalars[0]) as loop:
            place = emit.mul(loop.index, 100)
            total = kernel.load(handles[0], (1, 100), (1, 100), place)
            for handle in handles[1:-1]:
                total = kernel.apply("add", total, kernel.load(handle, (1, 100), (1, 100), place))
            kernel.store(total, handles[-1], place)

    got = outcome(TileKernel(body, slots=2), inputs, (700,), np.float32, [7])
    np.testing.assert_array_equal(got, sum(inputs))


@pytest.mark.parametrize("name", ["f32", "i1"])
@pytest.mark.parametrize("outputs", [4, 8])
def test_many_results_share_event_numbers(outputs: int, name: str) -> None:
    x = values(name, 700)

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        with emit.for_(0, scalars[0]) as loop:
            place = emit.mul(loop.index, 100)
            made = kernel.load(handles[0], (1, 100), (1, 100), place)
            for number, handle in enumerate(handles[1:]):
                operator = "xor" if name == "i1" else "add"
                made = kernel.apply(operator, made, number % 2)
                kernel.store(made, handle, place)

    results = [np.zeros(700, NUMPY[name]) for _ in range(outputs)]
    made = run(TileKernel(body, granule=32, slots=2), [x, *results], [7], outputs)
    assert not made.hazards, made.hazards[0]
    for number, got in enumerate(made.arrays[1:]):
        steps = (number + 1) // 2
        wanted = x ^ bool(steps % 2) if name == "i1" else x + steps
        np.testing.assert_array_equal(got, wanted)
