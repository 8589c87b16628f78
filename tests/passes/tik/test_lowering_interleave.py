"""Elements that move between lanes by transpositions of squares of 16-bit words."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.dialects.tile_types import TileType
from pypto.passes.tik import lowering_interleave as interleave
from pypto.passes.tik.lowering_state import Lowering, Tile
from pypto.target.dtypes import DTYPES
from pypto.target.memory import Space
from tests.passes.tik.tik_runner import run_on, trace_of

MACHINE = "ascend910a"
UB = 248 * 1024


def memory_with(values: np.ndarray) -> np.ndarray:
    """UB with an array at its start and rubbish behind it."""
    memory = np.random.default_rng(5).integers(0, 256, UB, np.uint8)
    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    memory[: data.size] = data
    return memory


def numbers(dtype: np.dtype, *shape: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 2**15, shape).astype(dtype)


@pytest.mark.parametrize("apart", [1, 3])
@pytest.mark.parametrize("elements", [1, 8])
def test_element_vectors(apart: int, elements: int) -> None:
    rows = numbers(np.dtype(np.uint32), 128, apart * 8)
    start = rows.nbytes

    def body(state: Lowering, scalar) -> None:
        blocks = state.temporary("blocks", rows.nbytes)
        out, words = (state.temporary(label, interleave.GROUP_BYTES) for label in ("out", "words"))
        interleave.element_vectors(state, blocks, apart, words, out, elements)

    memory = memory_with(rows)
    run_on(memory, trace_of(body, MACHINE))
    got = memory[start : start + elements * 512].view(np.uint32).reshape(elements, 128)
    np.testing.assert_array_equal(got, rows[:, :elements].T)


@pytest.mark.parametrize("name", ["f16", "i32"])
@pytest.mark.parametrize("rows", [1, 7, 16, 129, 300])
def test_first_elements(name: str, rows: int) -> None:
    dtype = DTYPES[name]
    group = interleave.rows_in_group(dtype)
    blocks = numbers(dtype.numpy, -(-rows // group) * group, 32 // dtype.bytes)

    def body(state: Lowering, scalar) -> None:
        source = state.temporary("source", blocks.nbytes)
        out = state.temporary("out", 2048)
        interleave.first_elements(state, source, scalar, rows, dtype, out)

    memory = memory_with(blocks)
    run_on(memory, trace_of(body, MACHINE, rows))
    got = memory[blocks.nbytes : blocks.nbytes + rows * dtype.bytes].view(dtype.numpy)
    np.testing.assert_array_equal(got, blocks[:rows, 0])


@pytest.mark.parametrize("name", ["f16", "i32"])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, 300])
def test_element_blocks(name: str, rows: int) -> None:
    dtype = DTYPES[name]
    vector = numbers(dtype.numpy, rows)
    type = TileType(rows, 1, dtype, Space.UB)

    def body(state: Lowering, scalar) -> None:
        buffer = state.allocate("source", Space.UB, state.bytes_of(type))
        source = Tile(type, scalar, 1, 1, scalar, state.acquire(buffer), buffer)
        blocks = interleave.element_blocks(state, source)
        # An instruction that tells where the blocks are.
        state.emit.instruction("copy_ubuf_to_ubuf.b32", dst=source.pointer, src=blocks, length=0)

    trace = trace_of(body, MACHINE, rows)
    start = trace[-1][1]["src"]
    memory = memory_with(vector)
    run_on(memory, trace[:-1])
    count = 32 // dtype.bytes
    got = memory[start : start + rows * 32].view(dtype.numpy).reshape(rows, count)
    np.testing.assert_array_equal(got, np.repeat(vector[:, None], count, 1))


@pytest.mark.parametrize(
    ("name", "shape"), [("f16", (32, 48)), ("i32", (128, 24)), ("f32", (256, 8))]
)
@pytest.mark.parametrize("less", [0, 3])
def test_transposed_tiles(name: str, shape: tuple[int, int], less: int) -> None:
    """With all rows and columns of the shape valid, and with fewer."""
    dtype, granule = DTYPES[name], 16
    rows, columns = (extent - less for extent in shape)
    types = [TileType(*extents, dtype, Space.UB) for extents in (shape, shape[::-1])]
    x = numbers(dtype.numpy, shape[0], -(-columns // granule) * granule)

    def body(state: Lowering, scalar) -> None:
        buffers = [state.allocate("tile", Space.UB, state.bytes_of(type)) for type in types]
        valid_rows = state.emit.sub(scalar, less)
        source = state.tile(types[0], valid_rows, columns, buffers[0])
        out = state.tile(types[1], columns, valid_rows, buffers[1])
        interleave.transpose_tile(state, source, out)
        state.emit.instruction("copy_ubuf_to_ubuf.b32", dst=out.pointer, src=out.pointer, length=0)

    trace = trace_of(body, MACHINE, shape[0])
    memory = memory_with(x)
    run_on(memory, trace[:-1])
    pitch = -(-rows // granule) * granule
    start = trace[-1][1]["dst"]
    got = memory[start : start + columns * pitch * dtype.bytes].view(dtype.numpy)
    np.testing.assert_array_equal(got.reshape(columns, pitch)[:, :rows], x[:rows, :columns].T)
