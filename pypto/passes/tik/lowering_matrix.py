"""Tiles of the cube: global memory to L1, L1 to L0A and L0B, and products.

L1 holds a matrix in one of two layouts. *NZ*: columns of fractals, each of all rows, as the cube
loads them. *Squares*, for 32-bit matrices that are to be transposed: rows of fractals, so that
the two fractals of a 16 x 16 square are neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.passes.tik.lowering_state import Lowering, Tile
from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.passes.tile.block_loads import goes_by_columns
from pypto.target.dtypes import F32
from pypto.target.layouts import EDGE
from pypto.target.limits import field_on
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, Space

SQUARE_BYTES = 2 * FRACTAL_BYTES
MAX_ROW_STRIDE = 65535


@dataclass(frozen=True, eq=False)
class Packet:
    """A matrix in L1. ``is_row``: 1 where it is one row that lies densely, as GEMV reads it."""

    tile: Tile
    squares: bool
    is_row: Index


@dataclass(frozen=True, eq=False)
class Factor:
    """A matrix in L0A or L0B. ``is_packed``: a single row lies as GEMV reads it."""

    tile: Tile
    transposed: bool
    is_packed: bool


def matrix_bytes(rows: int, columns: int, size: int) -> int:
    """Bytes of a matrix of ``size``-byte elements in whole squares of 16 x 16."""
    return round_up(rows, EDGE) * round_up(columns, EDGE) * size


def load_packet(
    state: Lowering,
    source: SSAValue,
    offset: Index,
    stride: Index,
    tile: Tile,
    squares: bool,
    packs_rows: bool,
) -> Packet:
    """Rows of a tensor to L1; ``packs_rows``: a single row is to lie densely."""
    emit, size = state.emit, tile.size
    place = state.at(source, emit.mul(offset, size))
    if squares:
        load_squares(state, place, stride, tile)
        return Packet(tile, True, 0)
    is_row = emit.equal(tile.rows, 1) if packs_rows else 0
    # A column of fractals is `pitch` blocks; those of a single dense row lie one block apart.
    step = emit.sub(tile.pitch, emit.mul(is_row, EDGE - 1))
    load_fractals(state, place, stride, tile, tile.pointer, tile.rows, step)
    return Packet(tile, False, is_row)


def load_fractals(
    state: Lowering,
    place: SSAValue,
    stride: Index,
    tile: Tile,
    target: SSAValue,
    rows: Index,
    step: Index,
) -> None:
    """Rows to columns of fractals that lie ``step`` blocks apart."""
    emit = state.emit
    mnemonic = f"copy_gm_to_cbuf_multi_nd2nz.b{8 * tile.size}"
    if not state.has(mnemonic):
        load_blocks(state, place, stride, tile, target, rows, step)
        return
    fields = {"columns": tile.columns, "dst_column_stride": step}
    if isinstance(stride, int) and stride > MAX_ROW_STRIDE:
        with state.disjoint(rows) as row:
            end = state.at(target, emit.mul(row, BLOCK_BYTES))
            start = state.at(place, emit.mul(row, stride * tile.size))
            emit.instruction(mnemonic, dst=end, src=start, rows=1, src_row_stride=1, **fields)
        return
    emit.instruction(mnemonic, dst=target, src=place, rows=rows, src_row_stride=stride, **fields)


def load_blocks(
    state: Lowering,
    place: SSAValue,
    stride: Index,
    tile: Tile,
    target: SSAValue,
    rows: Index,
    step: Index,
) -> None:
    """The same by copies of whole blocks: the last one of a row holds what follows the row too."""
    emit, size = state.emit, tile.size
    width = BLOCK_BYTES // size
    blocks = emit.ceil_div(tile.columns, width)
    most_rows = rows if isinstance(rows, int) else tile.type.shape[0]
    most_blocks = ceil_div(tile.type.shape[1], width)
    row_bytes = emit.mul(stride, size)
    if goes_by_columns(most_rows, most_blocks, row_bytes if isinstance(row_bytes, int) else None):
        gap = emit.sub(emit.floor_div(row_bytes, BLOCK_BYTES), 1)
        with state.disjoint(blocks) as block:
            end = state.at(target, emit.mul(block, emit.mul(step, BLOCK_BYTES)))
            start = state.at(place, emit.mul(block, BLOCK_BYTES))
            copy_blocks(state, end, start, rows, gap, 0)
        return
    with state.disjoint(rows) as row:
        end = state.at(target, emit.mul(row, BLOCK_BYTES))
        start = state.at(place, emit.mul(row, row_bytes))
        copy_blocks(state, end, start, blocks, 0, emit.sub(step, 1))


def copy_blocks(
    state: Lowering, dst: SSAValue, src: SSAValue, count: Index, src_gap: Index, dst_gap: Index
) -> None:
    """``count`` blocks of global memory to L1, one burst each, or one of all without gaps."""
    bursts, length = (1, count) if src_gap == dst_gap == 0 else (count, 1)
    state.emit.instruction(
        "copy_gm_to_cbuf.b32",
        dst=dst,
        src=src,
        bursts=bursts,
        length=length,
        src_gap=src_gap,
        dst_gap=dst_gap,
    )


def load_squares(state: Lowering, place: SSAValue, stride: Index, tile: Tile) -> None:
    """Sixteen rows at a time."""
    emit, size = state.emit, tile.size
    groups = emit.ceil_div(tile.rows, EDGE)
    row_of_squares = emit.mul(emit.ceil_div(tile.columns, EDGE), SQUARE_BYTES)
    with state.disjoint(groups) as group:
        first = emit.mul(group, EDGE)
        rows = emit.min(EDGE, emit.sub(tile.rows, first))
        target = state.at(tile.pointer, emit.mul(group, row_of_squares))
        start = state.at(place, emit.mul(first, emit.mul(stride, size)))
        load_fractals(state, start, stride, tile, target, rows, EDGE)


def same(a: Index, b: Index) -> bool:
    """Whether two extents are one."""
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


def extract(
    state: Lowering, packet: Packet, row: Index, column: Index, transposed: bool, out: Tile
) -> Factor:
    """A part of a packet to L0A (fractals row by row) or L0B (fractals of [n][k], by k)."""
    for_a = out.type.space is Space.L0A
    turns = transposed if for_a else not transposed
    if for_a and not turns and not (row == 0 and same(out.rows, packet.tile.rows)):
        raise state.unsupported("a factor cut along its rows in L1", "load whole rows of A")
    if packet.squares:
        extract_squares(state, packet.tile, row, column, out)
    elif turns:
        extract_turned(state, packet.tile, row, column, out)
    else:
        extract_straight(state, packet, row, column, out)
    return Factor(out, transposed, for_a and not turns)


def extract_straight(state: Lowering, packet: Packet, row: Index, column: Index, out: Tile) -> None:
    """Fractals as they lie in L1.

    ``major`` counts fractals along the rows of the packet (m of A, n of B), ``minor`` along its
    columns (k).
    """
    emit, source = state.emit, packet.tile
    for_a = out.type.space is Space.L0A
    width = BLOCK_BYTES // out.size
    shape = out.type.shape if for_a else out.type.shape[::-1]
    valid = (out.rows, out.columns) if for_a else (out.columns, out.rows)
    major, minor = emit.ceil_div(valid[0], EDGE), emit.ceil_div(valid[1], width)
    most_major, most_minor = ceil_div(shape[0], EDGE), ceil_div(shape[1], width)
    step = emit.sub(source.pitch, emit.mul(packet.is_row, EDGE - 1))
    start = emit.add(
        emit.mul(emit.floor_div(column, width), emit.mul(step, BLOCK_BYTES)),
        emit.mul(row, BLOCK_BYTES),
    )
    start_pointer = state.at(source.pointer, start)
    minor_fractals = minor
    if packet.is_row != 0:
        # A dense row takes fewer fractals: sixteen of its blocks fill one.
        fewer = emit.sub(minor, emit.ceil_div(minor, EDGE))
        minor_fractals = emit.sub(minor, emit.mul(packet.is_row, fewer))
    column_bytes = emit.mul(emit.max(step, EDGE), BLOCK_BYTES)
    by_minor = not for_a if is_packed_only(state, out) else most_minor <= most_major
    with state.disjoint(minor_fractals if by_minor else major) as turn:
        if by_minor:
            fields = load2d_fields(
                state,
                repeat=major,
                stride=1,
                place=emit.mul(turn, 1 if for_a else major),
                step=minor if for_a else 1,
            )
            offset = emit.mul(turn, column_bytes)
        else:
            fields = load2d_fields(
                state,
                repeat=minor_fractals,
                stride=emit.floor_div(column_bytes, FRACTAL_BYTES),
                place=emit.mul(turn, minor if for_a else 1),
                step=1 if for_a else major,
            )
            offset = emit.mul(turn, FRACTAL_BYTES)
        load2d(state, out, state.at(start_pointer, offset), 0, **fields)


def extract_turned(state: Lowering, source: Tile, row: Index, column: Index, out: Tile) -> None:
    """16-bit fractals, each transposed; ``outer`` counts along k, the rows of the packet."""
    emit = state.emit
    for_a = out.type.space is Space.L0A
    shape = out.type.shape[::-1] if for_a else out.type.shape
    valid = (out.columns, out.rows) if for_a else (out.rows, out.columns)
    outer, inner = (emit.ceil_div(extent, EDGE) for extent in valid)
    most_outer, most_inner = (ceil_div(extent, EDGE) for extent in shape)
    column_bytes = emit.mul(source.pitch, BLOCK_BYTES)
    start = emit.add(
        emit.mul(emit.floor_div(column, EDGE), column_bytes), emit.mul(row, BLOCK_BYTES)
    )
    start_pointer = state.at(source.pointer, start)
    by_outer = not for_a if is_packed_only(state, out) else most_outer <= most_inner
    with state.disjoint(outer if by_outer else inner) as turn:
        if by_outer:
            fields = load2d_fields(
                state,
                repeat=inner,
                stride=emit.floor_div(source.pitch, EDGE),
                place=emit.mul(turn, 1 if for_a else inner),
                step=outer if for_a else 1,
            )
            offset = emit.mul(turn, FRACTAL_BYTES)
        else:
            fields = load2d_fields(
                state,
                repeat=outer,
                stride=1,
                place=emit.mul(turn, outer if for_a else 1),
                step=1 if for_a else inner,
            )
            offset = emit.mul(turn, column_bytes)
        load2d(state, out, state.at(start_pointer, offset), 1, **fields)


def is_packed_only(state: Lowering, out: Tile) -> bool:
    """Whether the machine puts the fractals of one load next to each other only."""
    return field_on(state.machine.architecture, load2d_mnemonic(out), "dst_gap").high == 0


def load2d_mnemonic(out: Tile) -> str:
    name = "load_cbuf_to_ca" if out.type.space is Space.L0A else "load_cbuf_to_cb"
    return f"{name}.b{8 * out.size}"


def load2d_fields(
    state: Lowering, repeat: Index, stride: Index, place: Index, step: Index
) -> dict[str, Index]:
    """``repeat`` fractals, ``stride`` apart in L1, to fractals ``place`` + i * ``step``."""
    return {
        "repeat": repeat,
        "src_stride": stride,
        "place": place,
        "dst_gap": state.emit.sub(step, 1),
    }


def load2d(
    state: Lowering, out: Tile, source: SSAValue, transpose: int, place: Index, **fields: Index
) -> None:
    state.emit.instruction(
        load2d_mnemonic(out),
        dst=state.at(out.pointer, state.emit.mul(place, FRACTAL_BYTES)),
        src=source,
        transpose=transpose,
        **fields,
    )


def extract_squares(state: Lowering, source: Tile, row: Index, column: Index, out: Tile) -> None:
    """32-bit squares, each transposed: a square is two fractals, next to each other along k."""
    emit = state.emit
    for_a = out.type.space is Space.L0A
    valid = (out.columns, out.rows) if for_a else (out.rows, out.columns)
    depth, width = (emit.ceil_div(extent, EDGE) for extent in valid)
    row_of_squares = emit.mul(emit.ceil_div(source.columns, EDGE), SQUARE_BYTES)
    start = emit.add(
        emit.mul(emit.floor_div(row, EDGE), row_of_squares),
        emit.mul(emit.floor_div(column, EDGE), SQUARE_BYTES),
    )
    start_pointer = state.at(source.pointer, start)
    with state.disjoint(depth) as turn:
        if for_a:
            name, place = "load_cbuf_to_ca_transpose", emit.mul(turn, SQUARE_BYTES)
            gaps = {"dst_gap": emit.sub(emit.mul(depth, 2), 1)}
        else:
            name = "load_cbuf_to_cb_transpose"
            place = emit.mul(turn, emit.mul(width, SQUARE_BYTES))
            gaps = {"dst_fractal_gap": emit.sub(width, 1)}
        emit.instruction(
            f"{name}.b32",
            dst=state.at(out.pointer, place),
            src=state.at(start_pointer, emit.mul(turn, row_of_squares)),
            repeat=width,
            **gaps,
        )


def multiply(state: Lowering, total: Tile, a: Factor, b: Factor, init: Index) -> None:
    """total = a @ b, plus total where ``init`` is 0.

    A single row makes the cube read A as a dense row. Where A does not lie so, its second row,
    zeros from padding, is multiplied too.
    """
    emit = state.emit
    rows = total.rows if a.is_packed else emit.max(total.rows, 2)
    aligned = int(a.transposed and a.tile.dtype == F32)
    emit.instruction(
        f"mad.{a.tile.dtype}",
        c=total.pointer,
        a=a.tile.pointer,
        b=b.tile.pointer,
        m=rows,
        k=a.tile.columns,
        n=total.columns,
        k_align=aligned,
        c_init=init,
    )
