"""Instructions that drain the accumulator: converted, quantised, to GM or L1 (fixpipe)."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import BF16, F16, F32, I8, I32, DType
from pypto.target.instruction import Access, Family, Instruction, RowFacts, family, nowhere, runs
from pypto.target.instructions import fixpipe_meaning as means
from pypto.target.instructions.cube import UnitFlag, ceil_div
from pypto.target.instructions.fields import (
    Atomic,
    Flag,
    GmWrite,
    L1Write,
    L2Mode,
    Off,
    QuantPre,
    QuantWords,
    address,
    value,
)
from pypto.target.memory import BLOCK_BYTES, Pipe, Space
from pypto.target.quantisation import Quantisation

EDGE = 16  # rows and columns of a fractal in L0C
ACCUMULATOR_BYTES = 4
WORD_BYTES = 8  # of a scale
MOST_ROWS = 8192  # while NZ becomes ND

Columns = Annotated[int, value(high=4095)]
Rows = Annotated[int, value()]
Accumulator = Annotated[int, address(Space.L0C, "r", align=64)]
DstStride = Annotated[int, value(high=2**32 - 1)]
SrcStride = Annotated[int, value()]
ToRows = Annotated[int, value(1, high=1)]


class Fixpipe(NamedTuple):
    """L0C to GM: m rows of n elements, converted to the row's type.

    ``src_stride`` is the distance of neighbouring 16-column blocks of L0C in 64 bytes.
    ``nz2nd`` 1 writes rows ``dst_stride`` elements apart, one matrix; 0 columns of fractals
    ``dst_stride`` times 32 bytes apart, 16 elements wide, 32 where they have one byte, 8 with
    ``channel_split``.
    """

    dst: GmWrite
    src: Accumulator
    n: Columns
    m: Rows
    dst_stride: DstStride
    src_stride: SrcStride
    relu: Flag
    unit_flag: UnitFlag
    channel_split: Flag
    nz2nd: ToRows
    atomic: Atomic
    l2_mode: L2Mode


class FixpipeScaled(NamedTuple):
    """Fixpipe quantised by the one scale in the mode register ``quant_pre``."""

    dst: GmWrite
    src: Accumulator
    n: Columns
    m: Rows
    dst_stride: DstStride
    src_stride: SrcStride
    relu: Flag
    unit_flag: UnitFlag
    channel_split: Off
    nz2nd: ToRows
    atomic: Atomic
    l2_mode: L2Mode
    quant_pre: QuantPre


class FixpipeScales(NamedTuple):
    """Fixpipe quantised by a scale for each column, from FB."""

    dst: GmWrite
    src: Accumulator
    n: Columns
    m: Rows
    dst_stride: DstStride
    src_stride: SrcStride
    relu: Flag
    unit_flag: UnitFlag
    channel_split: Off
    nz2nd: ToRows
    atomic: Atomic
    l2_mode: L2Mode
    words: QuantWords


class FixpipeL1(NamedTuple):
    """L0C to L1: m rows of n elements, NZ to NZ, converted to the row's type.

    ``src_stride`` is the distance of neighbouring 16-column blocks of L0C in 64 bytes,
    ``dst_stride`` that of neighbouring columns of 32-byte blocks in 32 bytes.
    """

    dst: L1Write
    src: Accumulator
    n: Columns
    m: Rows
    dst_stride: DstStride
    src_stride: SrcStride
    relu: Flag
    unit_flag: UnitFlag


class FixpipeL1Scaled(NamedTuple):
    """FixpipeL1 quantised by the one scale in the mode register ``quant_pre``."""

    dst: L1Write
    src: Accumulator
    n: Columns
    m: Rows
    dst_stride: DstStride
    src_stride: SrcStride
    relu: Flag
    unit_flag: UnitFlag
    quant_pre: QuantPre


class FixpipeL1Scales(NamedTuple):
    """FixpipeL1 quantised by a scale for each column, from FB."""

    dst: L1Write
    src: Accumulator
    n: Columns
    m: Rows
    dst_stride: DstStride
    src_stride: SrcStride
    relu: Flag
    unit_flag: UnitFlag
    words: QuantWords


def source_access(f: Any) -> Access:
    """n columns of m rows of the accumulator."""
    columns, rows = ceil_div(f.n, EDGE), f.m
    if f.n * f.m == 0:
        rows, columns = 0, 0
    unit = EDGE * ACCUMULATOR_BYTES
    edge = (f.n - (columns - 1) * EDGE) * ACCUMULATOR_BYTES
    return Access(f.src, rows, unit, columns, f.src_stride * unit, unit, edge, columns, edge)


def words_access(f: Any) -> Access:
    length = f.n * WORD_BYTES if f.m > 0 else 0
    return runs(f.words, 1, 0, 1, 0, length)


def fractal_columns(f: Any, facts: RowFacts) -> int:
    """Columns of the fractals that are written."""
    if f.channel_split != 0:
        return EDGE // 2
    return max(EDGE, BLOCK_BYTES // facts.dst_bytes)


def gm_access(f: Any, facts: RowFacts) -> Access:
    size = facts.dst_bytes
    rows = f.m if f.n > 0 else 0
    if f.nz2nd != 0:
        return runs(f.dst, 1, 0, rows, f.dst_stride * size, f.n * size)
    width = fractal_columns(f, facts)
    count = ceil_div(f.n, width) if rows > 0 else 0
    return runs(f.dst, 1, 0, count, f.dst_stride * BLOCK_BYTES, rows * width * size)


def fixpipe_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    return gm_access(f, facts), source_access(f)


def fixpipe_scales_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    return gm_access(f, facts), source_access(f), words_access(f)


def fixpipe_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """A start-up, then per row the larger of a fixed cost and the bytes of the row."""
    if f.n * f.m == 0:
        return 1, 1
    issue = ceil_div(f.m * soc.fixpipe_row_hundredths, 100)
    drain = ceil_div(f.m * f.n * facts.dst_bytes, soc.fixpipe_to_gm)
    cycles = soc.fixpipe_head + max(issue, drain)
    return cycles, cycles


def fixpipe_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    """Columns that fill fractals: what becomes of half a fractal is not documented."""
    broken = []
    columns = fractal_columns(f, facts)
    if f.nz2nd and f.m > MOST_ROWS:
        broken.append(("m", f"at most {MOST_ROWS} rows while NZ becomes ND"))
    if not f.nz2nd and f.n % columns:
        broken.append(("n", f"a multiple of {columns} while NZ stays NZ"))
    if f.channel_split and (facts.dst_bytes != ACCUMULATOR_BYTES or f.nz2nd or f.unit_flag):
        limit = "0 unless NZ of f32 stays NZ, without unit flag"
        broken.append(("channel_split", limit))
    return broken


def l1_access(f: Any, facts: RowFacts) -> Access:
    """Columns of 32-byte blocks, one under the other; nowhere where a block is not full."""
    if f.n % max(EDGE, BLOCK_BYTES // facts.dst_bytes) != 0:
        return nowhere()
    count = f.n * facts.dst_bytes // BLOCK_BYTES if f.m > 0 else 0
    return runs(f.dst, 1, 0, count, f.dst_stride * BLOCK_BYTES, f.m * BLOCK_BYTES)


def fixpipe_l1_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    return l1_access(f, facts), source_access(f)


def fixpipe_l1_scales_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    return l1_access(f, facts), source_access(f), words_access(f)


def fixpipe_l1_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """Whole 16-column blocks at a rate in elements."""
    elements = f.m * ceil_div(f.n, EDGE) * EDGE
    occupancy = max(1, ceil_div(elements, soc.fixpipe_to_l1))
    return occupancy, occupancy + soc.fixpipe_to_l1_latency


def merge_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    """Columns that fill 32-byte blocks: what becomes of half a block is not documented."""
    columns = max(EDGE, BLOCK_BYTES // facts.dst_bytes)
    return [("n", f"a multiple of {columns} while NZ stays NZ")] if f.n % columns else []


FIXPIPE_GM = family("fixpipe", Fixpipe, fixpipe_footprint, fixpipe_cycles, fixpipe_limits)
FIXPIPE_GM_SCALED = family(
    "fixpipe_scaled", FixpipeScaled, fixpipe_footprint, fixpipe_cycles, fixpipe_limits
)
FIXPIPE_GM_SCALES = family(
    "fixpipe_scales", FixpipeScales, fixpipe_scales_footprint, fixpipe_cycles, fixpipe_limits
)
FIXPIPE_L1 = family(
    "fixpipe_l1", FixpipeL1, fixpipe_l1_footprint, fixpipe_l1_cycles, limits=merge_limits
)
FIXPIPE_L1_SCALED = family(
    "fixpipe_l1_scaled",
    FixpipeL1Scaled,
    fixpipe_l1_footprint,
    fixpipe_l1_cycles,
    limits=merge_limits,
)
FIXPIPE_L1_SCALES = family(
    "fixpipe_l1_scales",
    FixpipeL1Scales,
    fixpipe_l1_scales_footprint,
    fixpipe_l1_cycles,
    limits=merge_limits,
)


class Conversion(NamedTuple):
    """Suffix of a row, type in L0C, type that leaves it, how it is quantised."""

    suffix: str
    source: DType
    result: DType
    mode: Quantisation = Quantisation.PLAIN


COPYING: tuple[Conversion, ...] = (Conversion("f32", F32, F32), Conversion("i32", I32, I32))
NARROWING: tuple[Conversion, ...] = (
    Conversion("f32f16", F32, F16),
    Conversion("f32bf16", F32, BF16),
)
# The scale says whether the byte is signed.
QUANTISING: tuple[Conversion, ...] = (
    Conversion("qf32b8", F32, I8, Quantisation.FLOAT_TO_BYTE),
    Conversion("req8", I32, I8, Quantisation.INTEGER_TO_BYTE),
    Conversion("deqf16", I32, F16, Quantisation.INTEGER_TO_HALF),
)


def fixpipe_row(name: str, form: Family, conversion: Conversion, vector: str = "") -> Instruction:
    """A row; ``vector`` "v" takes a scale for each column."""
    suffix, source, result, mode = conversion
    facts = RowFacts(result.bytes, source.bytes, 0, 1, 1, 0, mode)
    scale = "" if mode == Quantisation.PLAIN else ", scaled" + (" by column" if vector else "")
    target = "L1" if name.endswith("cbuf") else "GM"
    summary = f"accumulator of {source} to {target} as {result}{scale}"
    mnemonic = f"{name}.{vector}{suffix}"
    return Instruction(mnemonic, Pipe.FIX, form, result, facts, means.fixpipe, summary, source)


TO_GM, TO_L1 = "copy_matrix_cc_to_gm", "copy_matrix_cc_to_cbuf"
FIXPIPE: tuple[Instruction, ...] = (
    *(fixpipe_row(TO_GM, FIXPIPE_GM, conversion) for conversion in COPYING + NARROWING),
    *(fixpipe_row(TO_GM, FIXPIPE_GM_SCALED, conversion) for conversion in QUANTISING),
    *(fixpipe_row(TO_GM, FIXPIPE_GM_SCALES, conversion, "v") for conversion in QUANTISING),
    *(fixpipe_row(TO_L1, FIXPIPE_L1, conversion) for conversion in NARROWING),
    *(fixpipe_row(TO_L1, FIXPIPE_L1_SCALED, conversion) for conversion in QUANTISING),
    *(fixpipe_row(TO_L1, FIXPIPE_L1_SCALES, conversion, "v") for conversion in QUANTISING),
)
