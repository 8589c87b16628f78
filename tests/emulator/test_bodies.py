"""One property for every row: the compiled body does what the row's meaning says."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.emulator.native import callable_at
from pypto.emulator.prepare import BODY_ARGUMENTS, prepare
from pypto.emulator.state import MEMORY_LIMITS, MEMORY_SCRATCH, MEMORY_TABLE_WIDTH
from pypto.emulator.tables import tables
from pypto.target.instruction import Instruction, Kind
from pypto.target.instructions import BY_MNEMONIC, INSTRUCTIONS, OPCODES
from pypto.target.instructions.move_meaning import ATOMIC_OPERATIONS, ATOMIC_TYPES, atomic_mode
from pypto.target.memory import SPACES, Space
from tests.target.samplers import MEMORY, SAMPLERS, Draw, random_memories

SCRATCH = np.zeros(2**20, np.uint8)
SEEDS = 12


def run_body(row: Instruction, fields: tuple[int, ...], memories: dict[Space, np.ndarray]) -> int:
    """Run the compiled body of a row on memories of bytes."""
    opcode = OPCODES[row.mnemonic]
    prepare([opcode], functional=True)
    values = np.array([wrapped(field) for field in fields], np.int64)
    table = np.zeros(MEMORY_TABLE_WIDTH, np.int64)
    for i, space in enumerate(SPACES):
        table[i] = memories[space].ctypes.data
        table[MEMORY_LIMITS + i] = memories[space].size
    table[MEMORY_SCRATCH] = SCRATCH.ctypes.data
    body = callable_at(int(tables().body[opcode]), BODY_ARGUMENTS)
    return body(values.ctypes.data, table.ctypes.data)


def wrapped(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def differing(row: Instruction, fields: tuple[int, ...], a: np.ndarray, b: np.ndarray) -> int:
    """Bytes that differ, NaNs of the destination's elements taken as equal."""
    unequal = a != b
    if not unequal.any() or not row.dtype.is_float:
        return int(unequal.sum())
    size = row.dtype.bytes
    start = fields[0] % size
    stop = start + (len(a) - start) // size * size
    nan = [np.isnan(x[start:stop].copy().view(row.dtype.numpy).astype(np.float32)) for x in (a, b)]
    both = np.repeat(nan[0] & nan[1], size)
    unequal[start:stop] &= ~both
    return int(unequal.sum())


def check(row: Instruction, draw: Draw, values: dict[str, int]) -> None:
    fields = row.family.make(**values)
    expected = random_memories(draw, fields)
    actual = {space: memory.copy() for space, memory in expected.items()}
    row.meaning(expected, fields, row)
    assert run_body(row, fields, actual) == 0
    for space in SPACES:
        assert differing(row, fields, expected[space], actual[space]) == 0, (space, fields)


@pytest.mark.parametrize("row", INSTRUCTIONS, ids=lambda row: row.mnemonic)
def test_a_body_does_what_its_row_means(row: Instruction) -> None:
    for seed in range(SEEDS):
        draw = Draw(row, 1000 + seed)
        check(row, draw, SAMPLERS[row.family.name](draw))


# Rows of vector families whose operands may lie anywhere: one of each way to compute.
NEIGHBOURS = ("vadd.f16", "vadd.i32", "vadds.i32", "vabs.f32", "vconv_f322f16r", "vcopy.u32")


@pytest.mark.parametrize("mnemonic", NEIGHBOURS)
@pytest.mark.parametrize("count", [1, 64, 100, 112, 129, 200])
def test_operands_may_end_where_the_next_begins(mnemonic: str, count: int) -> None:
    """Counted elements touch no byte of a neighbour, though whole repeats of them would."""
    row = BY_MNEMONIC[mnemonic]
    step = (count * max(row.dtype.bytes, row.source_dtype.bytes) + 31) // 32 * 32
    for order in ((0, 1, 2), (1, 0, 2), (2, 1, 0)):
        places = [1024 + place * step for place in order]
        addresses = [f.name for f in row.fields if f.kind is Kind.ADDRESS]
        values = dict(zip(addresses, places, strict=False))
        values |= {f.name: 5 for f in row.fields if f.kind is Kind.SCALAR}
        check(row, Draw(row, count), {**values, "mask_mode": 1, "mask_high": 0, "mask_low": count})


CROWDED = (
    *NEIGHBOURS, "vconv_f162f32", "vsel.f16", "vcadd.f16", "vcgmax.f32", "vcmpv_lt.f16",
    "vcmpvs_ge.f32",
)  # fmt: skip


@pytest.mark.parametrize("mnemonic", CROWDED)
def test_a_repeat_reads_before_it_writes(mnemonic: str) -> None:
    """Operands over one another in any way: also where the machine leaves the result open."""
    row = BY_MNEMONIC[mnemonic]
    for seed in range(60):
        draw = Draw(row, 5000 + seed)
        values = SAMPLERS[row.family.name](draw)
        spread = draw.choose(4, 16, 64)
        for field in row.fields:
            if field.kind is Kind.ADDRESS:
                values[field.name] = 4096 + 32 * draw.number(0, spread)
        check(row, draw, values)


@pytest.mark.parametrize("dtype", ATOMIC_TYPES, ids=str)
@pytest.mark.parametrize("operation", ATOMIC_OPERATIONS[1:])
def test_atomic_stores(operation: str, dtype: object) -> None:
    row = BY_MNEMONIC["copy_ubuf_to_gm_align.b32"]
    rng = np.random.default_rng(3)
    memories = {space: np.zeros(MEMORY, np.uint8) for space in SPACES}
    for space in (Space.UB, Space.GM):
        numbers = rng.integers(-100, 100, 512).astype(dtype.numpy).view(np.uint8)
        memories[space][: numbers.size] = numbers
    actual = {space: memory.copy() for space, memory in memories.items()}
    mode = atomic_mode(operation, dtype)
    fields = row.family.make(dst=0, src=64, bursts=3, length=96, dst_gap=8, atomic=mode)
    row.meaning(memories, fields, row)
    assert run_body(row, fields, actual) == 0
    assert np.array_equal(actual[Space.GM], memories[Space.GM])


def test_a_gather_beyond_ub_tells_the_address() -> None:
    row = BY_MNEMONIC["vgather.u32"]
    memories = {space: np.zeros(1024, np.uint8) for space in SPACES}
    memories[Space.UB][:4] = np.array([4096], np.uint32).view(np.uint8)
    fields = row.family.make(dst=256, offsets=0, base=100, mask_mode=1, mask_low=1)
    assert run_body(row, fields, memories) == 4196 + 1


def test_scratch_holds_the_largest_matrices() -> None:
    """L0A and L0B full of halves, twice as wide in f32, and two fractals."""
    assert [f.space for f in BY_MNEMONIC["mad.f16"].fields if f.kind is Kind.ADDRESS][1:] == [
        Space.L0A,
        Space.L0B,
    ]
    assert SCRATCH.size >= 2 * (65536 + 65536) + 512 + 1024
