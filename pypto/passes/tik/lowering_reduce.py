"""Reductions of UB tiles along rows or columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.passes.tik.lane_masks import first_lanes
from pypto.passes.tik.lowering_interleave import GROUP_BYTES, element_vectors, rows_in_group
from pypto.passes.tik.lowering_ramp import ramp
from pypto.passes.tik.lowering_repeated import BLOCKS, column_chunks, is_steppable
from pypto.passes.tik.lowering_state import Lowering, Tile, lanes_of
from pypto.passes.tik.whole_repeats import MAX_REPEATS
from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.target.dtypes import F16, F32, I32, DType
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

JOIN = {"sum": "vadd", "max": "vmax", "min": "vmin"}
WITHIN_REPEAT = {"sum": "vcadd", "max": "vcmax", "min": "vcmin"}
WITHIN_BLOCK = {"sum": "vcgadd", "max": "vcgmax", "min": "vcgmin"}


def identity(kind: str, dtype: DType) -> int | float:
    """What joins to the other operand."""
    if kind == "sum":
        return 0.0 if dtype.is_float else 0
    if dtype.is_float:
        return -math.inf if kind == "max" else math.inf
    limits = np.iinfo(dtype.numpy)
    return int(limits.min if kind == "max" else limits.max)


def reduce(state: Lowering, kind: str, axis: int, source: Tile, out: Tile) -> None:
    """Join the valid elements of ``source`` along an axis."""
    if source.dtype not in (F16, F32, I32):
        raise state.unsupported(f"reducing {source.dtype} elements", "cast to float32 first")
    if source.type.shape[axis] == 1:
        state.copy(out, source)
    elif axis == 0 and not source.is_vector:
        reduce_rows(state, kind, source, out)
    else:
        row = as_row(source) if axis == 0 else source
        reduce_columns(state, kind, row, out)


def as_row(vector: Tile) -> Tile:
    """A dense vector of rows as one row."""
    rows, _ = vector.type.shape
    type = vector.type.with_shape(1, rows)
    return replace(vector, type=type, rows=1, columns=vector.rows, pitch=vector.rows)


# Along a row.


def reduce_columns(state: Lowering, kind: str, source: Tile, out: Tile) -> None:
    """One result per row: lanes of a row are folded into one repeat, then joined within it."""
    rows, columns = source.type.shape
    lanes = lanes_of(source.dtype)
    joins_lanes = state.has(f"{WITHIN_REPEAT[kind]}.{source.dtype}")
    if joins_lanes and columns <= lanes:
        mask = first_lanes(state.emit, source.columns, lanes)
        pitch = block_pitch(state, source)
        join_lanes(state, kind, source.pointer, pitch, source, out, mask)
        return
    if rows > 1 and is_steppable(state, source) and ceil_div(columns, lanes) < rows:
        folded = fold_all_rows(state, kind, source)
    else:
        folded = state.temporary("folded", rows * REPEAT_BYTES)
        row_bytes = state.emit.mul(source.pitch, source.size)
        with state.disjoint(source.rows if rows > 1 else 1) as row:
            start = state.at(source.pointer, state.emit.mul(row, row_bytes))
            fold_row(
                state, kind, source, start, state.at(folded, state.emit.mul(row, REPEAT_BYTES))
            )
    if joins_lanes:
        stride = REPEAT_BYTES // BLOCK_BYTES
        join_lanes(state, kind, folded, stride, source, out, {})
    else:
        join_halves(state, kind, folded, source, out)


def block_pitch(state: Lowering, tile: Tile) -> Index:
    """Blocks of 32 bytes from one row to the next."""
    if tile.type.shape[0] == 1:
        return REPEAT_BYTES // BLOCK_BYTES
    return state.emit.floor_div(state.emit.mul(tile.pitch, tile.size), BLOCK_BYTES)


def fold_all_rows(state: Lowering, kind: str, source: Tile) -> SSAValue:
    """One repeat per row that joins all chunks of the row."""
    emit, lanes, rows = state.emit, lanes_of(source.dtype), source.type.shape[0]
    folded = state.temporary("folded", rows * REPEAT_BYTES)
    fill_identity(state, kind, folded, emit.mul(source.rows, lanes), source.dtype)
    pitch = block_pitch(state, source)
    for chunk, mask in joined_chunks(state, source):
        for row, count in state.pieces(source.rows, rows, MAX_REPEATS):
            target = state.at(folded, emit.mul(row, REPEAT_BYTES))
            place = emit.add(
                emit.mul(row, emit.mul(source.pitch, source.size)), emit.mul(chunk, REPEAT_BYTES)
            )
            emit.instruction(
                f"{JOIN[kind]}.{source.dtype}",
                dst=target,
                src0=target,
                src1=state.at(source.pointer, place),
                repeat=count,
                src1_repeat=pitch,
                **mask,
            )
    return folded


def joined_chunks(state: Lowering, source: Tile) -> Iterator[tuple[Index, dict[str, Index]]]:
    """Chunks of the valid columns, one repeat wide; all go to the same place."""
    emit, lanes = state.emit, lanes_of(source.dtype)
    with emit.for_(0, emit.floor_div(source.columns, lanes)) as loop, state.scope():
        yield loop.index, {}
    rest = emit.remainder(source.columns, lanes)
    if rest != 0:
        with state.unless_none(rest):
            yield emit.floor_div(source.columns, lanes), first_lanes(emit, rest, lanes)


def fold_row(state: Lowering, kind: str, source: Tile, start: SSAValue, folded: SSAValue) -> None:
    """Join all chunks of the row at ``start`` into one repeat, each adding to the one before."""
    emit, lanes = state.emit, lanes_of(source.dtype)
    fill_identity(state, kind, folded, lanes, source.dtype)
    chunks = emit.floor_div(source.columns, lanes)
    most = source.type.shape[1] // lanes
    for first, count in ordered_pieces(state, chunks, most):
        accumulate(state, kind, source.dtype, folded, start, first, count)
    rest = emit.remainder(source.columns, lanes)
    if rest != 0:
        with state.unless_none(rest):
            mask = first_lanes(emit, rest, lanes)
            accumulate(state, kind, source.dtype, folded, start, chunks, 1, mask)


def ordered_pieces(state: Lowering, total: Index, most: int) -> Iterator[tuple[Index, Index]]:
    """Start and size of pieces of repeats that all write one place."""
    if most <= MAX_REPEATS:
        with state.unless_none(total):
            yield 0, total
        return
    emit = state.emit
    with emit.for_(0, emit.ceil_div(total, MAX_REPEATS)) as loop, state.scope():
        start = emit.mul(loop.index, MAX_REPEATS)
        yield start, emit.min(MAX_REPEATS, emit.sub(total, start))


def accumulate(
    state: Lowering,
    kind: str,
    dtype: DType,
    target: SSAValue,
    source: SSAValue,
    first: Index,
    count: Index,
    mask: dict[str, Index] | None = None,
    stride: Index = REPEAT_BYTES // BLOCK_BYTES,
) -> None:
    """Join ``count`` repeats of ``source``, from repeat ``first``, into the one at ``target``."""
    offset = state.emit.mul(first, state.emit.mul(stride, BLOCK_BYTES))
    state.emit.instruction(
        f"{JOIN[kind]}.{dtype}",
        dst=target,
        src0=state.at(source, offset),
        src1=target,
        repeat=count,
        dst_repeat=0,
        src0_repeat=stride,
        src1_repeat=0,
        **(mask or {}),
    )


def fill_identity(state: Lowering, kind: str, target: SSAValue, count: Index, dtype: DType) -> None:
    scalar = identity(kind, dtype)
    state.vector(f"vector_dup.{dtype}", count, dst=target, scalar=scalar)


def join_lanes(
    state: Lowering,
    kind: str,
    start: SSAValue,
    stride: Index,
    source: Tile,
    out: Tile,
    mask: dict[str, Index],
) -> None:
    """One result per repeat; repeats of ``source.rows`` rows lie ``stride`` blocks apart."""
    emit = state.emit
    for row, count in state.pieces(source.rows, source.type.shape[0], MAX_REPEATS):
        emit.instruction(
            f"{WITHIN_REPEAT[kind]}.{source.dtype}",
            dst=state.at(out.pointer, emit.mul(row, out.size)),
            src=state.at(start, emit.mul(row, emit.mul(stride, BLOCK_BYTES))),
            repeat=count,
            src_repeat=stride,
            **mask,
        )


def join_halves(state: Lowering, kind: str, folded: SSAValue, source: Tile, out: Tile) -> None:
    """No instruction joins all lanes of a repeat: halve it down to a block, then join that."""
    in_block = f"{WITHIN_BLOCK[kind]}.{source.dtype}"
    if state.has(in_block):
        halve(state, kind, folded, source, folded)
        join_blocks(state, in_block, folded, source, out)
    elif state.has("vgather.u32"):
        halve(state, kind, folded, source, folded)
        join_gathered_lanes(state, kind, folded, source, out)
    else:
        rows = round_up(source.type.shape[0], rows_in_group(source.dtype))
        blocks = state.temporary("halved", rows * BLOCK_BYTES)
        fill_identity(state, kind, blocks, rows * BLOCK_BYTES // source.size, source.dtype)
        halve(state, kind, folded, source, blocks)
        join_turned_lanes(state, kind, blocks, source, out)


def halve(state: Lowering, kind: str, folded: SSAValue, source: Tile, target: SSAValue) -> None:
    """Join the repeat of each row to one block of it.

    It stays the first one of the repeat, or goes to ``target``, where blocks lie densely.
    """
    emit, name = state.emit, f"{JOIN[kind]}.{source.dtype}"
    rows, size = source.type.shape[0], source.size
    lanes, last = lanes_of(source.dtype), BLOCK_BYTES // source.size
    while lanes > last:
        lanes //= 2
        mask = first_lanes(emit, lanes, lanes_of(source.dtype))
        is_moved = lanes == last and target is not folded
        for row, count in state.pieces(source.rows, rows, MAX_REPEATS):
            start = state.at(folded, emit.mul(row, REPEAT_BYTES))
            half = state.at(start, lanes * size)
            place: dict[str, SSAValue | int] = {"dst": start}
            if is_moved:
                place = {"dst": state.at(target, emit.mul(row, BLOCK_BYTES)), "dst_repeat": 1}
            emit.instruction(name, src0=start, src1=half, repeat=count, **place, **mask)


def join_blocks(state: Lowering, name: str, folded: SSAValue, source: Tile, out: Tile) -> None:
    """One result per block: the first blocks of eight repeats are those of one repeat."""
    emit, rows = state.emit, source.type.shape[0]
    lanes, in_block = lanes_of(source.dtype), BLOCK_BYTES // source.size
    whole, rest = emit.floor_div(source.rows, BLOCKS), emit.remainder(source.rows, BLOCKS)

    def join(start: Index, repeat: Index, mask: dict[str, Index]) -> None:
        emit.instruction(
            name,
            dst=state.at(out.pointer, emit.mul(start, BLOCKS * source.size)),
            src=state.at(folded, emit.mul(start, BLOCKS * REPEAT_BYTES)),
            repeat=repeat,
            src_block=BLOCKS,
            src_repeat=BLOCKS * BLOCKS,
            **mask,
        )

    for start, count in state.pieces(whole, rows // BLOCKS, MAX_REPEATS):
        join(start, count, {})
    with state.unless_none(rest):
        join(whole, 1, first_lanes(emit, emit.mul(rest, in_block), lanes))


def join_gathered_lanes(
    state: Lowering, kind: str, folded: SSAValue, source: Tile, out: Tile
) -> None:
    """The lanes of the first block of each repeat become dense vectors over the rows."""
    name, rows, size = f"{JOIN[kind]}.{source.dtype}", source.type.shape[0], source.size
    vector_bytes = round_up(rows * size, REPEAT_BYTES)
    offsets, lane = (state.temporary(label, vector_bytes) for label in ("offsets", "lane"))
    ramp(state, offsets, source.rows, rows, 0, REPEAT_BYTES)
    for number in range(BLOCK_BYTES // size):
        # A result in its own place at last: it may lie where the source lies.
        target = lane if number else out.pointer
        state.vector(
            "vgather.u32",
            source.rows,
            dst=target,
            offsets=offsets,
            base=state.at(folded, number * size),
        )
        if number:
            state.vector(name, source.rows, dst=out.pointer, src0=out.pointer, src1=lane)


def join_turned_lanes(
    state: Lowering, kind: str, blocks: SSAValue, source: Tile, out: Tile
) -> None:
    """The lanes of dense blocks become dense vectors over 128 rows, which are halved in turn."""
    emit, name = state.emit, f"{JOIN[kind]}.{source.dtype}"
    group_rows = rows_in_group(source.dtype)
    vector_bytes = group_rows * source.size
    with state.disjoint(emit.ceil_div(source.rows, group_rows)) as group:
        words = state.temporary("words", GROUP_BYTES)
        vectors = state.at(blocks, emit.mul(group, GROUP_BYTES))
        element_vectors(state, vectors, 1, words, vectors, BLOCK_BYTES // source.size)
        count = BLOCK_BYTES // source.size
        while count > 2:
            count //= 2
            half = state.at(vectors, count * vector_bytes)
            state.vector(name, count * group_rows, dst=vectors, src0=vectors, src1=half)
        start = emit.mul(group, group_rows)
        state.vector(
            name,
            emit.min(group_rows, emit.sub(source.rows, start)),
            dst=state.at(out.pointer, emit.mul(start, source.size)),
            src0=vectors,
            src1=state.at(vectors, vector_bytes),
        )


# Along a column.


def reduce_rows(state: Lowering, kind: str, source: Tile, out: Tile) -> None:
    """One result per column: the first row, joined with all others."""
    emit = state.emit
    rows, columns = source.type.shape
    state.copy_elements(out.pointer, source.pointer, source.pitch, source.dtype)
    row_bytes = emit.mul(source.pitch, source.size)
    chunks = ceil_div(columns, lanes_of(source.dtype))
    if is_steppable(state, source) and chunks < rows:
        second = state.at(source.pointer, row_bytes)
        pitch = block_pitch(state, source)
        for first, count in ordered_pieces(state, emit.sub(source.rows, 1), rows - 1):
            for chunk, mask in column_chunks(state, source):
                place = emit.mul(chunk, REPEAT_BYTES)
                accumulate(
                    state,
                    kind,
                    source.dtype,
                    state.at(out.pointer, place),
                    state.at(second, place),
                    first,
                    count,
                    mask,
                    pitch,
                )
        return
    with emit.for_(1, source.rows) as loop, state.scope():
        row = state.at(source.pointer, emit.mul(loop.index, row_bytes))
        state.vector(
            f"{JOIN[kind]}.{source.dtype}",
            source.pitch,
            dst=out.pointer,
            src0=row,
            src1=out.pointer,
        )
