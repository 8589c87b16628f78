"""Conversions by a scale: i32 to half, i16 to bytes in halves of blocks."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels.fixpipe import float_to_byte
from pypto.emulator.compiled.kernels.lanes import lane_on, place, repeat_count
from pypto.emulator.compiled.raw import internal, pointer
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

LANES = 16  # of i16 in a block
DOWN, UP = np.float32(2.0**-17), np.float32(2.0**17)


@internal
def dequantised(value, scale):
    """An i32 times an f32 scale, held low in between."""
    return np.float32(value) * DOWN * scale * UP


@internal
def to_bytes(f, ub, scratch, words, step, half):
    """Lane i of a block to byte i of half a block, by the word ``i * step`` bytes on."""
    lanes = REPEAT_BYTES // 2
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    results = pointer(scratch, np.uint8)
    for i in range(repeat_count(mode, low, f.repeat, lanes)):
        for lane in range(lanes):
            if lane_on(mode, high, low, lanes, i, lane):
                source = place(f.src, f.src_block, f.src_repeat, i, lane, 2)
                value = np.float32(pointer(ub + source, np.int16)[0])
                word = pointer(words + lane % LANES * step, np.int64)[0]
                results[lane] = float_to_byte(value, word, 0)
        for lane in range(lanes):
            if lane_on(mode, high, low, lanes, i, lane):
                block = i * f.dst_repeat + lane // LANES * f.dst_block
                at = f.dst + block * BLOCK_BYTES + half * LANES + lane % LANES
                pointer(ub + at, np.uint8)[0] = results[lane]
    return 0
