"""Instructions of the vector pipe: eight blocks of 32 bytes per repeat, up to 255 repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, NamedTuple

from pypto.target.dtypes import BF16, F16, F32, I8, I16, I32, I64, U8, U16, U32, DType
from pypto.target.instruction import Family, Instruction, RowFacts, family
from pypto.target.instructions import vector_footprint as shape
from pypto.target.instructions import vector_meaning as means
from pypto.target.instructions.fields import (
    Block,
    ByteBlock,
    ByteDstBlock,
    ByteRepeat,
    DstBlock,
    Flag,
    MaskHigh,
    MaskLow,
    MaskMode,
    Repeat,
    RepeatStride,
    Saturation,
    Scalar,
    UbElement,
    UbMasked,
    UbRead,
    UbReadAny,
    UbWrite,
    address,
    value,
)
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES, Pipe, Space
from pypto.target.numerics import MODES, ROUNDINGS


class Binary(NamedTuple):
    """dst[i] = src0[i] op src1[i]; lanes are counted on the wider of the two element types."""

    dst: UbMasked
    src0: UbRead
    src1: UbRead
    repeat: Repeat
    dst_block: ByteDstBlock
    src0_block: ByteBlock
    src1_block: ByteBlock
    dst_repeat: ByteRepeat
    src0_repeat: ByteRepeat
    src1_repeat: ByteRepeat
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow
    saturation: Saturation


class Unary(NamedTuple):
    """dst[i] = op(src[i]); lanes are counted on the wider of the two element types."""

    dst: UbMasked
    src: UbRead
    repeat: Repeat
    dst_block: DstBlock
    src_block: Block
    dst_repeat: RepeatStride
    src_repeat: RepeatStride
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow
    saturation: Saturation


class ScalarBinary(NamedTuple):
    """dst[i] = src[i] op scalar; ``scalar`` holds the bits of one element or a shift amount."""

    dst: UbMasked
    src: UbRead
    scalar: Scalar
    repeat: Repeat
    dst_block: DstBlock
    src_block: Block
    dst_repeat: RepeatStride
    src_repeat: RepeatStride
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow
    saturation: Saturation


class ShiftRight(NamedTuple):
    """dst[i] = src[i] >> scalar; ``round`` rounds half up in place of down [A]."""

    dst: UbMasked
    src: UbRead
    scalar: Scalar
    round: Flag
    repeat: Repeat
    dst_block: DstBlock
    src_block: Block
    dst_repeat: RepeatStride
    src_repeat: RepeatStride
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow
    saturation: Saturation


class Duplicate(NamedTuple):
    """dst[i] = scalar."""

    dst: UbMasked
    scalar: Scalar
    repeat: Repeat
    dst_block: DstBlock
    dst_repeat: RepeatStride
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow


class Reduce(NamedTuple):
    """One result per repeat (vc*), per block (vcg*) or per pair (vcp*), over the valid lanes.

    ``dst_repeat`` counts results of one repeat: 1 element for vc*, 8 for vcg*, 128 bytes for vcp*.
    """

    dst: UbElement
    src: UbRead
    repeat: Repeat
    dst_repeat: Annotated[int, value(1)]
    src_block: Block
    src_repeat: RepeatStride
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow
    saturation: Saturation


class Compare(NamedTuple):
    """Bit i of dst = src0[i] op src1[i]: dense bits over all repeats; the mask is ignored."""

    dst: UbWrite
    src0: UbRead
    src1: UbRead
    repeat: Repeat
    dst_block: ByteDstBlock
    src0_block: ByteBlock
    src1_block: ByteBlock
    dst_repeat: ByteRepeat
    src0_repeat: ByteRepeat
    src1_repeat: ByteRepeat


class CompareScalar(NamedTuple):
    """Bit i of dst = src[i] op scalar: dense bits over all repeats; the mask is ignored."""

    dst: UbWrite
    src: UbRead
    scalar: Scalar
    repeat: Repeat
    dst_block: DstBlock
    src_block: Block
    dst_repeat: RepeatStride
    src_repeat: RepeatStride


class Select(NamedTuple):
    """dst[i] = src0[i] where bit i of the bits at ``mask`` is 1, else src1[i] (mode 2).

    The bits are dense over all repeats; their address travels in a mode register.
    """

    dst: UbMasked
    src0: UbRead
    src1: UbRead
    mask: Annotated[int, address(Space.UB, "r", state="compare_mask")]
    repeat: Repeat
    dst_block: ByteDstBlock
    src0_block: ByteBlock
    src1_block: ByteBlock
    dst_repeat: ByteRepeat
    src0_repeat: ByteRepeat
    src1_repeat: ByteRepeat
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow


class BlockBroadcast(NamedTuple):
    """Block j of repeat i of dst is filled with src[8 * i + j]."""

    dst: UbWrite
    src: UbRead
    dst_block: DstBlock
    dst_repeat: RepeatStride
    repeat: Repeat


class Gather(NamedTuple):
    """dst[i] = the element at byte ``base + offsets[i]``; offsets are dense u32."""

    dst: UbMasked
    offsets: UbRead
    base: UbReadAny
    dst_repeat: RepeatStride
    repeat: Repeat
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow


BINARY = family(
    "binary", Binary, shape.binary_footprint, shape.vector_cycles, conflicts=shape.binary_conflicts
)
UNARY = family(
    "unary", Unary, shape.unary_footprint, shape.vector_cycles, conflicts=shape.unary_conflicts
)
SCALAR_BINARY = family(
    "scalar_binary",
    ScalarBinary,
    shape.unary_footprint,
    shape.vector_cycles,
    conflicts=shape.unary_conflicts,
)
SHIFT_RIGHT = family(
    "shift_right",
    ShiftRight,
    shape.unary_footprint,
    shape.vector_cycles,
    conflicts=shape.unary_conflicts,
)
DUPLICATE = family(
    "duplicate",
    Duplicate,
    shape.duplicate_footprint,
    shape.vector_cycles,
    conflicts=shape.duplicate_conflicts,
)
REDUCE = family(
    "reduce",
    Reduce,
    shape.reduce_footprint,
    shape.vector_cycles,
    limits=shape.reduce_limits,
    conflicts=shape.reduce_conflicts,
)
COMPARE = family(
    "compare",
    Compare,
    shape.compare_footprint,
    shape.compare_cycles,
    conflicts=shape.compare_conflicts,
)
COMPARE_SCALAR = family(
    "compare_scalar",
    CompareScalar,
    shape.compare_scalar_footprint,
    shape.compare_cycles,
    conflicts=shape.compare_scalar_conflicts,
)
SELECT = family(
    "select", Select, shape.select_footprint, shape.vector_cycles, conflicts=shape.binary_conflicts
)
BLOCK_BROADCAST = family(
    "block_broadcast",
    BlockBroadcast,
    shape.block_broadcast_footprint,
    shape.compare_cycles,
    conflicts=shape.block_broadcast_conflicts,
)
GATHER = family("gather", Gather, shape.gather_footprint, shape.vector_cycles)

# Table columns: name, dtypes, cycles per repeat, start-up cycles (both for all dtypes or one for
# each), summary.
# Cycles per repeat: vendor throughput table of 2201 [V ADK-vec]. Start-up: measured fits on 910B3
# [M PTO] where one exists, else 24, and 31 for the exp, square root and division group.
# Slopes that differ from the vendor's: vdiv.f32 takes 4 cycles where that table says 2, for lone
# vdivs of r repeats on 910B3 took 4.03 r + 31 [M PTO]; two sources in one bank group cannot make 4
# of 2, as they cost two reads per repeat. Halves of vexp and vsqrt stay at the vendor's 4: whole
# tiles were measured at 2 (exp) and at both 2 and 4 (square root), no lone instruction was.
PerType = int | tuple[int, ...]
Costs = tuple[tuple[DType, ...], PerType, PerType, str]

BLOCKS = REPEAT_BYTES // BLOCK_BYTES
F16_F32 = (F16, F32)
NUMBERS = (F16, F32, I32, I16)
SHIFTED = (I32, U32, I16, U16)
U16_I16 = (U16, I16)

BINARY_ROWS: dict[str, Costs] = {
    "vadd": (NUMBERS, 1, 24, "sum"),
    "vsub": (NUMBERS, 1, 24, "difference"),
    "vmul": (NUMBERS, 1, 25, "product"),
    "vmax": (NUMBERS, 1, 23, "larger operand; NaN wins"),
    "vmin": (NUMBERS, 1, 23, "smaller operand; NaN wins"),
    "vdiv": (F16_F32, 4, 31, "quotient"),
    "vand": (U16_I16, 1, 20, "bitwise and"),
    "vor": (U16_I16, 1, 20, "bitwise or"),
    "vaddrelu": ((F16, F32, I16), 1, 24, "max(0, sum)"),
    "vsubrelu": ((F16, F32, I16), 1, 24, "max(0, difference)"),
}
UNARY_ROWS: dict[str, Costs] = {
    "vabs": (F16_F32, 1, 24, "absolute value"),
    "vexp": (F16_F32, (4, 2), 31, "e to the power"),
    "vln": (F16_F32, (4, 2), 33, "natural logarithm"),
    "vsqrt": (F16_F32, (4, 2), 31, "square root"),
    "vrelu": ((F16, F32, I32), 1, 23, "max(0, x)"),
    "vrec": (F16_F32, 1, 24, "approximate reciprocal"),
    "vrsqrt": (F16_F32, 1, 24, "approximate reciprocal square root"),
    "vnot": (U16_I16, 1, 20, "bitwise complement"),
    "vcopy": (SHIFTED, 1, 24, "masked copy"),
}
SCALAR_BINARY_ROWS: dict[str, Costs] = {
    "vadds": (NUMBERS, 1, 24, "sum with a scalar"),
    "vmuls": (NUMBERS, 1, 26, "product with a scalar"),
    "vmaxs": (NUMBERS, 1, 23, "larger of element and scalar; NaN wins"),
    "vmins": (NUMBERS, 1, 24, "smaller of element and scalar; NaN wins"),
    "vshl": (SHIFTED, 1, 24, "shift left by a scalar"),
    "vlrelu": (F16_F32, 1, 26, "x where x >= 0, else x * scalar"),
}
SHIFT_RIGHT_ROWS: dict[str, Costs] = {
    "vshr": (SHIFTED, 1, 24, "shift right by a scalar; arithmetic when signed"),
}
DUPLICATE_ROWS: dict[str, Costs] = {
    "vector_dup": ((F16, BF16, F32, I16, U16, I32, U32), 1, 24, "fill with a scalar"),
}
# Start-up of vcadd, vcmax and vcmin: measured row sums and row maxima of 64 repeats [M PTO].
REDUCE_ROWS: dict[str, Costs] = {
    "vcadd": (F16_F32, 7, (47, 44), "sum of a repeat, as a tree of adjacent pairs"),
    "vcmax": (F16_F32, 7, (33, 32), "largest of a repeat; NaN wins"),
    "vcmin": (F16_F32, 7, (33, 32), "smallest of a repeat; NaN wins"),
    "vcgadd": (F16_F32, (7, 1), 24, "sum of each block, as a tree of adjacent pairs"),
    "vcgmax": (F16_F32, (7, 1), 24, "largest of each block; NaN wins"),
    "vcgmin": (F16_F32, (7, 1), 24, "smallest of each block; NaN wins"),
    "vcpadd": (F16_F32, 1, 24, "sum of each pair of neighbours"),
}
COMPARISONS = {
    "eq": "equal",
    "ne": "not equal",
    "lt": "less",
    "le": "less or equal",
    "gt": "greater",
    "ge": "greater or equal",
}
COMPARE_HEAD = 24
SELECT_ROWS: dict[str, Costs] = {"vsel": (F16_F32, 1, 24, "choose by bits at an address")}
BLOCK_BROADCAST_ROWS: dict[str, Costs] = {
    "vbrcb": ((U16, U32), 1, 24, "one element to each block"),
}
GATHER_LANES_PER_CYCLE = 5
GATHER_HEAD = 24

STATED_ROUNDING = ("r", "f", "c", "a", "z")
ANY_ROUNDING = ("", *STATED_ROUNDING)
EXACT = ("",)
CASTS: tuple[tuple[DType, DType, tuple[str, ...]], ...] = (
    (F16, F32, EXACT),
    (BF16, F32, EXACT),
    (I16, F32, EXACT),
    (I8, F16, EXACT),
    (U8, F16, EXACT),
    (I32, I16, EXACT),
    (I32, I64, EXACT),
    (I64, I32, EXACT),
    (F32, F16, (*ANY_ROUNDING, "o")),
    (I32, F32, ANY_ROUNDING),
    (I16, F16, ANY_ROUNDING),
    (F16, I8, ANY_ROUNDING),
    (F16, U8, ANY_ROUNDING),
    (F16, I16, STATED_ROUNDING),
    (F16, I32, STATED_ROUNDING),
    (BF16, I32, STATED_ROUNDING),
    (F32, BF16, STATED_ROUNDING),
    (F32, I16, STATED_ROUNDING),
    (F32, I32, STATED_ROUNDING),
    (F32, I64, STATED_ROUNDING),
    (F32, F32, STATED_ROUNDING),
    (I64, F32, STATED_ROUNDING),
)
CAST_HEAD = 24


def instruction(
    mnemonic: str,
    form: Family,
    dtype: DType,
    slope: tuple[int, int],
    head: int,
    meaning: Callable[..., None],
    summary: str,
    source: DType | None = None,
    variant: int = 0,
) -> Instruction:
    """One row of the vector pipe; ``slope`` is cycles per repeat as a fraction."""
    source_bytes = (source or dtype).bytes
    facts = RowFacts(dtype.bytes, source_bytes, head, *slope, 0, variant)
    return Instruction(mnemonic, Pipe.V, form, dtype, facts, meaning, summary, source)


def of_type(costs: PerType, position: int) -> int:
    return costs[position] if isinstance(costs, tuple) else costs


def results_per_repeat(name: str, dtype: DType) -> int:
    """How many results a reduction of this name gives for each repeat."""
    if name.startswith("vcp"):
        return REPEAT_BYTES // dtype.bytes // 2
    return BLOCKS if name.startswith("vcg") else 1


def table(
    form: Family, rows: dict[str, Costs], meaning: Callable[..., None]
) -> Iterator[Instruction]:
    """The rows of a table, one per dtype; the variant is the results per repeat of a reduction."""
    for name, (dtypes, slopes, heads, summary) in rows.items():
        for i, dtype in enumerate(dtypes):
            results = results_per_repeat(name, dtype)
            slope, head = (of_type(slopes, i), 1), of_type(heads, i)
            mnemonic = f"{name}.{dtype}"
            yield instruction(mnemonic, form, dtype, slope, head, meaning, summary, variant=results)


def comparisons() -> Iterator[Instruction]:
    """vcmpv_* and vcmpvs_*: all kinds for floats, equality for i32."""
    forms = (
        ("vcmpv", COMPARE, means.compare, "to another tensor"),
        ("vcmpvs", COMPARE_SCALAR, means.compare_scalar, "to a scalar"),
    )
    for prefix, form, meaning, other in forms:
        for variant, (kind, text) in enumerate(COMPARISONS.items()):
            for dtype in (F16, F32, I32) if kind == "eq" else F16_F32:
                yield instruction(
                    f"{prefix}_{kind}.{dtype}",
                    form,
                    dtype,
                    (1, 1),
                    COMPARE_HEAD,
                    meaning,
                    f"{text} {other}, as bits",
                    variant=variant,
                )


def fused_casts() -> Iterator[Instruction]:
    """An operation whose result is converted: in the source's type first, then cast [A]."""
    narrow = ((F16, I8), (F32, F16), (I16, I8))
    forms = (
        ("vaddreluconv", narrow, "max(0, sum)"),
        ("vsubreluconv", narrow, "max(0, difference)"),
        ("vmulconv", ((F16, I8), (F16, U8)), "product"),
    )
    for name, types, text in forms:
        for source, dtype in types:
            mnemonic = f"{name}_{source}2{dtype}"
            summary = f"{text} of {source}, to {dtype}"
            meaning, head = means.binary_cast, CAST_HEAD
            yield instruction(mnemonic, BINARY, dtype, (1, 1), head, meaning, summary, source)


