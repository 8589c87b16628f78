"""Bytes touched and cycles taken by vector instructions: integers only, compiled by the emulator.

``f`` is the NamedTuple of the family, ``facts`` the row's RowFacts.
"""

from __future__ import annotations

from typing import Any

from pypto.target.banks import NO_WALK, Walk, conflict_cycles
from pypto.target.instruction import UNBOUNDED, Access, RowFacts, runs
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

OFFSET_BYTES = 4


def lanes_per_repeat(facts: RowFacts) -> int:
    """Lanes of a full repeat, counted on the wider element."""
    return REPEAT_BYTES // max(facts.dst_bytes, facts.src_bytes)


def bit_length(mask: int) -> int:
    """The position of the highest set bit of a 64-bit mask, plus one."""
    if mask < 0:
        return 64
    length = 0
    while mask > 0:
        mask >>= 1
        length += 1
    return length


def repeats(f: Any, facts: RowFacts) -> int:
    """Repeats executed: the field in norm mode, derived from the element count in count mode."""
    if f.mask_mode == 0:
        return f.repeat
    lanes = lanes_per_repeat(facts)
    return max(0, (f.mask_low + lanes - 1) // lanes)


def lanes_each(f: Any, facts: RowFacts) -> int:
    """Lanes of every repeat but the last, up to the highest one that is on."""
    lanes = lanes_per_repeat(facts)
    if f.mask_mode != 0:
        return lanes
    if lanes > 64 and f.mask_high != 0:
        return min(lanes, 64 + bit_length(f.mask_high))
    return min(lanes, bit_length(f.mask_low))


def lanes_last(f: Any, facts: RowFacts) -> int:
    """Lanes of the last repeat, up to the highest one that is on."""
    if f.mask_mode == 0:
        return lanes_each(f, facts)
    return f.mask_low - (repeats(f, facts) - 1) * lanes_per_repeat(facts)


def lane_access(f: Any, facts: RowFacts, start: int, block: int, repeat: int, size: int) -> Access:
    """Elements of ``size`` bytes in 32-byte blocks; strides ``block`` and ``repeat`` in blocks."""
    outer = repeats(f, facts)
    each = lanes_each(f, facts) * size
    last = lanes_last(f, facts) * size
    if each <= 0:
        outer = 0
    inner = (each + BLOCK_BYTES - 1) // BLOCK_BYTES
    last_inner = (last + BLOCK_BYTES - 1) // BLOCK_BYTES
    return Access(
        start,
        outer,
        repeat * BLOCK_BYTES,
        inner,
        block * BLOCK_BYTES,
        BLOCK_BYTES,
        each - (inner - 1) * BLOCK_BYTES,
        last_inner,
        last - (last_inner - 1) * BLOCK_BYTES,
    )


def packed_access(
    f: Any, facts: RowFacts, start: int, stride: int, unit: int, lanes: int
) -> Access:
    """``unit`` bytes for every ``lanes`` lanes begun, from ``start`` at ``stride`` per repeat."""
    outer = repeats(f, facts)
    each = lanes_each(f, facts)
    if each <= 0:
        outer = 0
    length = (each + lanes - 1) // lanes * unit
    last = (lanes_last(f, facts) + lanes - 1) // lanes * unit
    return Access(start, outer, stride, 1, 0, length, length, 1, last)


def full_access(start: int, repeat: int, block_stride: int, repeat_stride: int) -> Access:
    """All eight blocks of every repeat."""
    return runs(
        start,
        repeat,
        repeat_stride * BLOCK_BYTES,
        REPEAT_BYTES // BLOCK_BYTES,
        block_stride * BLOCK_BYTES,
        BLOCK_BYTES,
    )


def binary_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    return (
        lane_access(f, facts, f.dst, f.dst_block, f.dst_repeat, facts.dst_bytes),
        lane_access(f, facts, f.src0, f.src0_block, f.src0_repeat, facts.src_bytes),
        lane_access(f, facts, f.src1, f.src1_block, f.src1_repeat, facts.src_bytes),
    )


def unary_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    return (
        lane_access(f, facts, f.dst, f.dst_block, f.dst_repeat, facts.dst_bytes),
        lane_access(f, facts, f.src, f.src_block, f.src_repeat, facts.src_bytes),
    )


def duplicate_footprint(f: Any, facts: RowFacts) -> tuple[Access]:
    return (lane_access(f, facts, f.dst, f.dst_block, f.dst_repeat, facts.dst_bytes),)


def reduce_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    results = facts.variant
    lanes = lanes_per_repeat(facts) // results
    stride = f.dst_repeat * results * facts.dst_bytes
    return (
        packed_access(f, facts, f.dst, stride, facts.dst_bytes, lanes),
        lane_access(f, facts, f.src, f.src_block, f.src_repeat, facts.src_bytes),
    )


def reduce_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    unit = min(BLOCK_BYTES, facts.variant * facts.dst_bytes)
    if f.dst % unit:
        return [("dst", f"a multiple of {unit}, the bytes a repeat begins at")]
    return []


def compare_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    bits = f.repeat * lanes_per_repeat(facts)
    return (
        runs(f.dst, 1, 0, 1, 0, bits // 8),
        full_access(f.src0, f.repeat, f.src0_block, f.src0_repeat),
        full_access(f.src1, f.repeat, f.src1_block, f.src1_repeat),
    )


def compare_scalar_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    bits = f.repeat * lanes_per_repeat(facts)
    return (
        runs(f.dst, 1, 0, 1, 0, bits // 8),
        full_access(f.src, f.repeat, f.src_block, f.src_repeat),
    )


def select_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access, Access]:
    return (
        lane_access(f, facts, f.dst, f.dst_block, f.dst_repeat, facts.dst_bytes),
        lane_access(f, facts, f.src0, f.src0_block, f.src0_repeat, facts.src_bytes),
        lane_access(f, facts, f.src1, f.src1_block, f.src1_repeat, facts.src_bytes),
        packed_access(f, facts, f.mask, lanes_per_repeat(facts) // 8, 1, 8),
    )


def block_broadcast_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    blocks = REPEAT_BYTES // BLOCK_BYTES
    return (
        full_access(f.dst, f.repeat, f.dst_block, f.dst_repeat),
        runs(f.src, 1, 0, 1, 0, f.repeat * blocks * facts.src_bytes),
    )


def gather_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    stride = lanes_per_repeat(facts) * OFFSET_BYTES
    return (
        lane_access(f, facts, f.dst, 1, f.dst_repeat, facts.dst_bytes),
        packed_access(f, facts, f.offsets, stride, OFFSET_BYTES, 1),
        runs(f.base, 1, 0, 1, 0, UNBOUNDED),
    )


def blocks_each(f: Any, facts: RowFacts, size: int) -> int:
    """Blocks of a repeat that hold lanes of ``size`` bytes."""
    return (lanes_each(f, facts) * size + BLOCK_BYTES - 1) // BLOCK_BYTES


def walk(start: int, blocks: int, block: int, repeat: int) -> Walk:
    return Walk(start // BLOCK_BYTES, blocks, block, repeat)


def repeat_cycles(count: int, facts: RowFacts) -> tuple[int, int]:
    """Start-up plus cycles per repeat; nothing to do takes one cycle."""
    if count <= 0:
        return 1, 1
    cycles = facts.head + (count * facts.slope_num + facts.slope_den - 1) // facts.slope_den
    return cycles, cycles + facts.latency


def vector_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return repeat_cycles(repeats(f, facts), facts)


def compare_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """For families without a mask: the repeat field always counts."""
    return repeat_cycles(f.repeat, facts)


def conflicts(
    count: int, facts: RowFacts, soc: Any, target: Walk, first: Walk, second: Walk
) -> int:
    """Cycles that conflicts in the banks of UB add to ``count`` repeats."""
    if count <= 0 or soc.ub_bank_groups == 0:
        return 0
    slope = (facts.slope_num + facts.slope_den - 1) // facts.slope_den
    return conflict_cycles(target, first, second, count, slope) - count * slope


def binary_conflicts(f: Any, facts: RowFacts, soc: Any) -> int:
    """Two sources and a target."""
    read = blocks_each(f, facts, facts.src_bytes)
    written = blocks_each(f, facts, facts.dst_bytes)
    return conflicts(
        repeats(f, facts),
        facts,
        soc,
        walk(f.dst, written, f.dst_block, f.dst_repeat),
        walk(f.src0, read, f.src0_block, f.src0_repeat),
        walk(f.src1, read, f.src1_block, f.src1_repeat),
    )


def unary_conflicts(f: Any, facts: RowFacts, soc: Any) -> int:
    """One source and a target."""
    read = blocks_each(f, facts, facts.src_bytes)
    written = blocks_each(f, facts, facts.dst_bytes)
    return conflicts(
        repeats(f, facts),
        facts,
        soc,
        walk(f.dst, written, f.dst_block, f.dst_repeat),
        walk(f.src, read, f.src_block, f.src_repeat),
        NO_WALK,
    )


def duplicate_conflicts(f: Any, facts: RowFacts, soc: Any) -> int:
    """A target alone."""
    written = blocks_each(f, facts, facts.dst_bytes)
    target = walk(f.dst, written, f.dst_block, f.dst_repeat)
    return conflicts(repeats(f, facts), facts, soc, target, NO_WALK, NO_WALK)


def reduce_conflicts(f: Any, facts: RowFacts, soc: Any) -> int:
    """A source alone: of the results at most one block is written per repeat."""
    source = walk(f.src, blocks_each(f, facts, facts.src_bytes), f.src_block, f.src_repeat)
    return conflicts(repeats(f, facts), facts, soc, NO_WALK, source, NO_WALK)


def compare_conflicts(f: Any, facts: RowFacts, soc: Any) -> int:
    """Two sources without a mask."""
    blocks = REPEAT_BYTES // BLOCK_BYTES
    first = walk(f.src0, blocks, f.src0_block, f.src0_repeat)
    second = walk(f.src1, blocks, f.src1_block, f.src1_repeat)
    return conflicts(f.repeat, facts, soc, NO_WALK, first, second)


def compare_scalar_conflicts(f: Any, facts: RowFacts, soc: Any) -> int:
    """One source without a mask."""
    source = walk(f.src, REPEAT_BYTES // BLOCK_BYTES, f.src_block, f.src_repeat)
    return conflicts(f.repeat, facts, soc, NO_WALK, source, NO_WALK)


def block_broadcast_conflicts(f: Any, facts: RowFacts, soc: Any) -> int:
    """A target alone, without a mask."""
    target = walk(f.dst, REPEAT_BYTES // BLOCK_BYTES, f.dst_block, f.dst_repeat)
    return conflicts(f.repeat, facts, soc, target, NO_WALK, NO_WALK)
