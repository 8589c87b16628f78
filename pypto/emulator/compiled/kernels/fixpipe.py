"""The accumulator drained: converted row after row, quantised element after element."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels.casts import clipped, saturated
from pypto.emulator.compiled.kernels.elements import to_half_saturated
from pypto.emulator.compiled.kernels.moves import store
from pypto.emulator.compiled.raw import (
    float_of_bits,
    internal,
    load_apart,
    pointer,
    store_apart,
)
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
ELEMENT_BYTES = 4  # of the accumulator
UNIT = EDGE * ELEMENT_BYTES  # a row of a fractal
WORD_BYTES = 8


@internal
def drain_row(target, source, count, relu, source_kind, kind, encode):
    """Elements of the accumulator, converted."""
    d, s = pointer(target, kind), pointer(source, source_kind)
    for k in range(count):
        value = load_apart(s, k)
        if relu != 0 and not (value > 0 or value != value):
            value = source_kind(0)
        store_apart(d, k, encode(value))


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
def place(f, row, column, nd, width, size):
    """Byte of an element: in rows (``nd``), or in columns of fractals ``width`` elements wide."""
    if nd != 0:
        return (row * f.dst_stride + column) * size
    fractal = column // width * f.dst_stride * BLOCK_BYTES
    return fractal + (row * width + column % width) * size


@internal
def source_place(f, row, column):
    """Byte of an element of the accumulator."""
    return (column // EDGE * f.src_stride + row) * UNIT + column % EDGE * ELEMENT_BYTES


@internal
def drain(f, memory, l0c, scratch, nd, split, atomic, source_kind, kind, size, encode):
    """m rows of n elements of L0C converted, up to 16 at a time."""
    width = EDGE // 2 if split != 0 else max(EDGE, BLOCK_BYTES // size)
    piece = min(EDGE, width)
    for r in range(f.m):
        for column in range(0, f.n, piece):
            count = min(piece, f.n - column)
            source = l0c + f.src + source_place(f, r, column)
            target = memory + f.dst + place(f, r, column, nd, width, size)
            if atomic == 0:
                drain_row(target, source, count, f.relu, source_kind, kind, encode)
            else:
                drain_row(scratch, source, count, f.relu, source_kind, kind, encode)
                store(target, scratch, count * size, atomic)
    return 0


@internal
def drain_by_scale(
    f, memory, l0c, scratch, nd, atomic, words, step, source_kind, kind, size, convert
):  # fmt: skip
    """m rows of n elements of L0C, each column with its scale, up to 16 at a time."""
    width = max(EDGE, BLOCK_BYTES // size)
    spare = scratch + WORD_BYTES
    for r in range(f.m):
        for column in range(0, f.n, EDGE):
            count = min(EDGE, f.n - column)
            source = l0c + f.src + source_place(f, r, column)
            target = memory + f.dst + place(f, r, column, nd, width, size)
            scales = words + column * step
            if atomic == 0:
                drain_scaled(
                    target, source, count, f.relu, scales, step, source_kind, kind, convert
                )
            else:
                drain_scaled(spare, source, count, f.relu, scales, step, source_kind, kind, convert)
                store(target, spare, count * size, atomic)
    return 0
