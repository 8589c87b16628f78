"""Comparisons to CMPMASK, places of extremes, and gathers of blocks and of chosen elements."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels.lanes import lane_on, place, repeat_count, write_lanes
from pypto.emulator.compiled.raw import internal, move_bytes, pointer
from pypto.target.instructions.vector_pick import ORDERS
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

BLOCKS = REPEAT_BYTES // BLOCK_BYTES
VALUE_FIRST, INDEX_ALONE = ORDERS.index("value_index"), ORDERS.index("only_index")


@internal
def compare_to_mask(f, ub, registers, element, kind, size, decode):
    """The bits of one repeat, 0 for lanes that are off."""
    lanes = REPEAT_BYTES // size
    out = pointer(registers + f.cmpmask, np.uint8)
    for byte in range(lanes >> 3):
        bits = np.uint8(0)
        for bit in range(8):
            lane = 8 * byte + bit
            if lane_on(f.mask_mode, f.mask_high, f.mask_low, lanes, 0, lane):
                a = pointer(ub + place(f.src0, f.src0_block, 0, 0, lane, size), kind)[0]
                b = pointer(ub + place(f.src1, f.src1_block, 0, 0, lane, size), kind)[0]
                if element(decode(a), decode(b)):
                    bits |= np.uint8(1 << bit)
        out[byte] = bits
    return 0


@internal
def copy_register(target, source, count):
    move_bytes(target, source, count)
    return 0


@internal
def selected_scalar(f, ub, scratch, registers, kind, size):
    """dst = src0 where the bit at src1 is 1, else the element that CMPMASK starts with."""
    lanes = REPEAT_BYTES // size
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    scalar = pointer(registers + f.cmpmask, kind)[0]
    bits, results = pointer(ub + f.src1, np.uint8), pointer(scratch, kind)
    for i in range(repeat_count(mode, low, f.repeat, lanes)):
        for lane in range(lanes):
            if lane_on(mode, high, low, lanes, i, lane):
                source = place(f.src0, f.src0_block, f.src0_repeat, i, lane, size)
                bit = i * lanes + lane
                chosen = (bits[bit >> 3] >> (bit & 7)) & 1
                results[lane] = pointer(ub + source, kind)[0] if chosen else scalar
        target = ub + place(f.dst, f.dst_block, f.dst_repeat, i, 0, size)
        write_lanes(target, f.dst_block, results, kind, size, mode, high, low, lanes, i)
    return 0


@internal
def reduced_place(f, ub, keeps, kind, size, decode, number, order):
    """The first lane of a repeat that no other beats: its value, its number or both."""
    lanes = REPEAT_BYTES // size
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    unit = 4 if order == INDEX_ALONE else 2 * size
    for i in range(repeat_count(mode, low, f.repeat, lanes)):
        best, top = -1, np.float32(0)
        for lane in range(lanes):
            if lane_on(mode, high, low, lanes, i, lane):
                source = place(f.src, f.src_block, f.src_repeat, i, lane, size)
                value = decode(pointer(ub + source, kind)[0])
                if best < 0 or not (keeps(top, value) or top != top):
                    best, top = lane, value
        if best < 0:
            continue
        source = place(f.src, f.src_block, f.src_repeat, i, best, size)
        value = pointer(ub + source, kind)[0]
        target = ub + f.dst + i * f.dst_repeat * unit
        if order == INDEX_ALONE:
            pointer(target, np.uint32)[0] = np.uint32(best)
            continue
        pointer(target + (0 if order == VALUE_FIRST else size), kind)[0] = value
        pointer(target + (size if order == VALUE_FIRST else 0), number)[0] = best
    return 0


@internal
def gathered_blocks(f, ub, scratch, limit):
    """Blocks at byte offsets; 1 + the address that is beyond UB."""
    step = max(f.dst_block, 1)
    for i in range(f.repeat):
        offsets = pointer(ub + f.offsets + i * BLOCKS * 4, np.uint32)
        for j in range(BLOCKS):
            at = f.base + np.int64(offsets[j])
            if at + BLOCK_BYTES > limit:
                return at + 1
            move_bytes(scratch + j * BLOCK_BYTES, ub + at, BLOCK_BYTES)
        for j in range(BLOCKS):
            target = f.dst + (i * f.dst_repeat + j * step) * BLOCK_BYTES
            move_bytes(ub + target, scratch + j * BLOCK_BYTES, BLOCK_BYTES)
    return 0


@internal
def is_kept(bits, pattern, k):
    """Whether element ``k`` of a repeat is kept."""
    if pattern == 0:
        return (bits[k >> 3] >> (k & 7)) & 1 != 0
    if pattern < 3:
        return k & 1 == pattern - 1
    return pattern == 7 or k & 3 == pattern - 3


@internal
def compacted(f, ub, scratch, kind, size):
    """Elements that are kept, one after the other; a repeat reads before it writes."""
    count = f.mask_low if f.mask_mode != 0 else REPEAT_BYTES // size
    results, target = pointer(scratch, kind), ub + f.dst
    for i in range(f.repeat):
        bits = pointer(ub + f.src1 + i * f.src1_repeat * BLOCK_BYTES, np.uint8)
        kept = 0
        for k in range(count):
            if is_kept(bits, f.pattern, k):
                source = place(f.src0, f.src0_block, f.src0_repeat, i, k, size)
                results[kept] = pointer(ub + source, kind)[0]
                kept += 1
        move_bytes(target, scratch, kept * size)
        target += kept * size
    return 0
