"""Tiles made of one number, one row or one column, of positions, or of elements at positions."""

from __future__ import annotations

from pypto.dialects.emitter import Index
from pypto.dialects.tile_types import TileType
from pypto.passes.tik.lowering_bits import BITS_PER_WORD, compare_bits, number
from pypto.passes.tik.lowering_cast import cast, choose_ones
from pypto.passes.tik.lowering_ramp import double, fill, ramp
from pypto.passes.tik.lowering_repeated import on_all_rows, repeated
from pypto.passes.tik.lowering_state import BITS_OF_SIZE, Lowering, Tile
from pypto.passes.tile.arithmetic import round_up
from pypto.target.dtypes import F16, I1, I8, I16, I32, I64, U8, U16
from pypto.target.memory import Space


def full(state: Lowering, out: Tile, value: int | float) -> None:
    """Every element is ``value``, in the padding too."""
    dtype = out.dtype
    if dtype == I1:
        words = state.emit.ceil_div(out.count, BITS_PER_WORD)
        scalar = 0xFFFF if value else 0
        state.vector("vector_dup.u16", words, dst=out.pointer, scalar=scalar)
    elif dtype in (I8, U8):
        pairs = state.emit.ceil_div(out.count, U16.bytes)
        scalar = (int(value) & 0xFF) * 0x0101
        state.vector("vector_dup.u16", pairs, dst=out.pointer, scalar=scalar)
    elif dtype == I64:
        narrow = state.scratch(out, I32)
        if not -(2**31) <= int(value) < 2**31:
            raise state.unsupported(f"the 64-bit number {value}", "use int32")
        fill(state, narrow.pointer, out.count, int(value))
        cast(state, narrow, out, "rint")
    else:
        scalar = number(value, dtype)
        state.vector(f"vector_dup.{dtype}", out.count, dst=out.pointer, scalar=scalar)


def iota(state: Lowering, out: Tile, start: Index, row_step: int, column_step: int) -> None:
    """out[r, c] = start + r * row_step + c * column_step."""
    emit, (rows, columns) = state.emit, out.type.shape
    if out.is_vector:
        ramp(state, out.pointer, out.count, rows, start, row_step)
        return
    ramp(state, out.pointer, out.pitch, round_up(columns, state.granule), start, column_step)
    if rows == 1:
        return
    if not state.has("vadds.i32"):
        double(state, out.pointer, out.pitch, out.rows, rows, row_step)
        return
    pitch_bytes = emit.mul(out.pitch, out.size)
    with state.disjoint(emit.sub(out.rows, 1)) as turn:
        row = emit.add(turn, 1)
        state.vector(
            "vadds.i32",
            out.pitch,
            dst=state.at(out.pointer, emit.mul(row, pitch_bytes)),
            src=out.pointer,
            scalar=emit.mul(row, row_step),
        )


def gather(state: Lowering, source: Tile, offsets: Tile, out: Tile) -> None:
    """out[i] = the element of ``source`` at byte ``offsets``[i], padding included.

    Offsets in padding may point anywhere: they are held back to the last element.
    """
    if source.size not in BITS_OF_SIZE:
        raise state.unsupported(f"gathering {source.dtype} elements", "cast to float16 first")
    if not state.has(f"vgather.{BITS_OF_SIZE[source.size]}"):
        raise state.unsupported("gathering elements", "transpose or slice whole rows instead")
    last = state.emit.mul(state.emit.sub(source.count, 1), source.size)
    near = state.scratch(offsets, I32)
    state.vector("vmins.i32", out.count, dst=near.pointer, src=offsets.pointer, scalar=last)
    state.vector(
        f"vgather.{BITS_OF_SIZE[source.size]}",
        out.count,
        dst=out.pointer,
        offsets=near.pointer,
        base=source.pointer,
    )


def broadcast(state: Lowering, source: Tile, out: Tile) -> None:
    """The one row, column or element of ``source`` in all rows and columns of ``out``."""
    if source.dtype == I1:
        broadcast_bits(state, source, out)
        return
    if source.size not in BITS_OF_SIZE:
        raise state.unsupported(f"broadcasting {source.dtype} elements", "cast to int32 first")
    if source.type.shape == out.type.shape:
        state.copy(out, source)
    else:
        name = f"vcopy.{BITS_OF_SIZE[out.size]}"
        operand = repeated(state, source)
        if state.has(name):
            on_all_rows(state, name, out, ("src",), operand)
        else:
            on_all_rows(state, "vor.u16", words_of(state, out), ("src0", "src1"), operand)


def words_of(state: Lowering, tile: Tile) -> Tile:
    """The rows of a tile, padding included, as 16-bit words."""
    emit, (rows, columns) = state.emit, tile.type.shape
    each = tile.size // U16.bytes
    if tile.is_vector:
        shape, extents = (rows * each, 1), (emit.mul(tile.rows, each), 1)
    else:
        words = emit.mul(tile.pitch, each)
        shape, extents = (rows, round_up(columns, state.granule) * each), (tile.rows, words)
    pitch = 1 if tile.is_vector else extents[1]
    count = emit.mul(tile.count, each)
    type = TileType(*shape, I16, Space.UB)
    return Tile(type, *extents, pitch, count, tile.pointer, tile.buffer)


def broadcast_bits(state: Lowering, source: Tile, out: Tile) -> None:
    """Bits by way of numbers 0 and 1."""
    few, many = state.scratch(source, F16), state.whole_scratch(out, F16)
    choose_ones(state, source, few)
    broadcast(state, few, many)
    compare_bits(state, "ne", many, 0, out)
