"""A row, a column or an element as the operand of instructions on all rows of a tile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.passes.tik import lowering_interleave
from pypto.passes.tik.lane_masks import first_lanes
from pypto.passes.tik.lowering_state import BITS_OF_SIZE, Lowering, Tile, lanes_of
from pypto.passes.tik.whole_repeats import MAX_REPEATS
from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

BLOCKS = REPEAT_BYTES // BLOCK_BYTES
MAX_STRIDE = 255  # blocks between repeats of a binary instruction

Fields = dict[str, Index]


class Form(Enum):
    ROW = auto()
    COLUMN = auto()
    ELEMENT = auto()


@dataclass(frozen=True, eq=False)
class Repeated:
    """One row of elements at ``pointer``, or a 32-byte block for the element of each row."""

    form: Form
    pointer: SSAValue


def repeated(state: Lowering, source: Tile) -> Repeated:
    """A tile of one row, one column or one element, made ready to be read again and again."""
    rows, columns = source.type.shape
    if rows == 1 and columns > 1:
        return Repeated(Form.ROW, source.pointer)
    form = Form.ELEMENT if rows == 1 else Form.COLUMN
    return Repeated(form, element_blocks(state, source))


def element_blocks(state: Lowering, source: Tile) -> SSAValue:
    """A block of 32 bytes per element of a dense vector, filled with that element."""
    rows = source.type.shape[0]
    if not state.has(f"vbrcb.{BITS_OF_SIZE[source.size]}"):
        return lowering_interleave.element_blocks(state, source)
    groups = ceil_div(rows, BLOCKS)
    blocks = state.temporary("blocks", groups * REPEAT_BYTES)
    repeats = state.emit.ceil_div(source.count, BLOCKS)
    # A piece of the source begins on a block: every second group of 8 elements does.
    for start, size in state.pieces(repeats, groups, MAX_REPEATS - 1):
        state.emit.instruction(
            f"vbrcb.{BITS_OF_SIZE[source.size]}",
            dst=state.at(blocks, state.emit.mul(start, REPEAT_BYTES)),
            src=state.at(source.pointer, state.emit.mul(start, BLOCKS * source.size)),
            repeat=size,
        )
    return blocks


def on_all_rows(
    state: Lowering,
    mnemonic: str,
    out: Tile,
    fields: Sequence[str],
    operand: Repeated,
    others: dict[str, Tile] | None = None,
) -> None:
    """``mnemonic`` on all of ``out``; ``fields`` read ``operand`` in every row.

    ``others``: sources that have the extents of ``out``. Row by row, or one repeat's width of all
    rows at a time, whichever takes fewer instructions.
    """
    emit, (rows, columns) = state.emit, out.type.shape
    tiles = {"dst": out, **(others or {})}
    pitch_bytes = emit.mul(out.pitch, out.size)
    if operand.form is Form.ELEMENT:
        source = _reads(fields, operand.pointer, block=0, repeat=0)
        state.vector(mnemonic, out.count, **_pointers(tiles), **source)
    elif rows <= ceil_div(columns, lanes_of(out.dtype)) or not is_steppable(state, out):
        with state.disjoint(out.rows) as row:
            places = _places(state, tiles, emit.mul(row, pitch_bytes))
            state.vector(mnemonic, out.pitch, **places, **_in_row(state, fields, operand, row))
    else:
        pitch = emit.floor_div(pitch_bytes, BLOCK_BYTES)
        strides = {f"{name}_repeat": pitch for name in tiles}
        for row, count in state.pieces(out.rows, rows, MAX_REPEATS):
            for chunk, mask in column_chunks(state, out):
                place = emit.add(emit.mul(row, pitch_bytes), emit.mul(chunk, REPEAT_BYTES))
                emit.instruction(
                    mnemonic,
                    repeat=count,
                    **_places(state, tiles, place),
                    **strides,
                    **_in_chunk(state, fields, operand, row, chunk),
                    **mask,
                )


def _pointers(tiles: dict[str, Tile]) -> dict[str, SSAValue]:
    return {name: tile.pointer for name, tile in tiles.items()}


def _places(state: Lowering, tiles: dict[str, Tile], offset: Index) -> dict[str, SSAValue]:
    return {name: state.at(tile.pointer, offset) for name, tile in tiles.items()}


def _reads(fields: Sequence[str], pointer: SSAValue, **strides: int) -> dict[str, SSAValue | int]:
    found: dict[str, SSAValue | int] = {}
    for field in fields:
        found[field] = pointer
        found |= {f"{field}_{name}": stride for name, stride in strides.items()}
    return found


def _in_row(
    state: Lowering, fields: Sequence[str], operand: Repeated, row: Index
) -> dict[str, SSAValue | int]:
    """Reads for one whole row."""
    if operand.form is Form.ROW:
        return _reads(fields, operand.pointer)
    block = state.at(operand.pointer, state.emit.mul(row, BLOCK_BYTES))
    return _reads(fields, block, block=0, repeat=0)


def _in_chunk(
    state: Lowering, fields: Sequence[str], operand: Repeated, row: Index, chunk: Index
) -> dict[str, SSAValue | int]:
    """Reads for a chunk of rows from ``row`` on, one row per repeat."""
    if operand.form is Form.ROW:
        place = state.at(operand.pointer, state.emit.mul(chunk, REPEAT_BYTES))
        return _reads(fields, place, repeat=0)
    block = state.at(operand.pointer, state.emit.mul(row, BLOCK_BYTES))
    return _reads(fields, block, block=0, repeat=1)


def is_steppable(state: Lowering, tile: Tile) -> bool:
    """Whether a binary instruction can step from row to row of a tile."""
    pitch = round_up(tile.type.shape[1], state.granule) * tile.size
    return pitch <= MAX_STRIDE * BLOCK_BYTES


def column_chunks(state: Lowering, tile: Tile) -> Iterator[tuple[Index, Fields]]:
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
        with state.unless_none(rest):
            yield whole, first_lanes(emit, rest, lanes)
