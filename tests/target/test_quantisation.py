"""Quantisation of drained numbers against a slow reference of whole numbers and fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from pypto.target.dtypes import F16, I8
from pypto.target.quantisation import Quantisation, convert, scale_word

MULTIPLIERS = (1.0, 0.0078125, -0.5, 3.1415927, 1e-4)


def truncated(multiplier: float) -> Fraction:
    """A multiplier without the low 13 bits of its f32."""
    mantissa, exponent = math.frexp(float(np.float32(multiplier)))
    return Fraction(int(mantissa * 2**11), 2**11) * Fraction(2) ** exponent


def half_even(value: Fraction) -> int:
    return round(value)


def byte(
    x: int, multiplier: float, offset: int, signed: bool, shift: int | None, relu: bool
) -> int:
    """One element of REQ8, exact where the products have no more than 24 bits."""
    if shift is not None:
        x = max(-32768, min(32767, x >> shift))
    factor = truncated(multiplier) if x >= 0 or not relu else Fraction(0)
    wide = max(-256, min(255, half_even(x * factor)))
    low, high = (-128, 127) if signed else (0, 255)
    return max(low, min(high, wide + offset))


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(("offset", "shift"), [(0, None), (5, 1), (-7, 4), (255, 16), (-256, None)])
@pytest.mark.parametrize("multiplier", MULTIPLIERS)
def test_integers_to_bytes(
    multiplier: float, offset: int, shift: int | None, signed: bool, relu: bool
) -> None:
    x = np.concatenate([np.arange(-600, 600), np.random.default_rng(1).integers(-8191, 8191, 300)])
    words = np.array([scale_word(multiplier, offset, signed, shift)], np.int64)
    got = convert(x.astype(np.int32), I8, Quantisation.INTEGER_TO_BYTE, words, relu)
    got = got.view(np.int8) if signed else got
    expected = [byte(int(v), multiplier, offset, signed, shift, relu) for v in x]
    assert got.tolist() == expected


def test_relu_chooses_the_multiplier_before_the_offset_is_added() -> None:
    """A negative number gives the offset, not 0."""
    words = np.array([scale_word(1.0, offset=9)], np.int64)
    x = np.array([-100, -1, 0, 1], np.int32)
    got = convert(x, I8, Quantisation.INTEGER_TO_BYTE, words, relu=True)
    assert got.tolist() == [9, 9, 9, 10]
    single = convert(x.astype(np.float32), I8, Quantisation.FLOAT_TO_BYTE, words, relu=True)
    assert single.tolist() == [9, 9, 9, 10]


def test_floats_to_bytes_round_to_even_and_saturate() -> None:
    words = np.array([scale_word(0.5)], np.int64)
    x = np.array([1, 3, -1, -3, 1e9, -1e9, np.inf, -np.inf, np.nan], np.float32)
    got = convert(x, I8, Quantisation.FLOAT_TO_BYTE, words, relu=False).view(np.int8)
    assert got.tolist() == [0, 2, 0, -2, 127, -128, 127, -128, 0]


def test_each_column_has_its_scale() -> None:
    words = np.array([scale_word(2.0), scale_word(3.0, offset=1)], np.int64)
    x = np.array([[1, 1], [5, 5]], np.int32)
    got = convert(x, I8, Quantisation.INTEGER_TO_BYTE, words, relu=False)
    assert got.tolist() == [[2, 4], [10, 16]]


def test_integers_to_half_have_no_offset_and_saturate() -> None:
    words = np.array([scale_word(0.125, offset=77)], np.int64)
    x = np.array([-2, 12, 2**31 - 1, -(2**31)], np.int32)
    got = convert(x, F16, Quantisation.INTEGER_TO_HALF, words, relu=False)
    assert got.tolist() == [-0.25, 1.5, 65504, -65504]
    assert convert(x, F16, Quantisation.INTEGER_TO_HALF, words, relu=True).tolist()[0] == 0
