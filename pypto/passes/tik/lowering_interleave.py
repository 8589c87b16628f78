"""Elements moved between lanes where the machine can only transpose squares of 16-bit words.

Element e of a row is the words 2e and 2e + 1 of the row when it has 32 bits. One transposition of
16 rows gathers equal words of them; a second one puts the words of an element together again, so
that 32-bit elements of 8 x 16 rows are turned at a time. Both only move bytes: rows nothing has
been written to may be turned as well.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.passes.tik.lane_masks import every_second, first_lanes
from pypto.passes.tik.lowering_state import Lowering, Tile, lanes_of
from pypto.passes.tik.whole_repeats import MAX_REPEATS
from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.target.dtypes import U16, U32, DType
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

EDGE = 16  # words along a side of a square
BLOCKS = REPEAT_BYTES // BLOCK_BYTES
SQUARES = 8  # in a group of rows of 32-bit elements
ELEMENTS = BLOCK_BYTES // U32.bytes
GROUP_BYTES = SQUARES * EDGE * BLOCK_BYTES  # of one block of 32-bit elements in each row


class Side(NamedTuple):
    """One side of a square: block i lies ``i * apart`` blocks from the first one.

    ``repeat``: blocks from there to the next square.
    """

    apart: Index
    repeat: Index = 0


def rows_in_group(dtype: DType) -> int:
    """Rows that are turned together: a buffer of rows to turn holds whole groups."""
    return EDGE if dtype.bytes == U16.bytes else SQUARES * EDGE


def transpose(
    state: Lowering, source: SSAValue, target: SSAValue, src: Side, dst: Side, repeat: Index = 1
) -> None:
    """``repeat`` (1..255) squares of 16 x 16 words."""
    emit = state.emit
    # The machine moves even the only square by the stride of repeats.
    many = emit.less(1, repeat)
    emit.instruction(
        "scatter_vnchwconv.b16",
        dst=target,
        src=source,
        repeat=repeat,
        dst_step=emit.mul(2, dst.apart),
        dst_pair=dst.apart,
        src_step=emit.mul(2, src.apart),
        src_pair=src.apart,
        dst_repeat=emit.mul(many, dst.repeat),
        src_repeat=emit.mul(many, src.repeat),
    )


def element_vectors(
    state: Lowering, blocks: SSAValue, apart: Index, words: SSAValue, out: SSAValue, elements: int
) -> None:
    """out[e, r] = 32-bit element e (< ``elements`` <= 8) of the block of row r, of 128 rows.

    The blocks of rows lie ``apart`` blocks from each other. ``words`` takes ``GROUP_BYTES``,
    ``out`` an eighth of that for each element.
    """
    emit = state.emit
    # Lane i of word w of square g is word w of row 8 * i + g.
    source = Side(emit.mul(SQUARES, apart), repeat=apart)
    transpose(state, blocks, words, source, Side(1, repeat=EDGE), SQUARES)
    for element in range(elements):
        emit.instruction(
            "scatter_vnchwconv.b16",
            dst=state.at(out, element * GROUP_BYTES // ELEMENTS),
            src=state.at(words, element * 2 * BLOCK_BYTES),
            dst_step=2,
            dst_pair=1,
            src_step=EDGE,
            src_pair=1,
        )


def first_elements(
    state: Lowering, blocks: SSAValue, rows: Index, most_rows: int, dtype: DType, out: SSAValue
) -> None:
    """The first element (2 or 4 bytes) of the block of each row, as a dense vector.

    ``blocks`` holds ``most_rows`` in whole groups; whole blocks of ``out`` are written.
    """
    groups = ceil_div(most_rows, rows_in_group(dtype))
    if dtype.bytes == U16.bytes:
        turned = state.temporary("turned", groups * EDGE * BLOCK_BYTES)
        for start in range(0, groups, MAX_REPEATS):
            source = state.at(blocks, start * EDGE * BLOCK_BYTES)
            target = state.at(turned, start * BLOCK_BYTES)
            count = min(MAX_REPEATS, groups - start)
            transpose(state, source, target, Side(1, EDGE), Side(groups, 1), count)
    else:
        vector_bytes = GROUP_BYTES // ELEMENTS
        turned = state.temporary("turned", groups * vector_bytes)
        with state.disjoint(state.emit.ceil_div(rows, rows_in_group(dtype))) as group:
            words = state.temporary("words", GROUP_BYTES)
            source = state.at(blocks, state.emit.mul(group, GROUP_BYTES))
            target = state.at(turned, state.emit.mul(group, vector_bytes))
            element_vectors(state, source, 1, words, target, 1)
    state.copy_blocks(out, turned, state.emit.mul(rows, dtype.bytes))


def element_blocks(state: Lowering, source: Tile) -> SSAValue:
    """A block of 32 bytes per element (2 or 4 bytes) of a dense vector, filled with it."""
    rows = source.type.shape[0]
    groups = ceil_div(rows * source.size, BLOCK_BYTES)
    # Every word of a block of the source becomes a block.
    words = state.temporary("blocks", groups * EDGE * BLOCK_BYTES)
    for start in range(0, groups, MAX_REPEATS):
        block = state.at(source.pointer, start * BLOCK_BYTES)
        target = state.at(words, start * EDGE * BLOCK_BYTES)
        transpose(state, block, target, Side(0, 1), Side(1, EDGE), min(MAX_REPEATS, groups - start))
    return words if source.size == U16.bytes else merge_words(state, words, source.count, rows)


def merge_words(state: Lowering, words: SSAValue, count: Index, most: int) -> SSAValue:
    """Blocks of 32-bit elements from two blocks for each, full of one word of it.

    Even lanes are taken from the first one and odd lanes from the second one.
    """
    emit = state.emit
    blocks = state.temporary("blocks", round_up(most, BLOCKS) * BLOCK_BYTES)

    def merge(start: Index, repeat: Index, mask: dict[str, Index]) -> None:
        target = state.at(blocks, emit.mul(start, REPEAT_BYTES))
        for lane in range(2):
            place = emit.add(emit.mul(start, 2 * REPEAT_BYTES), lane * BLOCK_BYTES)
            fields: dict[str, Index] = {}
            for name in ("src0", "src1"):
                fields |= {name: state.at(words, place), f"{name}_block": 2}
                fields |= {f"{name}_repeat": 2 * BLOCKS}
            lanes = every_second(emit, mask, lane)
            emit.instruction("vor.u16", dst=target, repeat=repeat, **fields, **lanes)

    whole, rest = emit.floor_div(count, BLOCKS), emit.remainder(count, BLOCKS)
    for start, size in state.pieces(whole, most // BLOCKS, MAX_REPEATS):
        merge(start, size, {})
    with state.unless_none(rest):
        merge(whole, 1, first_lanes(emit, emit.mul(rest, EDGE), lanes_of(U16)))
    return blocks


def transpose_tile(state: Lowering, source: Tile, out: Tile) -> None:
    """out[c, r] = source[r, c], elements of 2 or 4 bytes.

    The shape of ``source`` counts whole groups of rows, and whole blocks of columns for elements of
    4 bytes or whole squares for those of 2.
    """
    group_rows, group_columns = rows_in_group(source.dtype), BLOCK_BYTES // source.size
    rows, columns = source.type.shape
    if rows % group_rows or columns % group_columns:
        raise state.unsupported(
            f"a transpose of {rows}x{columns} {source.dtype} elements",
            f"make the sides of the tile multiples of {group_rows} and {group_columns}",
        )
    if source.size == U16.bytes:
        transpose_words(state, source, out)
    else:
        transpose_elements(state, source, out)


def in_blocks(state: Lowering, tile: Tile) -> Index:
    """Blocks from one row of a tile to the next."""
    return state.emit.floor_div(state.emit.mul(tile.pitch, tile.size), BLOCK_BYTES)


def transpose_words(state: Lowering, source: Tile, out: Tile) -> None:
    """Rows in squares of 16; all squares of 16 rows in one instruction."""
    emit = state.emit
    apart, out_apart = in_blocks(state, source), in_blocks(state, out)
    squares, most = emit.ceil_div(source.columns, EDGE), ceil_div(source.type.shape[1], EDGE)
    with state.disjoint(emit.ceil_div(source.rows, EDGE)) as group:
        rows = state.at(source.pointer, emit.mul(group, emit.mul(apart, EDGE * BLOCK_BYTES)))
        columns = state.at(out.pointer, emit.mul(group, BLOCK_BYTES))
        for start, count in state.pieces(squares, most, MAX_REPEATS):
            target = emit.mul(start, emit.mul(out_apart, EDGE * BLOCK_BYTES))
            transpose(
                state,
                state.at(rows, emit.mul(start, BLOCK_BYTES)),
                state.at(columns, target),
                Side(apart, 1),
                Side(out_apart, emit.mul(out_apart, EDGE)),
                count,
            )


def transpose_elements(state: Lowering, source: Tile, out: Tile) -> None:
    """Eight columns of 128 rows at a time; rows of ``out`` take what they have room for."""
    emit = state.emit
    apart, out_apart = in_blocks(state, source), in_blocks(state, out)
    group_rows = rows_in_group(source.dtype)
    blocks_of_vector = group_rows // ELEMENTS
    with (
        state.disjoint(emit.ceil_div(source.rows, group_rows)) as group,
        state.disjoint(emit.ceil_div(source.columns, ELEMENTS)) as column,
    ):
        words, turned = (state.temporary(label, GROUP_BYTES) for label in ("words", "turned"))
        row = emit.mul(emit.mul(group, group_rows), apart)
        blocks = state.at(source.pointer, emit.mul(emit.add(row, column), BLOCK_BYTES))
        element_vectors(state, blocks, apart, words, turned, ELEMENTS)
        first = emit.mul(group, blocks_of_vector)
        length = emit.min(blocks_of_vector, emit.sub(out_apart, first))
        place = emit.add(emit.mul(emit.mul(column, ELEMENTS), out_apart), first)
        emit.instruction(
            "copy_ubuf_to_ubuf.b32",
            dst=state.at(out.pointer, emit.mul(place, BLOCK_BYTES)),
            src=turned,
            bursts=ELEMENTS,
            length=length,
            src_gap=emit.sub(blocks_of_vector, length),
            dst_gap=emit.sub(out_apart, length),
        )