def casts() -> Iterator[Instruction]:
    """vconv_*: the variant is the position of the rounding mode in numerics.MODES."""
    for source, dtype, modes in CASTS:
        for mode in modes:
            yield instruction(
                f"vconv_{source}2{dtype}{mode}",
                UNARY,
                dtype,
                (1, 1),
                CAST_HEAD,
                means.cast,
                f"{source} to {dtype}, {ROUNDINGS[mode]}",
                source,
                MODES.index(mode),
            )


def gathers() -> Iterator[Instruction]:
    """vgather: five elements per cycle [V ADK-vec]."""
    for dtype in (U16, U32):
        slope = (256 // dtype.bytes, GATHER_LANES_PER_CYCLE)
        text = "elements at byte offsets"
        yield instruction(f"vgather.{dtype}", GATHER, dtype, slope, GATHER_HEAD, means.gather, text)


VECTOR: tuple[Instruction, ...] = (
    *table(BINARY, BINARY_ROWS, means.binary),
    *table(UNARY, UNARY_ROWS, means.unary),
    *casts(),
    *fused_casts(),
    *table(SCALAR_BINARY, SCALAR_BINARY_ROWS, means.scalar_binary),
    *table(SHIFT_RIGHT, SHIFT_RIGHT_ROWS, means.shift_right),
    *table(DUPLICATE, DUPLICATE_ROWS, means.duplicate),
    *table(REDUCE, REDUCE_ROWS, means.reduce),
    *comparisons(),
    *table(SELECT, SELECT_ROWS, means.select),
    *table(BLOCK_BROADCAST, BLOCK_BROADCAST_ROWS, means.block_broadcast),
    *gathers(),
)
