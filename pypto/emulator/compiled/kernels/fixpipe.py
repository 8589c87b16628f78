"""The accumulator drained: converted row after row, quantised element after element."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels.casts import clipped, saturated
from pypto.emulator.compiled.kernels.cube import drain_row
from pypto.emulator.compiled.kernels.elements import to_half_saturated
from pypto.emulator.compiled.raw import float_of_bits, internal, pointer
from pypto.target.memory import BLOCK_BYTES
from pypto.target.quantisation import (
    MULTIPLIER_MASK,
    OFFSET_AT,
    OFFSET_SIGN,
    SHIFT_AT,
    SHIFTS_AT,
    SIGNED_AT,
    WIDE_HIGH,
    WIDE_LOW,
)

EDGE = 16
UNIT = EDGE * 4  # bytes of a row of a fractal of L0C
WORD_BYTES = 8


@internal
def scaled(value, word, relu):
    """An f32 times the multiplier of a scale, or times 0 where it is negative and relu is on."""
    multiplier = float_of_bits(np.uint32(word & MULTIPLIER_MASK))
    if relu != 0 and not value >= 0:
        multiplier = np.float32(0)
    return value * multiplier


@internal
def float_to_byte(value, word, relu):
    """An f32 scaled, rounded, saturated and moved by the offset: the eight bits."""
    wide = saturated(np.rint(np.float64(scaled(value, word, relu))), WIDE_LOW, WIDE_HIGH)
    offset = word >> OFFSET_AT & (2 * OFFSET_SIGN - 1)
    moved = wide + offset - 2 * (offset & OFFSET_SIGN)
    if word >> SIGNED_AT & 1 != 0:
        return np.uint8(clipped(moved, -128, 127))
    return np.uint8(clipped(moved, 0, 255))


@internal
def integer_to_byte(value, word, relu):
    """An i32, shifted and saturated to 16 bits where the scale says so, then as an f32."""
    whole = np.int64(value)
    if word >> SHIFTS_AT & 1 != 0:
        whole = clipped(whole >> ((word >> SHIFT_AT & 15) + 1), -32768, 32767)
    return float_to_byte(np.float32(whole), word, relu)


@internal
def integer_to_half(value, word, relu):
    """An i32 as an f32, scaled and saturated to half."""
    return to_half_saturated(scaled(np.float32(value), word, relu))


@internal
def drain_scaled(target, source, count, relu, words, step, source_kind, kind, convert):
    """Up to 16 elements of the accumulator, scale ``k`` of them ``k * step`` bytes on."""
    d, s = pointer(target, kind), pointer(source, source_kind)
    for k in range(count):
        d[k] = convert(s[k], pointer(words + k * step, np.int64)[0], relu)


@internal
def word_in(scratch, word):
    """The address of a word, which is written there."""
    pointer(scratch, np.int64)[0] = word
    return scratch


@internal
def place_in_l1(f, row, block, size):
    """Byte of a row of a 16-column block in columns of 32-byte blocks."""
    start = block * EDGE * size
    column = start // BLOCK_BYTES
    return (column * f.dst_stride + row) * BLOCK_BYTES + start % BLOCK_BYTES


@internal
def to_l1(f, l1, l0c, kind, size, encode):
    """m rows of n f32 of L0C to L1."""
    for j in range(f.n // EDGE):
        for r in range(f.m):
            target = l1 + f.dst + place_in_l1(f, r, j, size)
            source = l0c + f.src + (j * f.src_stride + r) * UNIT
            drain_row(target, source, EDGE, f.relu, kind, encode)
    return 0


@internal
def to_l1_scaled(f, l1, l0c, words, step, source_kind, kind, size, convert):
    """m rows of n elements of L0C to L1, each column with its scale."""
    for j in range(f.n // EDGE):
        scales = words + j * EDGE * step
        for r in range(f.m):
            target = l1 + f.dst + place_in_l1(f, r, j, size)
            source = l0c + f.src + (j * f.src_stride + r) * UNIT
            drain_scaled(target, source, EDGE, f.relu, scales, step, source_kind, kind, convert)
    return 0
