"""Comparisons to the register CMPMASK, what moves it, and selections by it.

CMPMASK holds 128 bits. A comparison gives one repeat's bits to it, the others stay. It is the
vector pipe that writes and reads the register, so it is ordered as memory is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from pypto.target.dtypes import U8
from pypto.target.instruction import Access, Instruction, RowFacts, family, runs
from pypto.target.instructions import vector_footprint as shape
from pypto.target.instructions.bytes import read, write
from pypto.target.instructions.fields import (
    ByteBlock,
    ByteDstBlock,
    ByteRepeat,
    CompareMaskRead,
    CompareMaskWrite,
    MaskHigh,
    MaskLow,
    MaskMode,
    Repeat,
    UbMasked,
    UbRead,
    UbWrite,
    value,
)
from pypto.target.instructions.vector import COMPARISONS, F16_F32, instruction
from pypto.target.instructions.vector_footprint import (
    lane_access,
    lanes_per_repeat,
    packed_access,
)
from pypto.target.instructions.vector_meaning import (
    COMPARE,
    Memories,
    active_lanes,
    place,
    write_bits,
)
from pypto.target.memory import VECTOR_REGISTER_BYTES, Space

HEAD = 24


class CompareToMask(NamedTuple):
    """Bit i of CMPMASK = src0[i] op src1[i]; 0 for lanes that are off [A].

    One repeat alone: the interface of the vendor has no other, so strides between repeats and the
    destination's strides, which nothing could tell, are left out.
    """

    cmpmask: CompareMaskWrite
    src0: UbRead
    src1: UbRead
    repeat: Annotated[int, value(1, low=1, high=1)]
    src0_block: ByteBlock
    src1_block: ByteBlock
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow


class SetMask(NamedTuple):
    """CMPMASK = 16 bytes of UB."""

    cmpmask: CompareMaskWrite
    src: UbRead


class GetMask(NamedTuple):
    """16 bytes of UB = CMPMASK."""

    dst: UbWrite
    cmpmask: CompareMaskRead


class SelectByMask(NamedTuple):
    """dst[i] = src0[i] where bit i of CMPMASK is 1, else src1[i]: the same bits every repeat."""

    dst: UbMasked
    src0: UbRead
    src1: UbRead
    cmpmask: CompareMaskRead
    repeat: Repeat
    dst_block: ByteDstBlock
    src0_block: ByteBlock
    src1_block: ByteBlock
    dst_repeat: ByteRepeat
    src0_repeat: ByteRepeat
    src1_repeat: ByteRepeat
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow


class SelectScalar(NamedTuple):
    """dst[i] = src0[i] where bit i of the bits at src1 is 1, else the element CMPMASK starts with.

    The bits are dense over all repeats.
    """

    dst: UbMasked
    src0: UbRead
    src1: UbRead
    cmpmask: CompareMaskRead
    repeat: Repeat
    dst_block: ByteDstBlock
    src0_block: ByteBlock
    dst_repeat: ByteRepeat
    src0_repeat: ByteRepeat
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow


def register(start: int, length: int) -> Access:
    return runs(start, 1, 0, 1, 0, length)


def compare_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    return (
        register(f.cmpmask, lanes_per_repeat(facts) // 8),
        lane_access(f, facts, f.src0, f.src0_block, 0, facts.src_bytes),
        lane_access(f, facts, f.src1, f.src1_block, 0, facts.src_bytes),
    )


def compare_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    lanes = lanes_per_repeat(facts)
    if f.mask_mode != 0 and not 0 <= f.mask_low <= lanes:
        return [("mask_low", f"0..{lanes}, the lanes of the one repeat")]
    return []


def compare_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """One repeat."""
    cycles = facts.head + facts.slope_num
    return cycles, cycles


def set_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    return register(f.cmpmask, VECTOR_REGISTER_BYTES), register(f.src, VECTOR_REGISTER_BYTES)


def get_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    return register(f.dst, VECTOR_REGISTER_BYTES), register(f.cmpmask, VECTOR_REGISTER_BYTES)


def select_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access, Access]:
    return (
        lane_access(f, facts, f.dst, f.dst_block, f.dst_repeat, facts.dst_bytes),
        lane_access(f, facts, f.src0, f.src0_block, f.src0_repeat, facts.src_bytes),
        lane_access(f, facts, f.src1, f.src1_block, f.src1_repeat, facts.src_bytes),
        register(f.cmpmask, lanes_per_repeat(facts) // 8),
    )


def select_scalar_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access, Access]:
    return (
        lane_access(f, facts, f.dst, f.dst_block, f.dst_repeat, facts.dst_bytes),
        lane_access(f, facts, f.src0, f.src0_block, f.src0_repeat, facts.src_bytes),
        packed_access(f, facts, f.src1, lanes_per_repeat(facts) // 8, 1, 8),
        register(f.cmpmask, facts.src_bytes),
    )


def compare(memory: Memories, f: Any, row: Instruction) -> None:
    ub, dtype = memory[Space.UB], row.dtype
    bits = np.zeros(lanes_per_repeat(row.facts), bool)
    for _, lanes in active_lanes(f, row):
        a = read(ub, place(f.src0, f.src0_block, 0, 0, lanes, dtype), dtype)
        b = read(ub, place(f.src1, f.src1_block, 0, 0, lanes, dtype), dtype)
        bits[lanes] = COMPARE[row.op_name.removeprefix("vcmp_")](a, b)
    write_bits(memory[Space.VR], f.cmpmask, bits)


def set_mask(memory: Memories, f: Any, row: Instruction) -> None:
    source = memory[Space.UB][f.src : f.src + VECTOR_REGISTER_BYTES]
    memory[Space.VR][f.cmpmask : f.cmpmask + VECTOR_REGISTER_BYTES] = source


def get_mask(memory: Memories, f: Any, row: Instruction) -> None:
    source = memory[Space.VR][f.cmpmask : f.cmpmask + VECTOR_REGISTER_BYTES]
    memory[Space.UB][f.dst : f.dst + VECTOR_REGISTER_BYTES] = source


def select(memory: Memories, f: Any, row: Instruction) -> None:
    ub, dtype = memory[Space.UB], row.dtype
    for i, lanes in active_lanes(f, row):
        a = read(ub, place(f.src0, f.src0_block, f.src0_repeat, i, lanes, dtype), dtype)
        b = read(ub, place(f.src1, f.src1_block, f.src1_repeat, i, lanes, dtype), dtype)
        chosen = read(memory[Space.VR], f.cmpmask + lanes // 8, U8) >> (lanes % 8) & 1
        target = place(f.dst, f.dst_block, f.dst_repeat, i, lanes, dtype)
        write(ub, target, np.where(chosen, a, b), dtype)


def select_scalar(memory: Memories, f: Any, row: Instruction) -> None:
    ub, dtype = memory[Space.UB], row.dtype
    scalar = read(memory[Space.VR], np.array([f.cmpmask]), dtype)
    for i, lanes in active_lanes(f, row):
        a = read(ub, place(f.src0, f.src0_block, f.src0_repeat, i, lanes, dtype), dtype)
        bit = i * lanes_per_repeat(row.facts) + lanes
        chosen = read(ub, f.src1 + bit // 8, U8) >> (bit % 8) & 1
        target = place(f.dst, f.dst_block, f.dst_repeat, i, lanes, dtype)
        write(ub, target, np.where(chosen, a, scalar), dtype)


COMPARE_TO_MASK = family(
    "compare_to_mask", CompareToMask, compare_footprint, compare_cycles, compare_limits
)
SET_MASK = family("set_mask", SetMask, set_footprint, compare_cycles)
GET_MASK = family("get_mask", GetMask, get_footprint, compare_cycles)
SELECT_BY_MASK = family("select_by_mask", SelectByMask, select_footprint, shape.vector_cycles)
SELECT_SCALAR = family("select_scalar", SelectScalar, select_scalar_footprint, shape.vector_cycles)


def rows() -> Iterator[Instruction]:
    """vcmp_*, the register's moves, and vsel in its modes 0 and 1 (vsel itself is mode 2)."""
    once = (1, 1)
    for kind, text in COMPARISONS.items():
        for dtype in F16_F32:
            name, summary = f"vcmp_{kind}.{dtype}", f"{text} to another tensor, to CMPMASK"
            yield instruction(name, COMPARE_TO_MASK, dtype, once, HEAD, compare, summary)
    yield instruction("set_cmpmask.b128", SET_MASK, U8, once, HEAD, set_mask, "CMPMASK from UB")
    yield instruction("get_cmpmask.b128", GET_MASK, U8, once, HEAD, get_mask, "CMPMASK to UB")
    selections = (
        ("vsel_mode0", SELECT_BY_MASK, select, "choose by the bits of CMPMASK"),
        ("vsel_mode1", SELECT_SCALAR, select_scalar, "choose element or scalar by bits in UB"),
    )
    for name, form, meaning, text in selections:
        for dtype in F16_F32:
            yield instruction(f"{name}.{dtype}", form, dtype, once, HEAD, meaning, text)


COMPARED: tuple[Instruction, ...] = tuple(rows())
