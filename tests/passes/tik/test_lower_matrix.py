"""Matrix products of tiles, run on instruction meanings and under the checker."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.dialects import tile
from pypto.dialects.context import make_context
from pypto.errors import CompileError
from pypto.passes.tik.lower_to_tik import LowerToTik
from pypto.target.dtypes import DTYPES, F32
from pypto.target.memory import BLOCK_BYTES, Space
from tests.passes.tik.tile_runner import TileKernel, outcome

SPLIT, COUPLED = "ascend910b1", "ascend910a"
RANDOM = np.random.default_rng(3)


def product(
    a: np.ndarray,
    b: np.ndarray,
    result: str,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    tiles: tuple[int, int, int, int] = (32, 48, 16, 32),
    slots: int = 2,
    result_slots: int = 1,
    relu: bool = False,
    soc: str = SPLIT,
) -> np.ndarray:
    """a @ b in tiles of (m, n, k in L0, k in L1), operands transposed in memory if so said."""
    rows, depth = a.shape[::-1] if transpose_a else a.shape
    columns = b.shape[0] if transpose_b else b.shape[1]
    tile_m, tile_n, tile_k, tile_l1 = tiles
    element = next(d for d in DTYPES.values() if d.numpy == a.dtype)

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit

        def loaded(handle, transposed, start, valid, shape, width):
            if transposed:
                start, valid, shape = start[::-1], valid[::-1], shape[::-1]
            place = emit.add(emit.mul(start[0], width), start[1])
            return kernel.load(handle, shape, valid, place, width, space=Space.L1)

        def extracted(packet, transposed, start, valid, shape, space):
            places = start[::-1] if transposed else start
            type = tile.TileType(*shape, element, space)
            operands = map(emit.index, (*places, *valid))
            return emit.value(
                tile.ExtractOp, packet, *operands, type, transpose=transposed, slots=slots
            )

        down, across = -(-rows // tile_m), -(-columns // tile_n)
        with emit.for_(0, down) as i, emit.for_(0, across) as j:
            row, column = emit.mul(i.index, tile_m), emit.mul(j.index, tile_n)
            m = emit.min(tile_m, emit.sub(rows, row))
            n = emit.min(tile_n, emit.sub(columns, column))
            total = emit.value(
                tile.AccumulatorOp,
                emit.index(m),
                emit.index(n),
                tile.TileType(tile_m, tile_n, F32, Space.L0C),
                slots=result_slots,
            )
            with emit.for_(0, -(-depth // tile_l1), [total]) as packets:
                first = emit.mul(packets.index, tile_l1)
                span = emit.min(tile_l1, emit.sub(depth, first))
                packet_a = loaded(
                    handles[0], transpose_a, (row, first), (m, span), (tile_m, tile_l1), a.shape[1]
                )
                packet_b = loaded(
                    handles[1], transpose_b, (first, column), (span, n), (tile_l1, tile_n),
                    b.shape[1],
                )  # fmt: skip
                with emit.for_(0, emit.ceil_div(span, tile_k), packets.args) as steps:
                    inner = emit.mul(steps.index, tile_k)
                    k = emit.min(tile_k, emit.sub(span, inner))
                    left = extracted(
                        packet_a, transpose_a, (0, inner), (m, k), (tile_m, tile_k), Space.L0A
                    )
                    right = extracted(
                        packet_b, transpose_b, (inner, 0), (k, n), (tile_k, tile_n), Space.L0B
                    )
                    init = emit.index(emit.equal(emit.add(first, inner), 0))
                    steps.yield_(emit.value(tile.MmaOp, steps.args[0], left, right, init))
                packets.yield_(*steps.results)
            place = emit.add(emit.mul(row, columns), column)
            total = packets.results[0]
            if soc == SPLIT:
                kernel.store(total, handles[2], place, columns, relu=relu)
                return
            drained = emit.value(
                tile.DrainOp, total, kernel.type(tile_m, tile_n, result), relu=relu
            )
            shared = columns * DTYPES[result].bytes % BLOCK_BYTES != 0
            kernel.store(drained, handles[2], place, columns, merge=shared)

    core = "cube" if soc == SPLIT else "aicore"
    kernel = TileKernel(body, core=core, slots=slots, soc=soc)
    return outcome(kernel, [a, b], (rows, columns), DTYPES[result].numpy)


def matrix(name: str, rows: int, columns: int) -> np.ndarray:
    return RANDOM.integers(-4, 5, (rows, columns)).astype(DTYPES[name].numpy)


def exact(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) @ b.astype(np.float32)


SHAPES = [(1, 1, 1), (1, 70, 33), (7, 5, 9), (16, 16, 16), (33, 50, 40), (40, 20, 70), (65, 97, 3)]


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_products(
    shape: tuple[int, int, int], transpose_a: bool, transpose_b: bool, name: str
) -> None:
    m, k, n = shape
    a, b = matrix(name, m, k), matrix(name, k, n)
    got = product(
        a.T.copy() if transpose_a else a,
        b.T.copy() if transpose_b else b,
        "f32",
        transpose_a=transpose_a,
        transpose_b=transpose_b,
    )
    np.testing.assert_array_equal(got, exact(a, b))


@pytest.mark.parametrize("tiles", [(16, 16, 16, 16), (128, 32, 64, 64), (16, 128, 32, 96)])
@pytest.mark.parametrize(("slots", "result_slots"), [(1, 1), (2, 1), (2, 2)])
def test_tiles_and_slots(tiles: tuple[int, int, int, int], slots: int, result_slots: int) -> None:
    a, b = matrix("f16", 50, 100), matrix("f16", 100, 70)
    got = product(a, b, "f32", tiles=tiles, slots=slots, result_slots=result_slots)
    np.testing.assert_array_equal(got, exact(a, b))


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("shape", [*SHAPES, (48, 64, 48), (1, 64, 557), (7, 16, 200)])
@pytest.mark.parametrize("result", ["f16", "f32"])
def test_products_in_whole_blocks(
    shape: tuple[int, int, int], transpose_a: bool, transpose_b: bool, result: str
) -> None:
    """Results that leave L0C through UB, loads and stores of whole 32-byte blocks."""
    m, k, n = shape
    a, b = matrix("f16", m, k), matrix("f16", k, n)
    got = product(
        a.T.copy() if transpose_a else a,
        b.T.copy() if transpose_b else b,
        result,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        soc=COUPLED,
    )
    np.testing.assert_array_equal(got, exact(a, b).astype(DTYPES[result].numpy))


@pytest.mark.parametrize("tiles", [(16, 16, 16, 16), (128, 32, 64, 64), (16, 128, 32, 96)])
@pytest.mark.parametrize(("slots", "result_slots"), [(1, 1), (2, 2)])
def test_tiles_and_slots_of_coupled_cores(
    tiles: tuple[int, int, int, int], slots: int, result_slots: int
) -> None:
    a, b = matrix("f16", 50, 100), matrix("f16", 100, 70)
    got = product(
        a, b, "f16", tiles=tiles, slots=slots, result_slots=result_slots, relu=True, soc=COUPLED
    )
    np.testing.assert_array_equal(got, np.maximum(exact(a, b), 0).astype(np.float16))


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_results_are_rounded_on_the_way_out(name: str) -> None:
    a, b = matrix(name, 20, 30), matrix(name, 30, 25)
    wanted = np.maximum(exact(a, b), 0).astype(DTYPES[name].numpy)
    np.testing.assert_array_equal(product(a, b, name, relu=True), wanted)


def test_rows_too_far_apart_for_one_transfer() -> None:
    a, b = matrix("f16", 3, 20), matrix("f16", 20, 70000)

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        sizes = (3, 20), (20, 32)
        left = kernel.load(handles[0], (16, 32), sizes[0], 0, 20, space=Space.L1)
        right = kernel.load(handles[1], (32, 32), sizes[1], 69968, 70000, space=Space.L1)
        factors = []
        for packet, valid, shape, space in (
            (left, sizes[0], (16, 32), Space.L0A),
            (right, sizes[1], (32, 32), Space.L0B),
        ):
            type = tile.TileType(*shape, DTYPES["f16"], space)
            operands = map(emit.index, (0, 0, *valid))
            factors.append(emit.value(tile.ExtractOp, packet, *operands, type))
        total = emit.value(
            tile.AccumulatorOp,
            *map(emit.index, (3, 32)),
            tile.TileType(16, 32, F32, Space.L0C),
        )
        total = emit.value(tile.MmaOp, total, *factors, emit.index(1))
        kernel.store(total, handles[2], 0, 32)

    got = outcome(TileKernel(body, core="cube"), [a, b], (3, 32), np.float32)
    np.testing.assert_array_equal(got, exact(a, b[:, 69968:]))


@pytest.mark.parametrize(
    ("soc", "granule", "dtype", "message", "fix"),
    [
        (COUPLED, 16, "bf16", "an accumulator drained as bf16", "drain it as f16 or f32"),
        (
            COUPLED,
            8,
            "f16",
            "an accumulator drained to rows that begin at multiples of 8 elements",
            "give the kernel tile.granule = 16",
        ),
        (COUPLED, 16, None, "an accumulator stored from l0c", "drain it to ub: tile.drain"),
        (SPLIT, 16, "f16", "an accumulator drained to ub", "store it from l0c"),
    ],
)
def test_ways_out_that_a_machine_lacks(
    soc: str, granule: int, dtype: str | None, message: str, fix: str
) -> None:
    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        extents = map(emit.index, (16, 16))
        total = emit.value(tile.AccumulatorOp, *extents, kernel.type(16, 16, "f32", Space.L0C))
        if dtype is not None:
            total = emit.value(tile.DrainOp, total, kernel.type(16, 16, dtype))
        kernel.store(total, handles[0], 0, 16)

    kernel = TileKernel(body, core="cube", granule=granule, soc=soc)
    module = kernel.module([DTYPES[dtype or "f16"]])
    with pytest.raises(CompileError) as caught:
        LowerToTik().apply(make_context(), module)
    assert caught.value.message == f"kernel kernel: {soc} lacks instructions for {message}"
    assert caught.value.fix == fix
