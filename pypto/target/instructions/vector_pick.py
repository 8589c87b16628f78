"""Reductions that tell the place of a value, and gathers of blocks and of chosen elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from pypto.target.dtypes import U8, U16, U32, DType
from pypto.target.instruction import UNBOUNDED, Access, Instruction, RowFacts, family, runs
from pypto.target.instructions import vector_footprint as shape
from pypto.target.instructions.bytes import read, write
from pypto.target.instructions.fields import (
    Block,
    ByteBlock,
    ByteRepeat,
    MaskHigh,
    MaskLow,
    MaskMode,
    Repeat,
    RepeatStride,
    UbElement,
    UbMasked,
    UbRead,
    UbReadAny,
    UbWrite,
    value,
)
from pypto.target.instructions.vector import GATHER_HEAD, REDUCE_ROWS, instruction, of_type
from pypto.target.instructions.vector_footprint import (
    OFFSET_BYTES,
    full_access,
    lane_access,
    lanes_per_repeat,
    packed_access,
    repeat_cycles,
)
from pypto.target.instructions.vector_meaning import (
    BINARY,
    BLOCKS,
    Memories,
    active_lanes,
    place,
)
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES, Space

HEAD = 24

# What vcmax and vcmin write, by the suffix of their names; the variant of a row is the position.
# Vendor's names: VALUE_INDEX, INDEX_VALUE, ONLY_INDEX (ONLY_VALUE is the reduction itself).
ORDERS = ("value_index", "index_value", "only_index")
INDEX_BYTES = 4  # of an index that comes alone


class ReducePlace(NamedTuple):
    """The first largest (smallest) valid lane of each repeat: its value and its number.

    ``dst_repeat`` counts results: pairs of an element and an unsigned integer of its size, or
    lone indices of four bytes.
    """

    dst: UbElement
    src: UbRead
    repeat: Repeat
    dst_repeat: Annotated[int, value(1)]
    src_block: Block
    src_repeat: RepeatStride
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow


class GatherBlocks(NamedTuple):
    """Block j of repeat i of dst = the 32 bytes at ``base + offsets[8 * i + j]``.

    A block stride of 0 means 1.
    """

    dst: UbWrite
    offsets: UbRead
    base: UbReadAny
    dst_repeat: RepeatStride
    dst_block: Block
    repeat: Repeat


class Compact(NamedTuple):
    """Elements of src0 whose bit is 1, one after the other over all repeats, to dst.

    ``pattern``: 0 takes the bits from src1, those of a repeat dense and repeats
    ``src1_repeat`` blocks apart; 1 keeps the even elements of a repeat, 2 the odd ones, 3 to 6
    those with index 0 to 3 of every four, 7 all. In count mode a *repeat* has ``mask_low``
    elements; else 256 bytes, and the mask plays no part.
    """

    dst: UbMasked
    src0: UbRead
    src1: UbRead
    repeat: Annotated[int, value(1)]
    src0_block: ByteBlock
    pattern: Annotated[int, value(7, high=7)]
    src0_repeat: ByteRepeat
    src1_repeat: Annotated[int, value(1, high=255)]
    mask_mode: MaskMode
    mask_low: MaskLow


def result_bytes(facts: RowFacts) -> int:
    """Bytes of one result: a pair, or an index alone."""
    return INDEX_BYTES if facts.variant == 2 else 2 * facts.src_bytes


def place_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    unit = result_bytes(facts)
    lanes = lanes_per_repeat(facts)
    return (
        packed_access(f, facts, f.dst, f.dst_repeat * unit, unit, lanes),
        lane_access(f, facts, f.src, f.src_block, f.src_repeat, facts.src_bytes),
    )


def place_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    unit = result_bytes(facts)
    return [("dst", f"a multiple of {unit}, the bytes of a result")] if f.dst % unit else []


def gather_blocks_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    return (
        full_access(f.dst, f.repeat, max(f.dst_block, 1), f.dst_repeat),
        runs(f.offsets, 1, 0, 1, 0, f.repeat * (REPEAT_BYTES // BLOCK_BYTES) * OFFSET_BYTES),
        runs(f.base, 1, 0, 1, 0, UNBOUNDED),
    )


def elements_each(f: Any, facts: RowFacts) -> int:
    """Elements of a repeat of Compact."""
    return max(0, f.mask_low) if f.mask_mode != 0 else REPEAT_BYTES // facts.src_bytes


def kept_each(f: Any, facts: RowFacts) -> int:
    """The most elements a repeat keeps; exact unless the bits come from memory."""
    count = elements_each(f, facts)
    if f.pattern == 1:
        return (count + 1) // 2
    if f.pattern == 2:
        return count // 2
    if 3 <= f.pattern <= 6:
        return (count + 6 - f.pattern) // 4
    return count


def compact_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    count = elements_each(f, facts)
    repeat = f.repeat if count > 0 else 0
    size = count * facts.src_bytes
    blocks = (size + BLOCK_BYTES - 1) // BLOCK_BYTES
    last = size - (blocks - 1) * BLOCK_BYTES
    bits = repeat if f.pattern == 0 else 0
    block, step, user = f.src0_block, f.src0_repeat, f.src1_repeat
    return (
        runs(f.dst, 1, 0, 1, 0, repeat * kept_each(f, facts) * facts.dst_bytes),
        Access(
            f.src0, repeat, step * BLOCK_BYTES, blocks, block * BLOCK_BYTES, BLOCK_BYTES, last,
            blocks, last,
        ),
        runs(f.src1, bits, user * BLOCK_BYTES, 1, 0, (count + 7) // 8),
    )  # fmt: skip


def compact_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """Every 256 bytes of a repeat count as one, whole or not."""
    lanes = REPEAT_BYTES // facts.src_bytes
    return repeat_cycles(f.repeat * ((elements_each(f, facts) + lanes - 1) // lanes), facts)


def reduce_place(memory: Memories, f: Any, row: Instruction) -> None:
    ub, dtype, unit = memory[Space.UB], row.dtype, result_bytes(row.facts)
    better = BINARY[row.op_name.split("_")[0]]
    number = DType(f"u{8 * dtype.bytes}", f"uint{8 * dtype.bytes}", dtype.bytes, "u")
    for i, lanes in active_lanes(f, row):
        if len(lanes) == 0:
            continue
        values = read(ub, place(f.src, f.src_block, f.src_repeat, i, lanes, dtype), dtype)
        best = 0
        for k in range(1, len(lanes)):
            pair = better(values[best : best + 1], values[k : k + 1])
            if pair.tobytes() != values[best : best + 1].tobytes():
                best = k
        at = np.array([f.dst + i * f.dst_repeat * unit])
        chosen, index = values[best : best + 1], lanes[best : best + 1]
        if row.facts.variant == 2:
            write(ub, at, index, U32)
            continue
        first = row.facts.variant == 0
        write(ub, at + (0 if first else dtype.bytes), chosen, dtype)
        write(ub, at + (dtype.bytes if first else 0), index, number)


def gather_blocks(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    for i in range(f.repeat):
        entries = f.offsets + (i * BLOCKS + np.arange(BLOCKS)) * OFFSET_BYTES
        sources = f.base + read(ub, entries, U32).astype(np.int64)
        data = ub[sources[:, None] + np.arange(BLOCK_BYTES)]
        start = f.dst + i * f.dst_repeat * BLOCK_BYTES
        for j in range(BLOCKS):
            target = start + j * max(f.dst_block, 1) * BLOCK_BYTES
            ub[target : target + BLOCK_BYTES] = data[j]


def keeps(ub: np.ndarray, f: Any, i: int, count: int) -> np.ndarray:
    """Which elements of repeat ``i`` are kept."""
    index = np.arange(count)
    if f.pattern == 0:
        start = f.src1 + i * f.src1_repeat * BLOCK_BYTES
        return (read(ub, start + index // 8, U8) >> (index % 8) & 1).astype(bool)
    if f.pattern in (1, 2):
        return index % 2 == f.pattern - 1
    return index % 4 == f.pattern - 3 if f.pattern < 7 else index >= 0


def compact(memory: Memories, f: Any, row: Instruction) -> None:
    ub, dtype = memory[Space.UB], row.dtype
    count, kept = elements_each(f, row.facts), 0
    for i in range(f.repeat):
        lanes = np.arange(count)[keeps(ub, f, i, count)]
        source = place(f.src0, f.src0_block, f.src0_repeat, i, lanes, dtype)
        target = f.dst + (kept + np.arange(len(lanes))) * dtype.bytes
        write(ub, target, read(ub, source, dtype), dtype)
        kept += len(lanes)


REDUCE_PLACE = family(
    "reduce_place",
    ReducePlace,
    place_footprint,
    shape.vector_cycles,
    place_limits,
    shape.reduce_conflicts,
)
GATHER_BLOCKS = family(
    "gather_blocks",
    GatherBlocks,
    gather_blocks_footprint,
    shape.compare_cycles,
)
COMPACT = family("compact", Compact, compact_footprint, compact_cycles)


def rows() -> Iterator[Instruction]:
    """Rates [V ADK-vec]: vgatherb 42 halves or 21 words per cycle, vreducev2 64 or 32."""
    for name in ("vcmax", "vcmin"):
        dtypes, slope, heads, summary = REDUCE_ROWS[name]
        for variant, order in enumerate(ORDERS):
            for i, dtype in enumerate(dtypes):
                text = f"{summary}; {order.replace('_', ' ')}"
                yield instruction(
                    f"{name}_{order}.{dtype}",
                    REDUCE_PLACE,
                    dtype,
                    (of_type(slope, i), 1),
                    of_type(heads, i),
                    reduce_place,
                    text,
                    variant=variant,
                )
    for dtype in (U16, U32):
        slope = (128, 42)
        text = "blocks at byte offsets"
        name = f"vgatherb.{dtype}"
        yield instruction(name, GATHER_BLOCKS, dtype, slope, GATHER_HEAD, gather_blocks, text)
    for dtype in (U16, U32):
        text = "elements chosen by a pattern or by bits, made dense"
        yield instruction(f"vreducev2.{dtype}", COMPACT, dtype, (2, 1), HEAD, compact, text)


PICKED: tuple[Instruction, ...] = tuple(rows())
