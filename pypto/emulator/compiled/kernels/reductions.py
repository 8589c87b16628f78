"""Reductions of a repeat or of its blocks as trees of adjacent pairs."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels.lanes import HOLES, lane_on, place, prefix, repeat_count
from pypto.emulator.compiled.raw import internal, pointer
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES


@internal
def tree(values, count, element, decode, encode):
    """The first ``count`` values combined pair by pair; the last of an odd number passes."""
    while count > 1:
        half = count >> 1
        for k in range(half):
            combined = element(values[2 * k], values[2 * k + 1])
            values[k] = decode(encode(combined))
        if count & 1:
            values[half] = values[count - 1]
        count = (count + 1) >> 1
    return values[0]


@internal
def tree_with_holes(values, present, count, element, decode, encode):
    """The same over the values that are present; one without a partner passes."""
    while count > 1:
        half = (count + 1) >> 1
        for k in range(half):
            left = present[2 * k]
            right = present[2 * k + 1] if 2 * k + 1 < count else np.uint8(0)
            if left and right:
                combined = element(values[2 * k], values[2 * k + 1])
                values[k] = decode(encode(combined))
            elif right:
                values[k] = values[2 * k + 1]
            else:
                values[k] = values[2 * k]
            present[k] = left | right
        count = half
    return values[0]


@internal
def reduced(f, ub, scratch, element, kind, size, decode, encode, finish, results):
    """One result per repeat (``results`` 1) or per block (8); a group without lanes writes none.

    A repeat reads before it writes. ``encode`` rounds every node, ``finish`` the last one.
    """
    lanes = REPEAT_BYTES // size
    width = lanes // results
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    on = prefix(mode, high, low, lanes)
    values = pointer(scratch, np.float32)
    present = pointer(scratch + lanes * 4, np.uint8)
    found = pointer(scratch + lanes * 5, np.uint8)
    written = pointer(scratch + lanes * 6, kind)
    narrow = BLOCK_BYTES // size
    for i in range(repeat_count(mode, low, f.repeat, lanes)):
        active = min(lanes, low - i * lanes) if mode != 0 else on
        for group in range(results):
            first = group * width
            for lane in range(first, first + width, narrow):
                source = ub + place(f.src, f.src_block, f.src_repeat, i, lane, size)
                a = pointer(source, kind)
                for k in range(narrow):
                    values[lane - first + k] = decode(a[k])
            if active != HOLES:
                count = min(max(active - first, 0), width)
                found[group] = np.uint8(count > 0)
                if count > 0:
                    written[group] = finish(tree(values, count, element, decode, encode))
                continue
            found[group] = np.uint8(0)
            for k in range(width):
                here = np.uint8(lane_on(mode, high, low, lanes, i, first + k))
                present[k] = here
                found[group] |= here
            if found[group]:
                result = tree_with_holes(values, present, width, element, decode, encode)
                written[group] = finish(result)
        d = pointer(ub + f.dst + i * f.dst_repeat * results * size, kind)
        for group in range(results):
            if found[group]:
                d[group] = written[group]
    return 0
