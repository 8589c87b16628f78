"""Tiles between global memory and UB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.dialects.tile_types import TileType
from pypto.passes.tik import lowering_blocks
from pypto.passes.tik.lowering_bits import compare_bits
from pypto.passes.tik.lowering_cast import choose_ones, step
from pypto.passes.tik.lowering_interleave import first_elements, rows_in_group
from pypto.passes.tik.lowering_repeated import element_blocks
from pypto.passes.tik.lowering_state import BITS_OF_SIZE, Buffer, Lowering, Tile, same_bits
from pypto.passes.tik.whole_repeats import MAX_REPEATS
from pypto.passes.tile.alignment import Tail
from pypto.passes.tile.arithmetic import round_up
from pypto.target.dtypes import F16, I1, U8
from pypto.target.memory import BLOCK_BYTES, Space

MAX_BURSTS = 4095


def element_suffix(size: int) -> tuple[str, int]:
    """The width suffix of a copy for elements of ``size`` bytes, and the width in bytes."""
    width = min(size, 4)
    return f"b{8 * width}", width


def copies_bytes(state: Lowering) -> bool:
    """Whether transfers move any number of bytes, not only whole blocks."""
    return state.has("copy_gm_to_ubuf_align.b16")


def needs_padding(state: Lowering, type: TileType) -> bool:
    """Whether a load leaves whole blocks of a row's padding unwritten."""
    written = 2 * BLOCK_BYTES if copies_bytes(state) else BLOCK_BYTES
    return type.shape[1] > 1 and state.granule * type.dtype.bytes > written


def load(state: Lowering, source: SSAValue, offset: Index, stride: Index, out: Tile) -> None:
    """Rows of ``source``, a tensor of the tile's elements, from element ``offset`` on.

    A row is filled up to the pitch with numbers, so that instructions may run over the padding:
    with zeros, or by copies of whole blocks with what lies behind it.
    """
    place = state.at(source, state.emit.mul(offset, out.size))
    if not copies_bytes(state):
        lowering_blocks.load(rows_of(state, out, place, stride))
    elif out.is_vector or is_contiguous(state, out, stride):
        length = state.emit.mul(out.count, out.size)
        copy_in(state, out.size, dst=out.pointer, src=place, length=length)
    else:
        load_rows(state, place, stride, out)


def is_contiguous(state: Lowering, tile: Tile, stride: Index) -> bool:
    """Whether the rows lie without gaps on both sides."""
    columns = tile.columns
    return isinstance(columns, int) and columns == stride and columns % state.granule == 0


def rows_of(state: Lowering, tile: Tile, place: SSAValue, stride: Index) -> lowering_blocks.Rows:
    """A tile as rows between UB and ``place``; what lies densely on both sides is one row."""
    emit, size, rows = state.emit, tile.size, tile.type.shape[0]
    make = partial(lowering_blocks.Rows, state, tile.pointer)
    if tile.is_vector or is_contiguous(state, tile, stride):
        return make(0, place, 0, 1, 1, emit.mul(tile.count, size))
    bytes = emit.mul(tile.columns, size)
    return make(emit.mul(tile.pitch, size), place, emit.mul(stride, size), tile.rows, rows, bytes)


def copy_in(state: Lowering, size: int, **fields: Index) -> None:
    suffix, _ = element_suffix(size)
    state.emit.instruction(f"copy_gm_to_ubuf_align.{suffix}", **fields)


def copy_out(state: Lowering, size: int, **fields: Index) -> None:
    suffix, _ = element_suffix(size)
    state.emit.instruction(f"copy_ubuf_to_gm_align.{suffix}", **fields)


