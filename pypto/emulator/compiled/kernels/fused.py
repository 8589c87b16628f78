"""Instructions that combine sources with what their destination holds."""

from __future__ import annotations

from pypto.emulator.compiled.kernels.elements import relu
from pypto.emulator.compiled.kernels.lanes import (
    HOLES,
    lane_on,
    lanes_in_window,
    place,
    prefix,
    repeat_count,
    saturate,
    write_lanes,
)
from pypto.emulator.compiled.raw import internal, pointer
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES


@internal
def multiply_add(a, b, old):
    """The product is rounded, then the sum."""
    return a * b + old


@internal
def multiply_old(a, b, old):
    return a * old + b


@internal
def multiply_old_relu(a, b, old):
    return relu(a * old + b, 0)


@internal
def fused(
    f, ub, scratch, element, source_kind, source_size, target_kind, size, widen, decode, encode,
    infinity,
):  # fmt: skip
    """dst = element(src0, src1, dst) on the lanes that are on; a repeat reads before it writes."""
    wide = max(source_size, size)
    lanes, narrow = REPEAT_BYTES // wide, BLOCK_BYTES // wide
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    on = prefix(mode, high, low, lanes)
    results = pointer(scratch, target_kind)
    for i in range(repeat_count(mode, low, f.repeat, lanes)):
        target = ub + place(f.dst, f.dst_block, f.dst_repeat, i, 0, size)
        for j in range(lanes // narrow):
            lane = j * narrow
            d = pointer(place(target, f.dst_block, 0, 0, lane, size), target_kind)
            first = place(f.src0, f.src0_block, f.src0_repeat, i, lane, source_size)
            second = place(f.src1, f.src1_block, f.src1_repeat, i, lane, source_size)
            a, b = pointer(ub + first, source_kind), pointer(ub + second, source_kind)
            run = lanes_in_window(mode, low, lanes, on, i, j, narrow)
            for k in range(narrow if run == HOLES else run):
                if run != HOLES or lane_on(mode, high, low, lanes, i, lane + k):
                    results[lane + k] = encode(element(widen(a[k]), widen(b[k]), decode(d[k])))
        write_lanes(target, f.dst_block, results, target_kind, size, mode, high, low, lanes, i)
        if f.saturation != 0 and infinity != 0:
            saturate(target, f.dst_block, infinity, mode, high, low, lanes, i)
    return 0


@internal
def fused_scalar(
    f, ub, scratch, scalar, source_kind, source_size, target_kind, size, widen, decode, encode,
    infinity,
):  # fmt: skip
    """dst += src * scalar on the lanes that are on; a repeat reads before it writes."""
    wide = max(source_size, size)
    lanes, narrow = REPEAT_BYTES // wide, BLOCK_BYTES // wide
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    on = prefix(mode, high, low, lanes)
    results = pointer(scratch, target_kind)
    for i in range(repeat_count(mode, low, f.repeat, lanes)):
        target = ub + place(f.dst, f.dst_block, f.dst_repeat, i, 0, size)
        for j in range(lanes // narrow):
            lane = j * narrow
            d = pointer(place(target, f.dst_block, 0, 0, lane, size), target_kind)
            source = place(f.src, f.src_block, f.src_repeat, i, lane, source_size)
            a = pointer(ub + source, source_kind)
            run = lanes_in_window(mode, low, lanes, on, i, j, narrow)
            for k in range(narrow if run == HOLES else run):
                if run != HOLES or lane_on(mode, high, low, lanes, i, lane + k):
                    value = multiply_add(widen(a[k]), scalar, decode(d[k]))
                    results[lane + k] = encode(value)
        write_lanes(target, f.dst_block, results, target_kind, size, mode, high, low, lanes, i)
        if f.saturation != 0 and infinity != 0:
            saturate(target, f.dst_block, infinity, mode, high, low, lanes, i)
    return 0
