"""Rounding and saturation of casts, one element at a time; the oracle is ``target.numerics``."""

from __future__ import annotations

import math

import numpy as np

from pypto.emulator.compiled.raw import (
    bfloat_to_float,
    double_to_half,
    float_bits,
    float_of_bits,
    float_to_bfloat,
    half_to_float,
    internal,
)
from pypto.target.numerics import MODES

FLOOR, CEILING, AWAY, TRUNCATE, ODD = (MODES.index(letter) for letter in "fcazo")
NEAREST = MODES.index("r")


@internal
def round_integral(a, mode):
    """An f64 rounded to an integral f64."""
    x = np.float64(a)
    if mode == FLOOR:
        return np.floor(x)
    if mode == CEILING:
        return np.ceil(x)
    if mode == TRUNCATE:
        return np.trunc(x)
    if mode == AWAY:
        return np.trunc(x + math.copysign(0.5, x))
    return np.rint(x)


@internal
def round_single(a, mode):
    """An f32 rounded to an integral f32; the sign of zero is dropped."""
    return np.float32(round_integral(a, mode)) + np.float32(0)


@internal
def saturated(x, low, high):
    """An integral f64 as an integer within ``low``..``high``; NaN is 0."""
    if x != x:
        return 0
    if x >= np.float64(high):
        return high
    if x <= np.float64(low):
        return low
    return np.int64(x)


@internal
def clipped(a, low, high):
    """An integer within ``low``..``high``."""
    return min(max(np.int64(a), low), high)


# A float type by its bits: from f64, to f64.


@internal
def half_of(x):
    return np.int64(double_to_half(x))


@internal
def value_of_half(bits):
    return np.float64(half_to_float(np.uint16(bits)))


@internal
def bfloat_of(x):
    return np.int64(float_to_bfloat(np.float32(x)))


@internal
def value_of_bfloat(bits):
    return np.float64(bfloat_to_float(np.uint16(bits)))


@internal
def single_of(x):
    return np.int64(float_bits(np.float32(x)))


@internal
def value_of_single(bits):
    return np.float64(float_of_bits(np.uint32(bits)))


@internal
def directed(a, mode, sign, narrow, widen):
    """The bits of a number in a float type, rounded by ``mode``; ``sign`` is its sign bit.

    ``a`` is exact in f64. One more or less in the bits is the next magnitude.
    """
    source = np.float64(a)
    bits = narrow(source)
    got = widen(bits)
    outward = -1 if bits & sign else 1
    if mode == FLOOR:
        return bits - outward if got > source else bits
    if mode == CEILING:
        return bits + outward if got < source else bits
    inner = bits - 1 if abs(got) > abs(source) else bits
    if mode == TRUNCATE:
        return inner
    if mode == ODD:
        return inner if widen(inner) == source else inner | 1
    if mode == AWAY:
        near = widen(inner)
        outer = inner if near == source else inner + 1
        if abs(source) - abs(near) == abs(widen(outer)) - abs(source):
            return outer
    return bits


@internal
def magnitude(value):
    """The absolute value of an int64 as a uint64."""
    return np.uint64(-value) if value < 0 else np.uint64(value)


@internal
def single_magnitude(bits):
    """The absolute value of an integral f32 of at most 2**63 as a uint64."""
    value = value_of_single(bits & 0x7FFFFFFF)
    return np.uint64(1 << 63) if value >= 2.0**63 else np.uint64(np.int64(value))


@internal
def directed_from_long(a, mode):
    """The f32 bits of an int64, rounded by ``mode``; compared as integers."""
    bits = np.int64(float_bits(np.float32(a)))
    got, source = single_magnitude(bits), magnitude(a)
    negative = a < 0
    if mode == FLOOR:
        if negative:
            return bits + 1 if got < source else bits
        return bits - 1 if got > source else bits
    if mode == CEILING:
        if negative:
            return bits - 1 if got > source else bits
        return bits + 1 if got < source else bits
    inner = bits - 1 if got > source else bits
    if mode == TRUNCATE:
        return inner
    if mode == AWAY:
        near = single_magnitude(inner)
        outer = inner if near == source else inner + 1
        if source - near == single_magnitude(outer) - source:
            return outer
    return bits


# The element functions of casts: (element, mode).


@internal
def single(bits):
    """An f32 by its bits."""
    return float_of_bits(np.uint32(bits))


@internal
def number_to_f16(a, mode):
    return directed(a, mode, 1 << 15, half_of, value_of_half)


@internal
def number_to_bf16(a, mode):
    return directed(a, mode, 1 << 15, bfloat_of, value_of_bfloat)


@internal
def number_to_f32(a, mode):
    return directed(a, mode, 1 << 31, single_of, value_of_single)


@internal
def long_to_f32(a, mode):
    return directed_from_long(a, mode)


@internal
def float_to_i8(a, mode):
    return saturated(round_integral(a, mode), -(1 << 7), (1 << 7) - 1)


@internal
def nearest_i8(a):
    return float_to_i8(a, NEAREST)


@internal
def nearest_u8(a):
    return float_to_u8(a, NEAREST)


@internal
def clipped_i8(a):
    return clipped(a, -(1 << 7), (1 << 7) - 1)


@internal
def float_to_u8(a, mode):
    return saturated(round_integral(a, mode), 0, (1 << 8) - 1)


@internal
def float_to_i16(a, mode):
    return saturated(round_integral(a, mode), -(1 << 15), (1 << 15) - 1)


@internal
def float_to_i32(a, mode):
    return saturated(round_integral(a, mode), -(1 << 31), (1 << 31) - 1)


@internal
def float_to_i64(a, mode):
    return saturated(round_integral(a, mode), -(1 << 63), (1 << 63) - 1)


@internal
def integer_to_i16(a, mode):
    return clipped(a, -(1 << 15), (1 << 15) - 1)


@internal
def integer_to_i32(a, mode):
    return clipped(a, -(1 << 31), (1 << 31) - 1)


@internal
def integer_to_i64(a, mode):
    return np.int64(a)