def load_rows(state: Lowering, place: SSAValue, stride: Index, out: Tile) -> None:
    emit, size = state.emit, out.size
    _, width = element_suffix(size)
    length = emit.mul(out.columns, size)
    pitch_bytes = emit.mul(out.pitch, size)
    missing = emit.sub(pitch_bytes, length)
    right = emit.min(missing, BLOCK_BYTES) if state.granule * size > BLOCK_BYTES else missing
    fields = {"length": length, "right": emit.floor_div(right, width)}
    if out.type.shape[0] == 1:
        copy_in(state, size, dst=out.pointer, src=place, **fields)
        return
    if needs_padding(state, out.type):
        filled = emit.round_up(emit.add(length, right), BLOCK_BYTES)
        fields["dst_gap"] = emit.floor_div(emit.sub(pitch_bytes, filled), BLOCK_BYTES)
    fields["src_gap"] = row_gap(state, stride, out)
    for row, count in state.pieces(out.rows, out.type.shape[0], MAX_BURSTS):
        target = state.at(out.pointer, emit.mul(row, pitch_bytes))
        start = state.at(place, emit.mul(row, emit.mul(stride, size)))
        copy_in(state, size, dst=target, src=start, bursts=count, **fields)


def row_gap(state: Lowering, stride: Index, tile: Tile) -> Index:
    """Bytes in global memory from the end of one row to the next."""
    gap = state.emit.mul(state.emit.sub(stride, tile.columns), tile.size)
    if isinstance(gap, int) and gap < 0:
        raise state.unsupported(
            f"rows of {tile.columns} elements that begin {stride} elements apart",
            "make the row stride at least the length of a row",
        )
    return gap


def as_column_of_blocks(state: Lowering, vector: Tile, pointer: SSAValue, buffer: Buffer) -> Tile:
    """The extents of a dense vector, with every element at the start of a block of its own."""
    if vector.size not in BITS_OF_SIZE:
        raise state.unsupported(
            f"a column of {vector.dtype} elements that are no neighbours", "transpose first"
        )
    rows, _ = vector.type.shape
    pitch = BLOCK_BYTES // vector.size
    return replace(
        vector,
        type=vector.type.with_shape(rows, 2),
        columns=1,
        pitch=pitch,
        count=state.emit.mul(vector.rows, pitch),
        pointer=pointer,
        buffer=buffer,
    )


def is_dense(tile: Tile, stride: Index) -> bool:
    """Whether a column has its elements next to each other in global memory too."""
    return tile.type.shape[0] == 1 or stride == 1


def collect(state: Lowering, blocks: Tile, out: Tile) -> None:
    """The first element of every block, as a dense vector."""
    if not state.has(f"vcmax.{same_bits(out.dtype)}"):
        most = out.type.shape[0]
        first_elements(state, blocks.pointer, out.rows, most, out.dtype, out.pointer)
        return
    # The largest of one lane is that lane.
    for row, count in state.pieces(out.rows, out.type.shape[0], MAX_REPEATS):
        state.emit.instruction(
            f"vcmax.{same_bits(out.dtype)}",
            dst=state.at(out.pointer, state.emit.mul(row, out.size)),
            src=state.at(blocks.pointer, state.emit.mul(row, BLOCK_BYTES)),
            repeat=count,
            src_repeat=1,
            mask_high=0,
            mask_low=1,
        )


def staged_load(
    state: Lowering, source: SSAValue, offset: Index, stride: Index, out: Tile, slots: int
) -> Callable[[], None] | None:
    """Load a tile; what the vector pipe still has to do then, if anything.

    Truth values are bytes in global memory and bits in UB. Elements of a column that are no
    neighbours arrive in a block each.
    """
    if out.dtype == I1:
        type = TileType(*out.type.shape, U8, Space.UB)
        buffer = state.allocate("bytes", Space.UB, state.bytes_of(type), slots)
        if needs_padding(state, type):
            state.fill_at_start(buffer)
        bytes = replace(out, type=type, pointer=state.acquire(buffer), buffer=buffer)
        finish = staged_load(state, source, offset, stride, bytes, slots)
        return partial(_to_bits, state, bytes, out, finish)
    if out.is_vector and not is_dense(out, stride):
        if out.size == 1 and not copies_bytes(state):
            return _staged_bytes(state, source, offset, stride, out, slots)
        buffer = state.allocate("blocks", Space.UB, column_bytes(state, out), slots)
        blocks = as_column_of_blocks(state, out, state.acquire(buffer), buffer)
        load(state, source, offset, stride, blocks)
        return partial(collect, state, blocks, out)
    load(state, source, offset, stride, out)
    return None


