"""Tiles made of one number, one row or one column, of positions, or of elements at positions."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.passes.tik.lane_masks import first_lanes
from pypto.passes.tik.lowering_bits import BITS_PER_WORD, compare_bits, number
from pypto.passes.tik.lowering_cast import cast, choose_ones
from pypto.passes.tik.lowering_ramp import fill, ramp
from pypto.passes.tik.lowering_state import BITS_OF_SIZE, MAX_REPEATS, Lowering, Tile, lanes_of
from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.target.dtypes import F16, I1, I8, I32, I64, U8, U16
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

BLOCKS = REPEAT_BYTES // BLOCK_BYTES


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
        raise state.unsupported(f"broadcasting {source.dtype} elements", "cast to float16 first")
    from_rows, from_columns = source.type.shape
    if source.type.shape == out.type.shape:
        state.copy(out, source)
    elif from_rows == from_columns == 1:
        block = element_blocks(state, source)
        state.copy_elements(out.pointer, block, out.count, out.dtype, src_block=0, src_repeat=0)
    elif from_rows == 1:
        repeat_row(state, source, out)
    else:
        repeat_column(state, source, out)


def broadcast_bits(state: Lowering, source: Tile, out: Tile) -> None:
    """Bits by way of numbers 0 and 1."""
    few, many = state.scratch(source, F16), state.whole_scratch(out, F16)
    choose_ones(state, source, few)
    broadcast(state, few, many)
    compare_bits(state, "ne", many, 0, out)


def element_blocks(state: Lowering, source: Tile) -> SSAValue:
    """A block of 32 bytes per element of a dense vector, filled with that element."""
    rows = source.type.shape[0]
    groups = ceil_div(rows, BLOCKS)
    blocks = state.temporary("blocks", groups * REPEAT_BYTES)
    repeats = state.emit.ceil_div(source.count, BLOCKS)
    # A piece of the source begins on a block: 16 or 32 of its groups of 8 elements do.
    for start, size in state.pieces(repeats, groups, MAX_REPEATS // 16 * 16):
        state.emit.instruction(
            f"vbrcb.{BITS_OF_SIZE[source.size]}",
            dst=state.at(blocks, state.emit.mul(start, REPEAT_BYTES)),
            src=state.at(source.pointer, state.emit.mul(start, BLOCKS * source.size)),
            repeat=size,
        )
    return blocks


def repeat_row(state: Lowering, source: Tile, out: Tile) -> None:
    """Copies of one row: chunk by chunk for all rows, or row by row, whichever is fewer."""
    emit, (rows, columns) = state.emit, out.type.shape
    pitch_bytes = emit.mul(out.pitch, out.size)
    if rows <= ceil_div(columns, lanes_of(out.dtype)):
        with state.disjoint(out.rows) as row:
            target = state.at(out.pointer, emit.mul(row, pitch_bytes))
            state.copy_elements(target, source.pointer, out.pitch, out.dtype)
        return
    for row, count in state.pieces(out.rows, rows, MAX_REPEATS):
        for chunk, mask in column_chunks(state, out):
            place = emit.mul(chunk, REPEAT_BYTES)
            emit.instruction(
                f"vcopy.{BITS_OF_SIZE[out.size]}",
                dst=state.at(out.pointer, emit.add(emit.mul(row, pitch_bytes), place)),
                src=state.at(source.pointer, place),
                repeat=count,
                dst_repeat=emit.floor_div(pitch_bytes, BLOCK_BYTES),
                src_repeat=0,
                **mask,
            )


def repeat_column(state: Lowering, source: Tile, out: Tile) -> None:
    """Rows of one number each, from a block per row."""
    emit, (rows, columns) = state.emit, out.type.shape
    blocks = element_blocks(state, source)
    pitch_bytes = emit.mul(out.pitch, out.size)
    if rows <= ceil_div(columns, lanes_of(out.dtype)):
        with state.disjoint(out.rows) as row:
            target = state.at(out.pointer, emit.mul(row, pitch_bytes))
            block = state.at(blocks, emit.mul(row, BLOCK_BYTES))
            state.copy_elements(target, block, out.pitch, out.dtype, src_block=0, src_repeat=0)
        return
    for row, count in state.pieces(out.rows, rows, MAX_REPEATS):
        for chunk, mask in column_chunks(state, out):
            place = emit.add(emit.mul(row, pitch_bytes), emit.mul(chunk, REPEAT_BYTES))
            emit.instruction(
                f"vcopy.{BITS_OF_SIZE[out.size]}",
                dst=state.at(out.pointer, place),
                src=state.at(blocks, emit.mul(row, BLOCK_BYTES)),
                repeat=count,
                src_block=0,
                dst_repeat=emit.floor_div(pitch_bytes, BLOCK_BYTES),
                src_repeat=1,
                **mask,
            )


def column_chunks(state: Lowering, tile: Tile) -> Iterator[tuple[Index, dict[str, Index]]]:
    """Chunks of the rows of a tile, one repeat wide, each with the mask of its lanes.

    All whole chunks are turns of one loop; the lanes left over come behind it.
    """
    emit, lanes = state.emit, lanes_of(tile.dtype)
    most = round_up(tile.type.shape[1], state.granule)
    if most <= lanes:
        yield 0, first_lanes(emit, tile.pitch, lanes)
        return
    whole = emit.floor_div(tile.pitch, lanes)
    with state.disjoint(whole) as chunk:
        yield chunk, {}
    rest = emit.remainder(tile.pitch, lanes)
    if rest != 0:
        yield whole, first_lanes(emit, rest, lanes)
