"""Transfers in whole blocks: values arrive, neighbours stay, and flags order what overlaps."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.dialects import tik, tile
from pypto.errors import CompileError
from pypto.passes.tile.alignment import Tail
from pypto.target.dtypes import DTYPES
from pypto.target.soc import soc
from tests.passes.tik.tile_runner import TileKernel, dtype, lowered, outcome, run

SOC = "ascend910a"
WIDTH = 1 << 12
SIZES = ["u8", "f16", "f32", "i64"]


def draw(name: str, *shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 100, shape).astype(DTYPES[name].numpy)


def coupled(body, granule: int = 32, slots: int = 1) -> TileKernel:
    return TileKernel(body, "aicore", granule, slots, SOC)


def into_background(tail: Tail, rows: int, columns: int, stride: int, dynamic: bool):
    """Store a tile among elements that have been stored before."""

    def body(kernel: TileKernel, handles, scalars) -> None:
        valid = tuple(scalars) if dynamic else (rows, columns)
        behind = kernel.load(handles[1], (1, WIDTH), (1, WIDTH))
        kernel.store(behind, handles[2])
        part = kernel.load(handles[0], (rows, max(columns, 2)), valid, 0, valid[1])
        marks = {str(tail): True} if tail is not Tail.FREE else {}
        kernel.store(part, handles[2], 5, stride, **marks)

    return body


def check_background(name: str, tail: Tail, rows: int, columns: int, stride: int, dynamic: bool):
    x, wanted = draw(name, rows, columns), draw(name, WIDTH)[::-1].copy()
    inputs = [x, wanted.copy()]
    scalars = [rows, columns] if dynamic else []
    kernel = coupled(into_background(tail, rows, columns, stride, dynamic))
    got = outcome(kernel, inputs, (WIDTH,), x.dtype, scalars)
    for row in range(rows):
        wanted[5 + row * stride : 5 + row * stride + columns] = x[row]
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(
    ("rows", "columns", "stride"),
    [(1, 1, 0), (1, 7, 0), (9, 1, 1), (9, 1, 3), (9, 3, 3), (9, 5, 37), (7, 37, 37), (7, 35, 64)],
)
def test_elements_behind_rows_are_written_back(name, rows, columns, stride, dynamic) -> None:
    check_background(name, Tail.MERGE, rows, columns, stride, dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    ("name", "columns"), [("u8", 65), ("u8", 95), ("u8", 96), ("f16", 33), ("f32", 37), ("i64", 9)]
)
@pytest.mark.parametrize(("rows", "gap"), [(1, 0), (6, 0), (6, 3)])
def test_elements_behind_rows_are_not_touched(name, columns, rows, gap, dynamic) -> None:
    check_background(name, Tail.EXACT, rows, columns, columns + gap, dynamic)


@pytest.mark.parametrize(
    ("name", "rows", "columns"),
    [("f32", 2, 9), ("f32", 9, 15), ("f32", 8, 5), ("f32", 40, 1), ("f16", 8, 5), ("f16", 4, 31),
     ("u8", 64, 1), ("u8", 200, 3), ("i64", 4, 3), ("i64", 6, 7)],
)  # fmt: skip
def test_short_rows_are_stored_as_one(name, rows, columns) -> None:
    check_background(name, Tail.EXACT, rows, columns, columns, dynamic=False)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    ("rows", "columns", "stride"), [(1, 32, 0), (6, 32, 64), (6, 64, 64), (6, 32, 35), (6, 64, 67)]
)
@pytest.mark.parametrize("name", SIZES)
def test_whole_blocks_need_no_care(name, rows, columns, stride, dynamic) -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        valid = tuple(scalars) if dynamic else (rows, columns)
        part = kernel.load(handles[0], (rows, columns), valid, 0, valid[1])
        kernel.store(part, handles[1], 5, stride)

    x = draw(name, rows, columns)
    got = outcome(coupled(body), [x], (WIDTH,), x.dtype, [rows, columns] if dynamic else [])
    held = np.arange(rows)[:, None] * stride + np.arange(columns) + 5
    np.testing.assert_array_equal(got[held], x)
    assert (np.delete(got, held).view(np.uint8) == 0xFF).all()


def test_short_rows_of_two_cores() -> None:
    """The second core has the fewer rows, as many as it takes."""

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        row = emit.mul(emit.value(tik.BlockIndexOp), 9)
        held = emit.min(9, emit.sub(scalars[0], row))
        place = emit.mul(row, 5)
        part = kernel.load(handles[0], (9, 5), (held, 5), place, 5)
        kernel.store(part, handles[1], place, 5, exact=True)

    x = draw("f32", 13, 5)
    got = outcome(coupled(body, 8), [x], (13, 5), np.float32, [13], grid=2)
    np.testing.assert_array_equal(got, x)


def rows_of_two_cores(tail: Tail):
    """Every core stores every second row of 37 elements."""

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        place = emit.mul(emit.value(tik.BlockIndexOp), 37)
        part = kernel.load(handles[0], (4, 37), (4, 37), place, 74)
        kernel.store(part, handles[1], place, 74, **{str(tail): True})

    return coupled(body, 8)


def test_cores_may_share_blocks_that_are_not_touched() -> None:
    x = draw("f32", 8, 37)
    got = outcome(rows_of_two_cores(Tail.EXACT), [x], (8, 37), np.float32, grid=2)
    np.testing.assert_array_equal(got, x)


def test_cores_may_not_share_blocks_that_are_written_back() -> None:
    x = draw("f32", 8, 37)
    made = run(rows_of_two_cores(Tail.MERGE), [x, np.zeros_like(x)], grid=2)
    assert any("core" in str(hazard) for hazard in made.hazards)


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("tail", [Tail.EXACT, Tail.MERGE])
def test_tiles_follow_each_other(tail: Tail, slots: int) -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        with emit.for_(0, scalars[0]) as loop:
            place = emit.mul(loop.index, 3 * 37)
            part = kernel.load(handles[0], (3, 37), (3, 37), place, 37)
            kernel.store(part, handles[1], place, 37, **{str(tail): True})

    x = draw("f32", 12, 37)
    got = outcome(coupled(body, 8, slots), [x], (12, 37), np.float32, [4])
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("stride", [16, 17])
def test_more_rows_than_a_transfer_has_bursts(stride: int) -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        part = kernel.load(handles[0], (4500, 8), (scalars[0], 8), 0, stride)
        kernel.store(part, handles[1], 0, 8)

    x = draw("f32", 4500, stride)
    got = outcome(coupled(body, 8), [x], (4500, 8), np.float32, [4500])
    np.testing.assert_array_equal(got, x[:, :8])


@pytest.mark.parametrize("name", ["i8", "u8", "f16", "f32", "i32"])
@pytest.mark.parametrize(("rows", "step"), [(1, 3), (9, 2), (150, 3), (260, 16)])
def test_scattered_elements_become_neighbours(name: str, rows: int, step: int) -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        column = kernel.load(handles[0], (rows, 1), (scalars[0], 1), 1, step)
        kernel.store(column, handles[1], 0, 1)

    x = draw(name, rows, step)
    got = outcome(coupled(body), [x], (rows,), x.dtype, [rows])
    np.testing.assert_array_equal(got, x[:, 1])


@pytest.mark.parametrize("name", ["f16", "f32"])
def test_neighbours_become_scattered_elements(name: str) -> None:
    x, wanted = draw(name, 40), draw(name, WIDTH)[::-1].copy()

    def body(kernel: TileKernel, handles, scalars) -> None:
        kernel.store(kernel.load(handles[1], (1, WIDTH), (1, WIDTH)), handles[2])
        column = kernel.load(handles[0], (40, 1), (scalars[0], 1), 0, 1)
        kernel.store(column, handles[2], 3, 5, merge=True)

    got = outcome(coupled(body), [x, wanted.copy()], (WIDTH,), x.dtype, [40])
    wanted[3 : 3 + 40 * 5 : 5] = x
    np.testing.assert_array_equal(got, wanted)


def refused(body, *arrays: np.ndarray) -> str:
    module = coupled(body).module([dtype(array) for array in arrays])
    with pytest.raises(CompileError) as caught:
        lowered(module, soc(SOC))
    return str(caught.value)


def test_scattered_elements_of_64_bits_are_refused() -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        kernel.store(kernel.load(handles[0], (4, 1), (4, 1), 0, 3), handles[1], 0, 1)

    message = refused(body, draw("i64", 4, 3), draw("i64", 4))
    assert "a column of i64 elements that are no neighbours" in message
    assert "transpose first" in message


@pytest.mark.parametrize("name", ["f16", "f32", "i32"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (13, 21), (128, 9), (130, 64)])
def test_transposition(name: str, rows: int, columns: int) -> None:
    whole = (-(-rows // 128) * 128, -(-columns // 16) * 16)

    def body(kernel: TileKernel, handles, scalars) -> None:
        part = kernel.load(handles[0], whole, tuple(scalars), 0, columns)
        turned = kernel.emit.value(tile.TransposeOp, part)
        kernel.store(turned, handles[1], 0, rows, merge=True)

    x = draw(name, rows, columns)
    got = outcome(coupled(body, 16), [x], (columns, rows), x.dtype, [rows, columns])
    np.testing.assert_array_equal(got, x.T)


def test_arithmetic_with_a_transpose_meets_numbers_only() -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        part = kernel.load(handles[0], (128, 16), (21, 13), 0, 13)
        turned = kernel.emit.value(tile.TransposeOp, part)
        kernel.store(kernel.apply("add", turned, 1.0), handles[1], 0, 21, exact=True)

    x = draw("f32", 21, 13)
    got = outcome(coupled(body, 8), [x], (13, 21), np.float32)
    np.testing.assert_array_equal(got, x.T + 1)


@pytest.mark.parametrize(
    ("name", "groups"), [("f16", "multiples of 16 and 16"), ("f32", "multiples of 128 and 8")]
)
def test_transposes_of_parts_of_groups_are_refused(name: str, groups: str) -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        part = kernel.load(handles[0], (24, 20), (24, 20), 0, 20)
        kernel.store(kernel.emit.value(tile.TransposeOp, part), handles[1], 0, 24)

    message = refused(body, draw(name, 24, 20), draw(name, 20, 24))
    assert f"a transpose of 24x20 {name} elements" in message
    assert groups in message


def test_short_rows_with_gaps_are_refused() -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        part = kernel.load(handles[0], (9, 5), (9, 5), 0, 5)
        kernel.store(part, handles[1], 0, 7, exact=True)

    message = refused(body, draw("f32", 9, 5), draw("f32", 9, 7))
    assert "rows of 20 bytes that leave what lies behind them alone" in message
    assert "store them with merge, on one core" in message
