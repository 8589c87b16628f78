"""Instructions of the cube: mad multiplies matrices, with or without a bias."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import BF16, F16, F32, I8, I32, U8, U32, DType
from pypto.target.instruction import Access, Family, Instruction, RowFacts, family, runs
from pypto.target.instructions import cube_meaning as means
from pypto.target.instructions.fields import Flag, Hf32, Off, address, value
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, Pipe, Space

EDGE = 16  # rows and columns of a fractal in L0C
ACCUMULATOR_BYTES = 4
HF32_ON = 1  # bit of the mode hf32

MIXED_SIGNS = 1  # the variant of rows whose A is unsigned and whose B is signed

Extent = Annotated[int, value(high=4095)]
# Per 512 bytes of L0C one flag: 0 does not use it; 2 a multiplication waits until it is down, a
# drain until it is up; 3 flips it besides, once the block is final or has been read.
UnitFlag = Annotated[int, value(0, high=3)]
CResult = Annotated[int, address(Space.L0C, "rw", align=1024, clobbers=True)]
CStart = Annotated[int, address(Space.L0C, "w", align=1024, clobbers=True)]
AFactor = Annotated[int, address(Space.L0A, "r", align=512)]
BFactor = Annotated[int, address(Space.L0B, "r", align=512)]
Bias = Annotated[int, address(Space.BT, "r", align=64)]


class Mad(NamedTuple):
    """C[m, n] = A[m, k] x B[k, n] (+ C), accumulated in the type of C one k after the other.

    A lies in L0A as zZ, B in L0B as nZ, C in L0C as NZ with a pitch of m rounded up to 16.
    With m = 1 (GEMV) A is one plain row of k elements. ``c_init`` 1 starts from zero;
    ``k_align`` 1 (f32) rounds the pitch of K up to 16. ``mad_bias`` has ``c_source`` 1.
    """

    c: CResult
    a: AFactor
    b: BFactor
    m: Extent
    k: Extent
    n: Extent
    unit_flag: UnitFlag
    k_align: Flag
    c_source: Off
    c_init: Flag


class MadSingle(NamedTuple):
    """Mad of f32 factors, which ``hf32`` rounds to 10 fraction bits first."""

    c: CResult
    a: AFactor
    b: BFactor
    m: Extent
    k: Extent
    n: Extent
    unit_flag: UnitFlag
    k_align: Flag
    c_source: Off
    c_init: Flag
    hf32: Hf32


class MadBias(NamedTuple):
    """C[m, n] = bias[n] + A[m, k] x B[k, n]: every row starts from the bias in BT.

    The machine takes the address of the bias in the upper half of the address of C.
    """

    c: CStart
    a: AFactor
    b: BFactor
    bias: Bias
    m: Extent
    k: Extent
    n: Extent
    unit_flag: UnitFlag
    k_align: Flag


class MadSingleBias(NamedTuple):
    """MadBias of f32 factors, which ``hf32`` rounds to 10 fraction bits first."""

    c: CStart
    a: AFactor
    b: BFactor
    bias: Bias
    m: Extent
    k: Extent
    n: Extent
    unit_flag: UnitFlag
    k_align: Flag
    hf32: Hf32


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
    accumulator = rows * columns * EDGE * EDGE * facts.dst_bytes
    return (
        runs(f.c, 1, 0, 1, 0, accumulator),
        runs(f.a, rows, pitch * FRACTAL_BYTES, 1, 0, length),
        runs(f.b, 1, 0, 1, 0, steps * columns * FRACTAL_BYTES),
    )


def mad_bias_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access, Access]:
    """As ``mad_footprint``, and one element of BT per column."""
    c, a, b = mad_footprint(f, facts)
    length = f.n * facts.dst_bytes if f.m * f.k > 0 else 0
    return c, a, b, runs(f.bias, 1, 0, 1, 0, length)


def product_cycles(f: Any, facts: RowFacts, soc: Any, passes: int) -> tuple[int, int]:
    """The next mad of a chain waits ``mad_gap`` cycles; a lone one ends after ``mad_head``."""
    steps = ceil_div(f.k, BLOCK_BYTES // facts.src_bytes)
    work = ceil_div(f.m, EDGE) * steps * ceil_div(f.n, EDGE) * passes
    if work == 0:
        return 1, 1
    return work + soc.mad_gap, work + soc.mad_head


def mad_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return product_cycles(f, facts, soc, facts.slope_num)


def mad_single_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """Half the passes where the factors are rounded to hf32."""
    passes = facts.slope_num
    if f.hf32 & HF32_ON != 0:
        passes = facts.slope_num // 2
    return product_cycles(f, facts, soc, passes)


def mad_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    if f.k_align and facts.src_bytes != ACCUMULATOR_BYTES:
        return [("k_align", "0: only f32 operands have a pitch of K to align")]
    return []


MAD = family("mad", Mad, mad_footprint, mad_cycles, mad_limits)
MAD_SINGLE = family("mad_single", MadSingle, mad_footprint, mad_single_cycles)
MAD_BIAS = family("mad_bias", MadBias, mad_bias_footprint, mad_cycles, mad_limits)
MAD_SINGLE_BIAS = family("mad_single_bias", MadSingleBias, mad_bias_footprint, mad_single_cycles)


class Product(NamedTuple):
    """A row of mad: suffix, types of factors and sum, cycles per fractal, whether B is signed."""

    suffix: str
    factor: DType
    total: DType
    passes: int = 1
    variant: int = 0


# f32 takes two passes, hf32 and the others one [V ADK-cube]. Which types there are: table of the
# Mmad page [V asc-devkit]; where platform files list more, the page wins.
PRODUCTS: tuple[Product, ...] = (
    Product("f16", F16, F32),
    Product("bf16", BF16, F32),
    Product("f32", F32, F32, 2),
    Product("i8", I8, I32),
    Product("u8", U8, U32),
    Product("u8i8", U8, I32, 1, MIXED_SIGNS),
    Product("f16f16", F16, F16),
)
BIASED = ("f16", "bf16", "f32", "i8")


def product_row(name: str, product: Product, families: tuple[Family, Family]) -> Instruction:
    """A row of mad; ``families``: of every factor, and of f32."""
    form = families[product.factor == F32]
    total, factor = product.total, product.factor
    facts = RowFacts(total.bytes, factor.bytes, 0, product.passes, 1, 0, product.variant)
    meaning = means.mad if form in (MAD, MAD_SINGLE) else means.mad_bias
    second = "i8" if product.variant == MIXED_SIGNS else str(factor)
    summary = f"matrices of {factor} and {second} multiplied and accumulated in {total}"
    mnemonic = f"{name}.{product.suffix}"
    return Instruction(mnemonic, Pipe.M, form, total, facts, meaning, summary, factor)


CUBE: tuple[Instruction, ...] = (
    *(product_row("mad", product, (MAD, MAD_SINGLE)) for product in PRODUCTS),
    *(
        product_row("mad_bias", product, (MAD_BIAS, MAD_SINGLE_BIAS))
        for product in PRODUCTS
        if product.suffix in BIASED
    ),
)
