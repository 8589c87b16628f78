"""What an instruction does to one element; floats are f32 here, whatever memory holds."""

from __future__ import annotations

import math

import numpy as np

from pypto.emulator.compiled.raw import (
    bfloat_to_float,
    double_to_half,
    float_bits,
    float_of_bits,
    float_to_bfloat,
    float_to_half,
    half_to_float,
    internal,
)
from pypto.target.dtypes import BF16, F16
from pypto.target.numerics import APPROXIMATE_MASK, largest_number

LARGEST_HALF = np.float32(largest_number(F16))
LARGEST_BFLOAT = np.float32(largest_number(BF16))


@internal
def _clipped(value, largest):
    if value != value:
        return np.float32(0)
    return min(max(value, -largest), largest)


# Between memory and f32 (integers stay as they are).


@internal
def same(value):
    return value


@internal
def from_half(bits):
    return half_to_float(bits)


@internal
def to_half(value):
    return float_to_half(np.float32(value))


@internal
def from_bfloat(bits):
    return bfloat_to_float(bits)


@internal
def to_bfloat(value):
    return float_to_bfloat(np.float32(value))


@internal
def round_half(value):
    """An f64 to half bits in one rounding."""
    return double_to_half(np.float64(value))


@internal
def round_single(value):
    return np.float32(value)


@internal
def to_half_saturated(value):
    """Too large becomes the largest half, NaN 0."""
    return float_to_half(_clipped(value, LARGEST_HALF))


@internal
def to_bfloat_saturated(value):
    """Too large becomes the largest bfloat16, NaN 0."""
    return float_to_bfloat(_clipped(value, LARGEST_BFLOAT))


# Two operands.


@internal
def add(a, b):
    return a + b


@internal
def subtract(a, b):
    return a - b


@internal
def multiply(a, b):
    return a * b


@internal
def divide(a, b):
    return a / b


@internal
def larger(a, b):
    """NaN wins; equal numbers give the first."""
    return a if (a >= b) or (a != a) else b


@internal
def smaller(a, b):
    """NaN wins; equal numbers give the first."""
    return a if (a <= b) or (a != a) else b


@internal
def bit_and(a, b):
    return a & b


@internal
def bit_or(a, b):
    return a | b


@internal
def leaky(a, b):
    return a if a >= 0 else a * b


@internal
def shift_left(a, amount):
    return a << amount


@internal
def shift_right(a, amount):
    return a >> amount


@internal
def shift_right_rounded(a, amount):
    """Half up: half of what is shifted out is added first."""
    return (np.int64(a) + ((1 << amount) >> 1)) >> amount


@internal
def sum_relu(a, b):
    return relu(a + b, 0)


@internal
def difference_relu(a, b):
    return relu(a - b, 0)


@internal
def integer_relu(a, unused):
    return max(a, 0)


@internal
def short_sum_relu(a, b):
    """The sum wraps before the comparison."""
    return max(np.int16(a + b), 0)


@internal
def short_difference_relu(a, b):
    """The difference wraps before the comparison."""
    return max(np.int16(a - b), 0)


@internal
def half_sum_relu(a, b):
    """Rounded to half."""
    return from_half(to_half(relu(a + b, 0)))


@internal
def half_difference_relu(a, b):
    """Rounded to half."""
    return from_half(to_half(relu(a - b, 0)))


@internal
def half_product(a, b):
    """Rounded to half."""
    return from_half(to_half(a * b))


# One operand; the second is not used, so that all element functions look alike.


@internal
def copied(a, unused):
    return a


@internal
def absolute(a, unused):
    return float_of_bits(float_bits(a) & np.uint32(0x7FFFFFFF))


@internal
def relu(a, unused):
    return a if (a > 0) or (a != a) else np.float32(0)


@internal
def exponential(a, unused):
    return math.exp(np.float64(a))


@internal
def logarithm(a, unused):
    x = np.float64(a)
    return math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)


@internal
def square_root(a, unused):
    return math.sqrt(np.float64(a))


@internal
def _approximate(value):
    """Keeps the leading fraction bits of the f32 nearest to an f64."""
    return float_of_bits(float_bits(np.float32(value)) & APPROXIMATE_MASK)


@internal
def reciprocal(a, unused):
    return _approximate(np.float64(1) / np.float64(a))


@internal
def reciprocal_root(a, unused):
    return _approximate(np.float64(1) / math.sqrt(np.float64(a)))


@internal
def invert(a, unused):
    return ~a


# Comparisons.


@internal
def equal(a, b):
    return a == b


@internal
def not_equal(a, b):
    return a != b


@internal
def less(a, b):
    return a < b


@internal
def less_equal(a, b):
    return a <= b


@internal
def greater(a, b):
    return a > b


@internal
def greater_equal(a, b):
    return a >= b
