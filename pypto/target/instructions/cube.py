"""Instructions of the cube: mad multiplies matrices, fixpipe drains the accumulator."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import BF16, F16, F32, DType
from pypto.target.instruction import Access, Instruction, RowFacts, family, runs
from pypto.target.instructions import cube_meaning as means
from pypto.target.instructions.fields import Atomic, Flag, GmWrite, L2Mode, Off, address, value
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, Pipe, Space

EDGE = 16  # rows and columns of a fractal in L0C
ACCUMULATOR_BYTES = 4

Extent = Annotated[int, value(high=4095)]
UnitFlag = Annotated[int, value(0, high=3)]


class Mad(NamedTuple):
    """C[m, n] = A[m, k] x B[k, n] (+ C), accumulated in f32 one k after the other.

    A lies in L0A as zZ, B in L0B as nZ, C in L0C as NZ with a pitch of m rounded up to 16.
    With m = 1 (GEMV) A is one plain row of k elements. ``c_init`` 1 starts from zero;
    ``k_align`` 1 (f32) rounds the pitch of K up to 16.
    """

    c: Annotated[int, address(Space.L0C, "rw", align=1024, clobbers=True)]
    a: Annotated[int, address(Space.L0A, "r", align=512)]
    b: Annotated[int, address(Space.L0B, "r", align=512)]
    m: Extent
    k: Extent
    n: Extent
    unit_flag: UnitFlag
    k_align: Flag
    c_source: Off
    c_init: Flag


class Fixpipe(NamedTuple):
    """L0C to GM: m rows of n elements, converted to the row's type.

    ``src_stride`` is the distance of neighbouring 16-column blocks of L0C in 64 bytes;
    ``dst_stride`` is in elements (``nz2nd`` 1: rows) or 32 bytes (0: 16-column blocks).
    """

    dst: GmWrite
    src: Annotated[int, address(Space.L0C, "r", align=64)]
    n: Extent
    m: Annotated[int, value()]
    dst_stride: Annotated[int, value(high=2**32 - 1)]
    src_stride: Annotated[int, value()]
    relu: Flag
    unit_flag: UnitFlag
    nz2nd: Annotated[int, value(1, high=1)]
    atomic: Atomic
    l2_mode: L2Mode


def ceil_div(a: int, b: int) -> int:
    return (a + b - 1) // b


def mad_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    """Whole fractals of every operand."""
    depth = BLOCK_BYTES // facts.src_bytes
    rows = ceil_div(f.m, EDGE)
    columns = ceil_div(f.n, EDGE)
    steps = ceil_div(f.k, depth)
    if f.m * f.n * f.k == 0:
        rows, columns, steps = 0, 0, 0
    pitch = steps
    if f.k_align != 0:
        pitch = ceil_div(f.k, EDGE) * EDGE // depth
    length = steps * FRACTAL_BYTES
    if f.m == 1:
        length = ceil_div(f.k * facts.src_bytes, FRACTAL_BYTES) * FRACTAL_BYTES
    accumulator = rows * columns * EDGE * EDGE * ACCUMULATOR_BYTES
    return (
        runs(f.c, 1, 0, 1, 0, accumulator),
        runs(f.a, rows, pitch * FRACTAL_BYTES, 1, 0, length),
        runs(f.b, 1, 0, 1, 0, steps * columns * FRACTAL_BYTES),
    )


def mad_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """The next mad of a chain waits ``mad_gap`` cycles; a lone one ends after ``mad_head``."""
    steps = ceil_div(f.k, BLOCK_BYTES // facts.src_bytes)
    work = ceil_div(f.m, EDGE) * steps * ceil_div(f.n, EDGE) * facts.slope_num
    if work == 0:
        return 1, 1
    return work + soc.mad_gap, work + soc.mad_head


def fixpipe_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    """n columns of m rows; in the NZ form whole 16-column blocks."""
    columns = ceil_div(f.n, EDGE)
    rows = f.m
    if f.n * f.m == 0:
        rows, columns = 0, 0
    unit = EDGE * ACCUMULATOR_BYTES
    tail = f.n - (columns - 1) * EDGE
    edge = tail * ACCUMULATOR_BYTES
    source = Access(f.src, rows, unit, columns, f.src_stride * unit, unit, edge, columns, edge)
    if f.nz2nd != 0:
        size = facts.dst_bytes
        return runs(f.dst, 1, 0, rows, f.dst_stride * size, f.n * size), source
    block = EDGE * facts.dst_bytes
    return runs(f.dst, columns, f.dst_stride * BLOCK_BYTES, rows, block, block), source


def fixpipe_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """A start-up, then per row the larger of a fixed cost and the bytes of the row."""
    if f.n * f.m == 0:
        return 1, 1
    issue = ceil_div(f.m * soc.fixpipe_row_hundredths, 100)
    drain = ceil_div(f.m * f.n * facts.dst_bytes, soc.fixpipe_to_gm)
    cycles = soc.fixpipe_head + max(issue, drain)
    return cycles, cycles


def mad_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    if f.k_align and facts.src_bytes != ACCUMULATOR_BYTES:
        return [("k_align", "0: only f32 operands have a pitch of K to align")]
    return []


def fixpipe_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    broken = []
    if f.nz2nd and f.m > 8192:
        broken.append(("m", "at most 8192 rows while NZ becomes ND"))
    if not f.nz2nd and f.n % EDGE:
        broken.append(("n", "a multiple of 16 while NZ stays NZ"))
    return broken


MAD = family("mad", Mad, mad_footprint, mad_cycles, mad_limits)
FIXPIPE = family("fixpipe", Fixpipe, fixpipe_footprint, fixpipe_cycles, fixpipe_limits)

# Cycles per fractal: f32 takes two passes [V ADK-cube].
MAD_ROWS: tuple[tuple[DType, int], ...] = ((F16, 1), (BF16, 1), (F32, 2))
FIXPIPE_ROWS: tuple[tuple[str, DType], ...] = (("f32", F32), ("f32f16", F16), ("f32bf16", BF16))


def mad_row(source: DType, passes: int) -> Instruction:
    facts = RowFacts(ACCUMULATOR_BYTES, source.bytes, 0, passes, 1, 0, 0)
    summary = f"{source} matrices multiplied and accumulated in f32"
    return Instruction(f"mad.{source}", Pipe.M, MAD, F32, facts, means.mad, summary, source)


def fixpipe_row(suffix: str, dtype: DType) -> Instruction:
    facts = RowFacts(dtype.bytes, ACCUMULATOR_BYTES, 0, 1, 1, 0, 0)
    mnemonic = f"copy_matrix_cc_to_gm.{suffix}"
    summary = f"accumulator to GM as {dtype}"
    return Instruction(mnemonic, Pipe.FIX, FIXPIPE, dtype, facts, means.fixpipe, summary, F32)


CUBE: tuple[Instruction, ...] = (
    *(mad_row(*row) for row in MAD_ROWS),
    *(fixpipe_row(*row) for row in FIXPIPE_ROWS),
)
