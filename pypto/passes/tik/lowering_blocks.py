"""Transfers between global memory and UB on machines that copy whole 32-byte blocks only.

Every copy may begin at any element of global memory, so only the ends of rows need care.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.passes.tik.lowering_state import Lowering
from pypto.passes.tile.alignment import ROOM_BYTES, Tail, runs_at_end
from pypto.passes.tile.arithmetic import ceil_div
from pypto.target.memory import BLOCK_BYTES, Space

MAX_BURSTS = 4095
MAX_GAP = 65535  # blocks from the end of one burst to the start of the next


@dataclass(frozen=True)
class Rows:
    """``count`` rows of ``bytes``, in UB ``pitch`` bytes apart and in global memory ``stride``.

    ``most``: the largest ``count`` there can be.
    """

    state: Lowering
    held: SSAValue
    pitch: Index
    place: SSAValue
    stride: Index
    count: Index
    most: int
    bytes: Index

    @property
    def blocks(self) -> Index:
        """Blocks that hold a row; the last one may be filled in part."""
        return self.state.emit.ceil_div(self.bytes, BLOCK_BYTES)

    def in_ub(self, row: Index, bytes: Index = 0) -> SSAValue:
        """Where a row lies in UB, or ``bytes`` further on."""
        emit = self.state.emit
        return self.state.at(self.held, emit.add(emit.mul(row, self.pitch), bytes))

    def in_gm(self, row: Index, bytes: Index = 0) -> SSAValue:
        """Where a row lies in global memory, or ``bytes`` further on."""
        emit = self.state.emit
        return self.state.at(self.place, emit.add(emit.mul(row, self.stride), bytes))

    @contextmanager
    def each(self) -> Iterator[Index]:
        """A loop over rows that writes different bytes for each."""
        with self.state.disjoint(self.count) as row:
            yield row

    @property
    def is_regular(self) -> bool:
        """Whether rows lie whole blocks apart, so that one instruction moves many of them."""
        if not isinstance(self.stride, int) or self.stride % BLOCK_BYTES:
            return False
        is_apart = not isinstance(self.bytes, int) or self.stride >= self.bytes
        return is_apart and self.stride <= MAX_GAP * BLOCK_BYTES

    @property
    def turns(self) -> int:
        """Every how many-th row begins at least a block behind the end of a row."""
        if not isinstance(self.stride, int) or self.stride == 0:
            return self.most
        longest = self.bytes if isinstance(self.bytes, int) else self.stride
        return min(self.most, ceil_div(longest + BLOCK_BYTES, self.stride))


def load(rows: Rows) -> None:
    """Whole blocks of every row: what lies behind a row in its last block comes along."""
    blocks = rows.blocks
    if rows.most == 1:
        _copy_in(rows, rows.in_ub(0), rows.in_gm(0), length=blocks)
    elif rows.is_regular:
        gaps = {"src_gap": _gap(rows, rows.stride), "dst_gap": _gap(rows, rows.pitch)}
        for row, count in rows.state.pieces(rows.count, rows.most, MAX_BURSTS):
            _copy_in(rows, rows.in_ub(row), rows.in_gm(row), bursts=count, length=blocks, **gaps)
    else:
        with rows.each() as row:
            _copy_in(rows, rows.in_ub(row), rows.in_gm(row), length=blocks)


def store(rows: Rows, tail: Tail) -> None:
    """The rows, with what becomes of the elements behind each."""
    match tail:
        case Tail.FREE:
            _store_freely(rows)
        case Tail.EXACT:
            _store_exactly(rows)
        case Tail.MERGE:
            _store_and_restore(rows)


def _store_freely(rows: Rows) -> None:
    blocks = rows.blocks
    if rows.most == 1:
        _copy_out(rows, rows.in_gm(0), rows.in_ub(0), length=blocks)
    elif rows.is_regular:
        gaps = {"src_gap": _gap(rows, rows.pitch), "dst_gap": _gap(rows, rows.stride)}
        for row, count in rows.state.pieces(rows.count, rows.most, MAX_BURSTS):
            _copy_out(rows, rows.in_gm(row), rows.in_ub(row), bursts=count, length=blocks, **gaps)
    else:
        with rows.each() as row:
            _copy_out(rows, rows.in_gm(row), rows.in_ub(row), length=blocks)


def _store_exactly(rows: Rows) -> None:
    """Nothing behind the rows is read or written; a row is longer than two blocks.

    Shorter ones have a length that is known here, and go together.

    The last 32 bytes of a row do not begin on a block in UB. They do after a way through global
    memory, within the row: its last two blocks are stored one block too far in front, and read
    from there.
    """
    emit, blocks, length = rows.state.emit, rows.blocks, rows.bytes
    if isinstance(length, int) and length <= ROOM_BYTES:
        _store_as_one(rows, length)
        return
    ends = _block_per_row(rows, "ends", rows.most)
    last_two = emit.mul(emit.sub(blocks, 2), BLOCK_BYTES)
    with rows.each() as row:
        in_front = rows.in_gm(row, emit.sub(last_two, BLOCK_BYTES))
        _copy_out(rows, in_front, rows.in_ub(row, last_two), length=2)
    with rows.each() as row:
        moved = rows.in_gm(row, emit.sub(length, 2 * BLOCK_BYTES))
        _copy_in(rows, _block_of(rows, ends, row), moved, length=1)
    with rows.each() as row:
        whole = emit.floor_div(length, BLOCK_BYTES)
        _copy_out(rows, rows.in_gm(row), rows.in_ub(row), length=whole)
    with rows.each() as row:
        end = rows.in_gm(row, emit.sub(length, BLOCK_BYTES))
        _copy_out(rows, end, _block_of(rows, ends, row), length=1)


def _store_as_one(rows: Rows, length: int) -> None:
    """Short rows without gaps: they have room together, in at least twice the rows at the end.

    What the rows at the end hold is put together one block too far in front, as above.
    """
    state, emit = rows.state, rows.state.emit
    if rows.stride != length:
        raise state.unsupported(
            f"rows of {length} bytes that leave what lies behind them alone",
            "store them with merge, on one core",
        )
    last = runs_at_end(length)
    first = emit.sub(rows.count, last)
    end = _block_per_row(rows, "ends", 1)
    in_front = rows.in_gm(first, -BLOCK_BYTES)
    _store_and_restore(replace(rows, held=rows.in_ub(first), place=in_front, count=last, most=last))
    _copy_in(rows, end, rows.in_gm(rows.count, -2 * BLOCK_BYTES), length=1)
    _store_and_restore(replace(rows, count=first, most=rows.most - last))
    _copy_out(rows, rows.in_gm(first), rows.in_ub(first), length=1)
    _copy_out(rows, rows.in_gm(rows.count, -BLOCK_BYTES), end, length=1)


def _store_and_restore(rows: Rows) -> None:
    """What lies behind a row is read first and written back after the row.

    It may hold other rows. So rows go in turns: those of one turn do not reach each other, and
    what an earlier turn has stored is what a later one writes back.
    """
    state, emit = rows.state, rows.state.emit
    turns = rows.turns
    behind = _block_per_row(rows, "behind", ceil_div(rows.most, turns))
    # Turns without rows are taken, too: the flags of a loop around rely on how many there are.
    with emit.for_(0, turns) as turn, state.scope():
        first = turn.index
        count = emit.ceil_div(emit.sub(rows.count, first), turns)

        def row_of(number: Index) -> Index:
            return emit.add(first, emit.mul(number, turns))

        with state.disjoint(count) as number:
            end = rows.in_gm(row_of(number), rows.bytes)
            _copy_in(rows, _block_of(rows, behind, number), end, length=1)
        with state.disjoint(count) as number:
            row = row_of(number)
            _copy_out(rows, rows.in_gm(row), rows.in_ub(row), length=rows.blocks)
        with state.disjoint(count) as number:
            end = rows.in_gm(row_of(number), rows.bytes)
            _copy_out(rows, end, _block_of(rows, behind, number), length=1)


def _block_per_row(rows: Rows, label: str, most: int) -> SSAValue:
    buffer = rows.state.allocate(label, Space.UB, most * BLOCK_BYTES)
    return rows.state.acquire(buffer)


def _block_of(rows: Rows, blocks: SSAValue, row: Index) -> SSAValue:
    return rows.state.at(blocks, rows.state.emit.mul(row, BLOCK_BYTES))


def _gap(rows: Rows, distance: Index) -> Index:
    """Blocks from the last block of a row to the next row."""
    emit = rows.state.emit
    return emit.sub(emit.floor_div(distance, BLOCK_BYTES), rows.blocks)


def _copy_in(rows: Rows, dst: SSAValue, src: SSAValue, **fields: Index) -> None:
    rows.state.emit.instruction("copy_gm_to_ubuf.b32", dst=dst, src=src, **fields)


def _copy_out(rows: Rows, dst: SSAValue, src: SSAValue, **fields: Index) -> None:
    rows.state.emit.instruction("copy_ubuf_to_gm.b32", dst=dst, src=src, **fields)
