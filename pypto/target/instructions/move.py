"""Instructions that move data: GM and UB, GM to L1, L1 to L0A and L0B."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import U8, U16, U32, DType
from pypto.target.instruction import Access, Family, Instruction, RowFacts, family, nowhere, runs
from pypto.target.instructions import move_meaning as means
from pypto.target.instructions.fields import (
    Atomic,
    Bursts,
    Flag,
    Gap,
    GmRead,
    GmWrite,
    L1Read,
    L1Write,
    L2Mode,
    PadValue,
    UbRead,
    UbWrite,
    address,
    stream_cycles,
    value,
)
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, Pipe, Space

BurstBytes = Annotated[int, value(high=2097151)]
ByteGap = Annotated[int, value(0, high=2**32 - 1)]
BlockGap = Annotated[int, value(0, high=2**32 - 1)]
Pad = Annotated[int, value(0, high=32)]
NzStride = Annotated[int, value(1, low=1, high=16384)]
L0aWrite = Annotated[int, address(Space.L0A, "w", align=512)]
L0bWrite = Annotated[int, address(Space.L0B, "w", align=512)]
Fractals = Annotated[int, value(high=255)]
FractalStride = Annotated[int, value(1)]
MatrixCount = Annotated[int, value(1, high=4095)]


class CopyIn(NamedTuple):
    """GM to UB: bursts of ``length`` bytes, each filled to 32 bytes in UB.

    ``left`` and ``right`` elements of ``pad_value`` are added to each burst; ``src_gap`` is in
    bytes and ``dst_gap`` in 32-byte blocks, both from the end of a burst to the next start.
    """

    dst: UbWrite
    src: GmRead
    bursts: Bursts
    length: BurstBytes
    left: Pad
    right: Pad
    src_gap: ByteGap
    dst_gap: BlockGap
    pad_value: PadValue
    l2_mode: L2Mode


class CopyOut(NamedTuple):
    """UB to GM: bursts of ``length`` bytes, each starting on a 32-byte block in UB.

    ``src_gap`` is in 32-byte blocks, ``dst_gap`` in bytes.
    """

    dst: GmWrite
    src: UbRead
    bursts: Bursts
    length: BurstBytes
    src_gap: BlockGap
    dst_gap: ByteGap
    atomic: Atomic
    l2_mode: L2Mode


class Nd2Nz(NamedTuple):
    """GM rows to L1 fractals: dst[(c / C0) * column_stride + r * row_stride][c % C0] = src[r][c].

    C0 elements are 32 bytes; destination strides count 32 bytes, source strides elements. The
    last 32 bytes of a row are filled with zeros. Matrix i of ``nd_count`` lies ``src_nd_stride``
    and ``dst_nd_stride`` elements behind the one before.
    """

    dst: L1Write
    src: GmRead
    nd_count: MatrixCount
    rows: Annotated[int, value(high=16384)]
    columns: Annotated[int, value()]
    src_nd_stride: Gap
    src_row_stride: Annotated[int, value(low=1)]
    dst_column_stride: NzStride
    dst_row_stride: NzStride
    dst_nd_stride: Gap
    l2_mode: L2Mode


class Load2dA(NamedTuple):
    """L1 to L0A in 512-byte fractals: dst fractal i * (dst_gap + 1) = src index + i * src_stride.

    ``transpose`` turns each 16x16 fractal of two-byte elements.
    """

    dst: L0aWrite
    src: L1Read
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Fractals
    src_stride: FractalStride
    dst_gap: Gap
    transpose: Flag


class Load2dB(NamedTuple):
    """L1 to L0B in 512-byte fractals, as Load2dA."""

    dst: L0bWrite
    src: L1Read
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Fractals
    src_stride: FractalStride
    dst_gap: Gap
    transpose: Flag


class Load2dTransposeA(NamedTuple):
    """L1 to L0A, transposing squares of 16x16 elements.

    ``index`` and ``src_stride`` count squares; the gaps count 512 bytes from the end of the first
    fractal of a square, and from the end of a fractal to the next of the same square.
    """

    dst: L0aWrite
    src: L1Read
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Fractals
    src_stride: FractalStride
    dst_gap: Gap
    dst_fractal_gap: Gap


class Load2dTransposeB(NamedTuple):
    """L1 to L0B, transposing squares of 16x16 elements, as Load2dTransposeA."""

    dst: L0bWrite
    src: L1Read
    index: Gap  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: Fractals
    src_stride: FractalStride
    dst_gap: Gap
    dst_fractal_gap: Gap


def blocks(length: int) -> int:
    """Bytes rounded up to whole 32-byte blocks, as bytes."""
    return (length + BLOCK_BYTES - 1) // BLOCK_BYTES * BLOCK_BYTES


def copy_in_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    count = f.bursts if f.length > 0 else 0
    row = blocks(f.length + (f.left + f.right) * facts.dst_bytes)
    return (
        runs(f.dst, 1, 0, count, row + f.dst_gap * BLOCK_BYTES, row),
        runs(f.src, 1, 0, count, f.length + f.src_gap, f.length),
    )


def copy_out_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    count = f.bursts if f.length > 0 else 0
    pitch = blocks(f.length) + f.src_gap * BLOCK_BYTES
    return (
        runs(f.dst, 1, 0, count, f.length + f.dst_gap, f.length),
        runs(f.src, 1, 0, count, pitch, f.length),
    )


def nd2nz_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    """Columns of blocks of every matrix: of rows that touch, or in the two strides there are."""
    size = facts.src_bytes
    length = f.columns * size
    columns = (length + BLOCK_BYTES - 1) // BLOCK_BYTES
    count = f.nd_count if f.rows * columns > 0 else 0
    column_stride = f.dst_column_stride * BLOCK_BYTES
    row_stride = f.dst_row_stride * BLOCK_BYTES
    matrix_stride = f.dst_nd_stride * size
    if f.dst_row_stride == 1:
        height = f.rows * BLOCK_BYTES
        target = runs(f.dst, count, matrix_stride, columns, column_stride, height)
    elif columns == 1:
        target = runs(f.dst, count, matrix_stride, f.rows, row_stride, BLOCK_BYTES)
    elif count > 1:
        target = nowhere()
    else:
        target = runs(f.dst, count * columns, column_stride, f.rows, row_stride, BLOCK_BYTES)
    source = runs(f.src, count, f.src_nd_stride * size, f.rows, f.src_row_stride * size, length)
    return target, source


def load2d_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    source = f.src + f.index * FRACTAL_BYTES
    return (
        runs(f.dst, 1, 0, f.repeat, (f.dst_gap + 1) * FRACTAL_BYTES, FRACTAL_BYTES),
        runs(source, 1, 0, f.repeat, f.src_stride * FRACTAL_BYTES, FRACTAL_BYTES),
    )


def load2d_transpose_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    fractals = facts.src_bytes // 2
    square = fractals * FRACTAL_BYTES
    step = (f.dst_gap + 1) * FRACTAL_BYTES
    inner = (f.dst_fractal_gap + 1) * FRACTAL_BYTES
    return (
        runs(f.dst, f.repeat, step, fractals, inner, FRACTAL_BYTES),
        runs(f.src + f.index * square, 1, 0, f.repeat, f.src_stride * square, square),
    )


def fractal_cycles(count: int, size: int, rate: int, latency: int) -> tuple[int, int]:
    """``count`` pieces of ``size`` bytes at ``rate`` bytes per cycle."""
    occupancy = max(1, (count * size + rate - 1) // rate)
    return occupancy, occupancy + latency


def load2d_a_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return fractal_cycles(f.repeat, FRACTAL_BYTES, soc.l1_to_l0a, soc.load2d_latency)


def load2d_b_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return fractal_cycles(f.repeat, FRACTAL_BYTES, soc.l1_to_l0b, soc.load2d_latency)


def load2d_transpose_a_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    square = facts.src_bytes // 2 * FRACTAL_BYTES
    return fractal_cycles(f.repeat, square, soc.l1_to_l0a, soc.load2d_latency)


def load2d_transpose_b_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    square = facts.src_bytes // 2 * FRACTAL_BYTES
    return fractal_cycles(f.repeat, square, soc.l1_to_l0b, soc.load2d_latency)


def copy_in_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    sides = (("left", f.left), ("right", f.right))
    most = BLOCK_BYTES // facts.dst_bytes
    return [(name, f"at most {most} elements (32 bytes)") for name, n in sides if n > most]


def nd2nz_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    """Matrices begin on blocks; one access has two strides, which rows of blocks may not exceed."""
    broken = []
    if f.nd_count < 2:
        return broken
    depth = BLOCK_BYTES // facts.src_bytes
    if f.dst_nd_stride % depth:
        broken.append(("dst_nd_stride", f"a multiple of {depth}, the elements of 32 bytes"))
    if f.dst_row_stride > 1 and f.columns > depth:
        broken.append(
            ("dst_row_stride", f"1 where several matrices have more than {depth} columns")
        )
    return broken


def load2d_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    if f.transpose and facts.src_bytes != 2:
        return [("transpose", "0: only two-byte elements are transposed while loading")]
    return []


COPY_IN = family("copy_in", CopyIn, copy_in_footprint, stream_cycles, copy_in_limits)
COPY_OUT = family("copy_out", CopyOut, copy_out_footprint, stream_cycles)
ND2NZ = family("nd2nz", Nd2Nz, nd2nz_footprint, stream_cycles, nd2nz_limits)
LOAD2D_A = family("load2d_a", Load2dA, load2d_footprint, load2d_a_cycles, load2d_limits)
LOAD2D_B = family("load2d_b", Load2dB, load2d_footprint, load2d_b_cycles, load2d_limits)
LOAD2DT_A = family(
    "load2dt_a", Load2dTransposeA, load2d_transpose_footprint, load2d_transpose_a_cycles
)
LOAD2DT_B = family(
    "load2dt_b", Load2dTransposeB, load2d_transpose_footprint, load2d_transpose_b_cycles
)


def bits(dtype: DType) -> str:
    """The width suffix of a mnemonic: ``b16``."""
    return f"b{dtype.bytes * 8}"


def moves(
    name: str,
    pipe: Pipe,
    form: Family,
    dtypes: tuple[DType, ...],
    meaning: Any,
    summary: str,
) -> list[Instruction]:
    """One row per element width."""
    return [
        Instruction(
            f"{name}.{bits(dtype)}",
            pipe,
            form,
            dtype,
            RowFacts(dtype.bytes, dtype.bytes, 0, 1, 1, 0, 0),
            meaning,
            summary,
        )
        for dtype in dtypes
    ]


WIDTHS = (U8, U16, U32)
MOVE: tuple[Instruction, ...] = (
    *moves("copy_gm_to_ubuf_align", Pipe.MTE2, COPY_IN, WIDTHS, means.copy_in, "GM to UB"),
    *moves("copy_ubuf_to_gm_align", Pipe.MTE3, COPY_OUT, WIDTHS, means.copy_out, "UB to GM"),
    *moves(
        "copy_gm_to_cbuf_multi_nd2nz",
        Pipe.MTE2,
        ND2NZ,
        WIDTHS,
        means.nd2nz,
        "rows of GM to fractals of L1",
    ),
    *moves(
        "load_cbuf_to_ca", Pipe.MTE1, LOAD2D_A, (U16, U32), means.load2d, "fractals of L1 to L0A"
    ),
    *moves(
        "load_cbuf_to_cb", Pipe.MTE1, LOAD2D_B, (U16, U32), means.load2d, "fractals of L1 to L0B"
    ),
    *moves(
        "load_cbuf_to_ca_transpose",
        Pipe.MTE1,
        LOAD2DT_A,
        (U16, U32),
        means.load2d_transpose,
        "transposed squares of L1 to L0A",
    ),
    *moves(
        "load_cbuf_to_cb_transpose",
        Pipe.MTE1,
        LOAD2DT_B,
        (U16, U32),
        means.load2d_transpose,
        "transposed squares of L1 to L0B",
    ),
)
