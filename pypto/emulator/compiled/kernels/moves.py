"""Copies between memories, byte for byte."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels import elements as e
from pypto.emulator.compiled.kernels.tiles import move_block
from pypto.emulator.compiled.raw import internal, move_bytes, pointer
from pypto.target.dtypes import F16, F32, I16, I32
from pypto.target.instructions.move_meaning import ATOMIC_OPERATIONS, ATOMIC_TYPES
from pypto.target.memory import BLOCK_BYTES

OPERATIONS = len(ATOMIC_OPERATIONS)
ADD, MAX = ATOMIC_OPERATIONS.index("add"), ATOMIC_OPERATIONS.index("max")
# Float types come first.
ATOMIC_F32, ATOMIC_F16 = (ATOMIC_TYPES.index(t) for t in (F32, F16))
ATOMIC_I32, ATOMIC_I16 = (ATOMIC_TYPES.index(t) for t in (I32, I16))


@internal
def _combined(operation, old, new):
    if operation == ADD:
        return old + new
    if operation == MAX:
        return e.larger(old, new)
    return e.smaller(old, new)


@internal
def _combine_floats(target, source, count, operation, kind):
    for k in range(count):
        if kind == ATOMIC_F32:
            old, new = pointer(target, np.float32), pointer(source, np.float32)
            old[k] = _combined(operation, old[k], new[k])
            continue
        stored, given = pointer(target, np.uint16), pointer(source, np.uint16)
        if kind == ATOMIC_F16:
            total = _combined(operation, e.from_half(stored[k]), e.from_half(given[k]))
            stored[k] = e.to_half(total)
        else:
            total = _combined(operation, e.from_bfloat(stored[k]), e.from_bfloat(given[k]))
            stored[k] = e.to_bfloat(total)


@internal
def _combine_integers(target, source, count, operation, kind):
    for k in range(count):
        if kind == ATOMIC_I32:
            old, new = pointer(target, np.int32), pointer(source, np.int32)
            old[k] = _combined(operation, np.int64(old[k]), np.int64(new[k]))
        elif kind == ATOMIC_I16:
            old, new = pointer(target, np.int16), pointer(source, np.int16)
            old[k] = _combined(operation, np.int64(old[k]), np.int64(new[k]))
        else:
            old, new = pointer(target, np.int8), pointer(source, np.int8)
            old[k] = _combined(operation, np.int64(old[k]), np.int64(new[k]))


@internal
def store(target, source, length, atomic):
    """Bytes to GM, combined with what is there when the atomic mode says so."""
    operation, kind = atomic % OPERATIONS, atomic // OPERATIONS
    if operation == 0:
        move_bytes(target, source, length)
    elif kind < ATOMIC_I32:
        shift = 2 if kind == ATOMIC_F32 else 1
        _combine_floats(target, source, length >> shift, operation, kind)
    else:
        shift = 2 if kind == ATOMIC_I32 else (1 if kind == ATOMIC_I16 else 0)
        _combine_integers(target, source, length >> shift, operation, kind)


@internal
def copy_in(f, gm, ub, kind, size):
    """Bursts of GM to UB, each filled up to whole blocks with the pad value."""
    if f.length == 0:
        return 0
    filled = f.length + (f.left + f.right) * size
    row = (filled + BLOCK_BYTES - 1) // BLOCK_BYTES * BLOCK_BYTES
    left = f.left * size
    whole = row == f.length
    for i in range(f.bursts):
        target = ub + f.dst + i * (row + f.dst_gap * BLOCK_BYTES)
        source = gm + f.src + i * (f.length + f.src_gap)
        if not whole:
            d = pointer(target, kind)
            filler = np.int64(f.pad_value)
            if f.left + f.right == 0:
                filler = np.int64(pointer(source, kind)[0])
            for k in range(f.left):
                d[k] = filler
            for k in range((left + f.length) // size, row // size):
                d[k] = filler
        move_bytes(target + left, source, f.length)
    return 0


@internal
def copy_out(f, gm, ub):
    """Bursts of UB to GM; what fills a block in UB is not written."""
    row = (f.length + BLOCK_BYTES - 1) // BLOCK_BYTES * BLOCK_BYTES
    for i in range(f.bursts):
        source = ub + f.src + i * (row + f.src_gap * BLOCK_BYTES)
        store(gm + f.dst + i * (f.length + f.dst_gap), source, f.length, f.atomic)
    return 0


@internal
def nd2nz(f, gm, l1, size):
    """Rows of GM to columns of 32-byte blocks in L1; the last block of a row ends in zeros."""
    length = f.columns * size
    step = f.dst_column_stride * BLOCK_BYTES
    for matrix in range(f.nd_count if length > 0 else 0):
        for r in range(f.rows):
            source = gm + f.src + (matrix * f.src_nd_stride + r * f.src_row_stride) * size
            target = l1 + f.dst + matrix * f.dst_nd_stride * size
            scatter_row(target + r * f.dst_row_stride * BLOCK_BYTES, source, step, length)
    return 0


@internal
def scatter_row(target, source, step, length):
    """The 32-byte blocks of a row ``step`` bytes apart, the last filled with zeros."""
    blocks = length // BLOCK_BYTES
    tail = length - blocks * BLOCK_BYTES
    for block in range(blocks):
        move_block(target + block * step, source + block * BLOCK_BYTES)
    if tail > 0:
        last = pointer(target + blocks * step, np.uint8)
        rest = pointer(source + blocks * BLOCK_BYTES, np.uint8)
        for k in range(tail):
            last[k] = rest[k]
        for k in range(tail, BLOCK_BYTES):
            last[k] = 0