def column_bytes(state: Lowering, vector: Tile) -> int:
    """Bytes of a block per element, in as many as are turned together where none is picked."""
    rows = vector.type.shape[0]
    if not copies_bytes(state):
        rows = round_up(rows, rows_in_group(vector.dtype))
    return rows * BLOCK_BYTES


def _staged_bytes(
    state: Lowering, source: SSAValue, offset: Index, stride: Index, out: Tile, slots: int
) -> Callable[[], None]:
    """Bytes that are no neighbours: the first half of each block becomes a block of halves."""
    rows = out.type.shape[0]
    type = TileType(rows, 1, F16, Space.UB)
    halves = state.tile(type, out.rows, 1, state.allocate("halves", Space.UB, state.bytes_of(type)))
    held = state.acquire(state.allocate("blocks", Space.UB, rows * BLOCK_BYTES, slots))
    place = state.at(source, offset)
    lowering_blocks.load(
        lowering_blocks.Rows(state, held, BLOCK_BYTES, place, stride, out.rows, rows, out.size)
    )

    def finish() -> None:
        wide = state.temporary("wide", column_bytes(state, halves))
        for row, count in state.pieces(out.rows, rows, MAX_REPEATS):
            start = state.emit.mul(row, BLOCK_BYTES)
            state.emit.instruction(
                f"vconv_{out.dtype}2f16",
                dst=state.at(wide, start),
                src=state.at(held, start),
                repeat=count,
                dst_repeat=1,
                src_repeat=1,
                mask_high=0,
                mask_low=(1 << (BLOCK_BYTES // F16.bytes)) - 1,
            )
        first_elements(state, wide, out.rows, rows, F16, halves.pointer)
        step(state, halves, out, "rint")

    return finish


def _to_bits(state: Lowering, bytes: Tile, out: Tile, finish: Callable[[], None] | None) -> None:
    if finish is not None:
        finish()
    halves = state.whole_scratch(out, F16)
    step(state, bytes, halves, "rint")
    compare_bits(state, "ne", halves, 0, out)


def storable(state: Lowering, source: Tile, stride: Index) -> Tile:
    """A tile as it can be stored: truth values as bytes, scattered elements in a block each."""
    if source.dtype == I1:
        halves = state.scratch(source, F16)
        choose_ones(state, source, halves)
        type = TileType(*source.type.shape, U8, Space.UB)
        buffer = state.allocate("bytes", Space.UB, state.bytes_of(type), state.slots)
        bytes = replace(source, type=type, pointer=state.acquire(buffer), buffer=buffer)
        step(state, halves, bytes, "rint")
        source = bytes
    if source.is_vector and not is_dense(source, stride):
        return as_column_of_blocks(state, source, element_blocks(state, source), source.buffer)
    return source


def store(
    state: Lowering, source: Tile, target: SSAValue, offset: Index, stride: Index, tail: Tail
) -> None:
    """The valid elements of a storable tile to ``target`` from element ``offset`` on."""
    emit, size, rows = state.emit, source.size, source.type.shape[0]
    place = state.at(target, emit.mul(offset, size))
    if not copies_bytes(state):
        lowering_blocks.store(rows_of(state, source, place, stride), tail)
        return
    if source.is_vector or is_contiguous(state, source, stride):
        length = emit.mul(source.count, size)
        copy_out(state, size, dst=place, src=source.pointer, length=length)
        return
    length = emit.mul(source.columns, size)
    if rows == 1:
        copy_out(state, size, dst=place, src=source.pointer, length=length)
        return
    pitch_bytes = emit.mul(source.pitch, size)
    fields: dict[str, Index] = {"length": length, "dst_gap": row_gap(state, stride, source)}
    if state.granule * size > BLOCK_BYTES:
        gap = emit.sub(pitch_bytes, emit.round_up(length, BLOCK_BYTES))
        fields["src_gap"] = emit.floor_div(gap, BLOCK_BYTES)
    for row, count in state.pieces(source.rows, rows, MAX_BURSTS):
        start = state.at(source.pointer, emit.mul(row, pitch_bytes))
        end = state.at(place, emit.mul(row, emit.mul(stride, size)))
        copy_out(state, size, dst=end, src=start, bursts=count, **fields)
