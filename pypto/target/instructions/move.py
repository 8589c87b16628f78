"""Instructions that move bursts of bytes between GM and UB, and rows of GM to fractals of L1."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import U8, U16, U32, DType
from pypto.target.instruction import Access, Family, Instruction, RowFacts, family, nowhere, runs
from pypto.target.instructions import move_meaning as means
from pypto.target.instructions.fields import (
    Atomic,
    Bursts,
    Gap,
    GmRead,
    GmWrite,
    L1Write,
    L2Mode,
    PadValue,
    UbRead,
    UbWrite,
    stream_cycles,
    value,
)
from pypto.target.memory import BLOCK_BYTES, Pipe

BurstBytes = Annotated[int, value(high=2097151)]
ByteGap = Annotated[int, value(0, high=2**32 - 1)]
BlockGap = Annotated[int, value(0, high=2**32 - 1)]
Pad = Annotated[int, value(0, high=32)]
NzStride = Annotated[int, value(1, low=1, high=16384)]
MatrixCount = Annotated[int, value(1, high=4095)]


class CopyIn(NamedTuple):
    """GM to UB: bursts of ``length`` bytes, each filled to 32 bytes in UB.

    ``left`` and ``right`` elements of ``pad_value`` are added to each burst; what fills a block is
    ``pad_value``, too, but the first element of the burst where both are 0. ``src_gap`` is in
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


def copy_in_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    sides = (("left", f.left), ("right", f.right))
    most = BLOCK_BYTES // facts.dst_bytes
    broken = [(name, f"at most {most} elements (32 bytes)") for name, n in sides if n > most]
    return broken + length_limits(f, facts)


def length_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    size = facts.dst_bytes
    return [("length", f"a multiple of {size} bytes")] if f.length % size else []


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


COPY_IN = family("copy_in", CopyIn, copy_in_footprint, stream_cycles, copy_in_limits)
COPY_OUT = family("copy_out", CopyOut, copy_out_footprint, stream_cycles, length_limits)
ND2NZ = family("nd2nz", Nd2Nz, nd2nz_footprint, stream_cycles, nd2nz_limits)


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
)
