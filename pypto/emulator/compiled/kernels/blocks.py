"""Whole blocks between memories, and the accumulator drained to UB."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels.fixpipe import drain_row
from pypto.emulator.compiled.kernels.moves import store
from pypto.emulator.compiled.raw import internal, move_bytes
from pypto.target.memory import ACCUMULATOR_FRACTAL_BYTES, BLOCK_BYTES

EDGE = 16
ACCUMULATOR_ROW_BYTES = ACCUMULATOR_FRACTAL_BYTES // EDGE


@internal
def copy_blocks(f, target_memory, source_memory):
    """Bursts of whole blocks, in order."""
    length = f.length * BLOCK_BYTES
    for i in range(f.bursts):
        target = target_memory + f.dst + i * (length + f.dst_gap * BLOCK_BYTES)
        move_bytes(target, source_memory + f.src + i * (length + f.src_gap * BLOCK_BYTES), length)
    return 0


@internal
def store_blocks(f, gm, ub):
    """Bursts of whole blocks to GM."""
    length = f.length * BLOCK_BYTES
    for i in range(f.bursts):
        target = gm + f.dst + i * (length + f.dst_gap * BLOCK_BYTES)
        store(target, ub + f.src + i * (length + f.src_gap * BLOCK_BYTES), length, f.atomic)
    return 0


@internal
def drain(f, ub, l0c, kind, size, encode):
    """Bursts of accumulator fractals, row after row, converted."""
    row = EDGE * size
    length = f.length * EDGE * row
    for i in range(f.bursts):
        target = ub + f.dst + i * (length + f.dst_gap * BLOCK_BYTES)
        source = l0c + f.src + i * (f.length + f.src_gap) * ACCUMULATOR_FRACTAL_BYTES
        for r in range(f.length * EDGE):
            place = source + r * ACCUMULATOR_ROW_BYTES
            drain_row(target + r * row, place, EDGE, f.relu, np.float32, kind, encode)
    return 0
