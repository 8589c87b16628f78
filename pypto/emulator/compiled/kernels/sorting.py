"""Scores sorted into pairs of eight bytes, and sorted lists of pairs merged."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.raw import internal, pointer
from pypto.target.instructions.vector_sort import PAIR_BYTES, QUEUES, SORTED_AT_ONCE


@internal
def before(a, b):
    """Whether a score goes before another: it is larger, or NaN and the other a number."""
    return a > b or (a != a and b == b)


@internal
def sorted_pairs(f, ub, scratch, kind, size, decode):
    """32 scores and indices at a time, by insertion: equal scores stay in order."""
    pairs = pointer(scratch, np.uint64)
    keys = pointer(scratch + SORTED_AT_ONCE * PAIR_BYTES, np.float32)
    for i in range(f.repeat):
        scores = pointer(ub + f.src0 + i * SORTED_AT_ONCE * size, kind)
        bits = pointer(ub + f.src0 + i * SORTED_AT_ONCE * size, np.uint8)
        indices = pointer(ub + f.src1 + i * SORTED_AT_ONCE * 4, np.uint32)
        for k in range(SORTED_AT_ONCE):
            key = decode(scores[k])
            pair = np.uint64(indices[k]) << np.uint64(32)
            for byte in range(size):
                pair |= np.uint64(bits[k * size + byte]) << np.uint64(8 * byte)
            at = k
            while at > 0 and before(key, keys[at - 1]):
                keys[at], pairs[at] = keys[at - 1], pairs[at - 1]
                at -= 1
            keys[at], pairs[at] = key, pair
        d = pointer(ub + f.dst + i * SORTED_AT_ONCE * PAIR_BYTES, np.uint64)
        for k in range(SORTED_AT_ONCE):
            d[k] = pairs[k]
    return 0


@internal
def merged(f, ub, scratch, kind, decode):
    """Lists of pairs merged; of equal scores the one of the lower list goes first."""
    starts, counts = pointer(scratch, np.int64), pointer(scratch + QUEUES * 8, np.int64)
    left, at = pointer(scratch + QUEUES * 16, np.int64), pointer(scratch + QUEUES * 24, np.int64)
    starts[0], starts[1], starts[2], starts[3] = f.src0, f.src1, f.src2, f.src3
    counts[0], counts[1] = f.length0, f.length1
    counts[2] = f.length2 if f.valid & 4 else 0
    counts[3] = f.length3 if f.valid & 8 else 0
    total = counts[0] + counts[1] + counts[2] + counts[3]
    target = ub + f.dst
    for i in range(f.repeat):
        for q in range(QUEUES):
            left[q], at[q] = counts[q], ub + starts[q] + i * total * PAIR_BYTES
        running = True
        while running:
            best, top = -1, np.float32(0)
            for q in range(QUEUES):
                if left[q] > 0:
                    key = decode(pointer(at[q], kind)[0])
                    if best < 0 or before(key, top):
                        best, top = q, key
            if best < 0:
                break
            pointer(target, np.uint64)[0] = pointer(at[best], np.uint64)[0]
            target += PAIR_BYTES
            at[best] += PAIR_BYTES
            left[best] -= 1
            running = f.suspend == 0 or left[best] > 0
    return 0
