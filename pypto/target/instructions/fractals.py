"""Instructions that move whole fractals to L0 and L1, turn them, or fill them (load2d)."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import BF16, F16, U8, U16, U32, DType
from pypto.target.instruction import Access, Family, Instruction, RowFacts, family, runs
from pypto.target.instructions import fractal_meaning as means
from pypto.target.instructions.fields import (
    Flag,
    Gap,
    GmRead,
    L1Read,
    L1Write,
    L2Mode,
    Scalar,
    address,
    stream_cycles,
    value,
)
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, Pipe, Space

L0aWrite = Annotated[int, address(Space.L0A, "w", align=512)]
L0bWrite = Annotated[int, address(Space.L0B, "w", align=512)]
Repeat = Annotated[int, value(high=255)]
Stride = Annotated[int, value(1)]
Count = Annotated[int, value(high=32767)]


class Load2dA(NamedTuple):
    """L1 to L0A in 512-byte fractals: dst fractal i * (dst_gap + 1) = src index + i * src_stride.

    ``transpose`` turns each 16x16 fractal of two-byte elements. The address mode of the machine
    has no effect between L1 and L0 and is left out.
    """

    dst: L0aWrite
    src: L1Read
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Repeat
    src_stride: Stride
    dst_gap: Gap
    transpose: Flag


class Load2dB(NamedTuple):
    """L1 to L0B in 512-byte fractals, as Load2dA."""

    dst: L0bWrite
    src: L1Read
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Repeat
    src_stride: Stride
    dst_gap: Gap
    transpose: Flag


class Load2dTransposeA(NamedTuple):
    """L1 to L0A, transposing squares of 16x16 elements, 32x32 of one byte.

    ``index`` and ``src_stride`` count squares; the gaps count 512 bytes from the end of the first
    fractal of a square, and from the end of a fractal to the next of the same square.
    """

    dst: L0aWrite
    src: L1Read
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Repeat
    src_stride: Stride
    dst_gap: Gap
    dst_fractal_gap: Gap


class Load2dTransposeB(NamedTuple):
    """L1 to L0B, transposing squares, as Load2dTransposeA."""

    dst: L0bWrite
    src: L1Read
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Repeat
    src_stride: Stride
    dst_gap: Gap
    dst_fractal_gap: Gap


class LoadGmA(NamedTuple):
    """GM to L0A in 512-byte fractals, as Load2dA."""

    dst: L0aWrite
    src: GmRead
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Repeat
    src_stride: Stride
    dst_gap: Gap
    l2_mode: L2Mode


class LoadGmB(NamedTuple):
    """GM to L0B in 512-byte fractals, as Load2dA."""

    dst: L0bWrite
    src: GmRead
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Repeat
    src_stride: Stride
    dst_gap: Gap
    l2_mode: L2Mode


class LoadGmL1(NamedTuple):
    """GM to L1 in 512-byte fractals; ``descending`` 1 takes src index - i * src_stride."""

    dst: L1Write
    src: GmRead
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Repeat
    src_stride: Stride
    dst_gap: Gap
    descending: Flag
    l2_mode: L2Mode


class FillA(NamedTuple):
    """L0A: ``repeat`` runs of ``length`` fractals of one value, ``gap`` fractals between them."""

    dst: L0aWrite
    scalar: Scalar
    repeat: Count
    length: Count
    gap: Annotated[int, value(0, high=32767)]


class FillB(NamedTuple):
    """L0B, as FillA."""

    dst: L0bWrite
    scalar: Scalar
    repeat: Count
    length: Count
    gap: Annotated[int, value(0, high=32767)]


class FillL1(NamedTuple):
    """L1, as FillA, with lengths and gaps in 32-byte blocks."""

    dst: L1Write
    scalar: Scalar
    repeat: Count
    length: Count
    gap: Annotated[int, value(0, high=32767)]


def fractals_to(f: Any) -> Access:
    return runs(f.dst, 1, 0, f.repeat, (f.dst_gap + 1) * FRACTAL_BYTES, FRACTAL_BYTES)


def load2d_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    source = f.src + f.index * FRACTAL_BYTES
    step = f.src_stride * FRACTAL_BYTES
    return fractals_to(f), runs(source, 1, 0, f.repeat, step, FRACTAL_BYTES)


def load_gm_l1_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    source = f.src + f.index * FRACTAL_BYTES
    step = f.src_stride * FRACTAL_BYTES
    if f.descending != 0 and f.repeat > 0:
        source -= (f.repeat - 1) * step
    return fractals_to(f), runs(source, 1, 0, f.repeat, step, FRACTAL_BYTES)


def fractals_of_square(facts: RowFacts) -> int:
    """16x16 elements of two bytes fill one fractal, squares of other elements two."""
    return 1 if facts.src_bytes == 2 else 2


def load2d_transpose_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    fractals = fractals_of_square(facts)
    square = fractals * FRACTAL_BYTES
    step = (f.dst_gap + 1) * FRACTAL_BYTES
    inner = (f.dst_fractal_gap + 1) * FRACTAL_BYTES
    return (
        runs(f.dst, f.repeat, step, fractals, inner, FRACTAL_BYTES),
        runs(f.src + f.index * square, 1, 0, f.repeat, f.src_stride * square, square),
    )


def fill_access(f: Any, unit: int) -> Access:
    count = f.repeat if f.length > 0 else 0
    return runs(f.dst, 1, 0, count, (f.length + f.gap) * unit, f.length * unit)


def fill_l0_footprint(f: Any, facts: RowFacts) -> tuple[Access]:
    return (fill_access(f, FRACTAL_BYTES),)


def fill_l1_footprint(f: Any, facts: RowFacts) -> tuple[Access]:
    return (fill_access(f, BLOCK_BYTES),)


def port_cycles(count: int, size: int, rate: int, latency: int) -> tuple[int, int]:
    """``count`` pieces of ``size`` bytes at ``rate`` bytes per cycle."""
    occupancy = max(1, (count * size + rate - 1) // rate)
    return occupancy, occupancy + latency


def load2d_a_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return port_cycles(f.repeat, FRACTAL_BYTES, soc.l1_to_l0a, soc.load2d_latency)


def load2d_b_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return port_cycles(f.repeat, FRACTAL_BYTES, soc.l1_to_l0b, soc.load2d_latency)


def load2d_transpose_a_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    square = fractals_of_square(facts) * FRACTAL_BYTES
    return port_cycles(f.repeat, square, soc.l1_to_l0a, soc.load2d_latency)


def load2d_transpose_b_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    square = fractals_of_square(facts) * FRACTAL_BYTES
    return port_cycles(f.repeat, square, soc.l1_to_l0b, soc.load2d_latency)


def fill_l0_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return port_cycles(f.repeat * f.length, FRACTAL_BYTES, soc.fill_rate, soc.load2d_latency)


def fill_l1_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return port_cycles(f.repeat * f.length, BLOCK_BYTES, soc.fill_rate, soc.load2d_latency)


def load2d_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    if f.transpose and facts.src_bytes != 2:
        return [("transpose", "0: only two-byte elements are transposed while loading")]
    return []


LOAD2D_A = family("load2d_a", Load2dA, load2d_footprint, load2d_a_cycles, load2d_limits)
LOAD2D_B = family("load2d_b", Load2dB, load2d_footprint, load2d_b_cycles, load2d_limits)
LOAD2DT_A = family(
    "load2dt_a", Load2dTransposeA, load2d_transpose_footprint, load2d_transpose_a_cycles
)
LOAD2DT_B = family(
    "load2dt_b", Load2dTransposeB, load2d_transpose_footprint, load2d_transpose_b_cycles
)
LOAD_GM_A = family("load_gm_a", LoadGmA, load2d_footprint, stream_cycles)
LOAD_GM_B = family("load_gm_b", LoadGmB, load2d_footprint, stream_cycles)
LOAD_GM_L1 = family("load_gm_l1", LoadGmL1, load_gm_l1_footprint, stream_cycles)
FILL_A = family("fill_a", FillA, fill_l0_footprint, fill_l0_cycles)
FILL_B = family("fill_b", FillB, fill_l0_footprint, fill_l0_cycles)
FILL_L1 = family("fill_l1", FillL1, fill_l1_footprint, fill_l1_cycles)

WIDTHS = (U8, U16, U32)
LOADS: tuple[tuple[str, Family, Any, str], ...] = (
    ("load_cbuf_to_ca", LOAD2D_A, means.load2d, "fractals of L1 to L0A"),
    ("load_cbuf_to_cb", LOAD2D_B, means.load2d, "fractals of L1 to L0B"),
    (
        "load_cbuf_to_ca_transpose",
        LOAD2DT_A,
        means.load2d_transpose,
        "transposed squares of L1 to L0A",
    ),
    (
        "load_cbuf_to_cb_transpose",
        LOAD2DT_B,
        means.load2d_transpose,
        "transposed squares of L1 to L0B",
    ),
)
GM_LOADS: tuple[tuple[str, Family, Any, str], ...] = (
    ("load_gm_to_ca", LOAD_GM_A, means.load2d, "fractals of GM to L0A"),
    ("load_gm_to_cb", LOAD_GM_B, means.load2d, "fractals of GM to L0B"),
    ("load_gm_to_cbuf", LOAD_GM_L1, means.load2d, "fractals of GM to L1"),
)
FILLS: tuple[tuple[str, Pipe, Family, str], ...] = (
    ("create_ca_matrix", Pipe.MTE1, FILL_A, "one value in fractals of L0A"),
    ("create_cb_matrix", Pipe.MTE1, FILL_B, "one value in fractals of L0B"),
    ("create_cbuf_matrix", Pipe.MTE2, FILL_L1, "one value in blocks of L1"),
)


def load_row(
    name: str, pipe: Pipe, form: Family, dtype: DType, meaning: Any, summary: str, suffix: str = ""
) -> Instruction:
    facts = RowFacts(dtype.bytes, dtype.bytes, 0, 1, 1, 0, 0)
    mnemonic = f"{name}.{suffix or f'b{8 * dtype.bytes}'}"
    return Instruction(mnemonic, pipe, form, dtype, facts, meaning, summary)


FRACTALS: tuple[Instruction, ...] = (
    *(
        load_row(name, Pipe.MTE1, form, dtype, meaning, summary)
        for name, form, meaning, summary in LOADS
        for dtype in WIDTHS
    ),
    # Whole fractals are the same bytes whatever their elements: one row says it.
    *(
        load_row(name, Pipe.MTE2, form, U16, meaning, summary)
        for name, form, meaning, summary in GM_LOADS
    ),
    *(
        load_row(name, pipe, form, dtype, means.fill, summary, str(dtype))
        for name, pipe, form, summary in FILLS
        for dtype in (F16, BF16, U32)
    ),
)
