"""Rounding and saturation against exact oracles."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from pypto.target import numerics
from pypto.target.dtypes import BF16, F16, F32, I8, I16, I32, I64, U8, DType

RANDOM = np.random.default_rng(11)


@cache
def numbers(dtype: DType) -> list[float]:
    """All finite values of a two-byte float type, in order."""
    codes = np.arange(65536, dtype=np.uint16).view(dtype.numpy)
    with np.errstate(invalid="ignore"):
        return sorted({float(v) for v in codes[np.isfinite(codes)]})


def rounded(value: Fraction, dtype: DType, mode: str) -> float:
    """The oracle: the neighbours in a list of all numbers, the next beyond them infinite."""
    table = numbers(dtype)
    step = Fraction(table[-1]) - Fraction(table[-2])
    edge = Fraction(table[-1]) + step
    under = bisect_right(table, value) - 1
    over = bisect_left(table, value)
    low = Fraction(table[under]) if under >= 0 else -edge
    high = Fraction(table[over]) if over < len(table) else edge
    down, up = value - low, high - value
    toward_zero = low if value > 0 else high
    outward = high if value > 0 else low
    if mode == "f":
        result = low
    elif mode == "c":
        result = high
    elif mode == "z":
        result = toward_zero
    elif down != up:
        result = low if down < up else high
    elif mode == "a" or abs(outward) == edge:
        result = outward
    else:
        result = low if under % 2 == table.index(0.0) % 2 else high
    return math.copysign(math.inf, result) if abs(result) == edge else float(result)


def samples(dtype: DType) -> np.ndarray:
    """f32 values on, between and next to numbers of the type."""
    table = np.array(numbers(dtype))
    points = RANDOM.integers(0, len(table) - 1, 400)
    points = np.concatenate([points, [0, 1, len(table) // 2, len(table) - 2]])
    low, high = table[points], table[points + 1]
    near = np.concatenate([low, high, (low + high) / 2]).astype(np.float32)
    return np.concatenate([near, np.nextafter(near, 1e9), np.nextafter(near, -1e9)]).astype(
        np.float32
    )


@pytest.mark.parametrize("mode", ["", "r", "f", "c", "a", "z"])
@pytest.mark.parametrize("dtype", [F16, BF16])
def test_f32_narrows_as_the_oracle(dtype: DType, mode: str) -> None:
    values = samples(dtype)
    got = numerics.to_float(values, dtype, mode).astype(np.float64)
    expected = [rounded(Fraction(float(v)), dtype, mode) for v in values]
    assert got.tolist() == expected


@pytest.mark.parametrize("mode", ["r", "f", "c", "a", "z"])
def test_specials_narrow(mode: str) -> None:
    values = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e38], np.float32)
    got = numerics.to_float(values, F16, mode)
    assert got[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(got[2])
    assert np.signbit(got[3:5]).tolist() == [False, True]
    assert got[5] == (65504.0 if mode in ("f", "z") else np.inf)


ROUND = {
    "r": lambda v: round(v),
    "f": math.floor,
    "c": math.ceil,
    "z": math.trunc,
    "a": lambda v: math.floor(v + Fraction(1, 2)) if v >= 0 else math.ceil(v - Fraction(1, 2)),
}


@pytest.mark.parametrize("mode", list(ROUND))
@pytest.mark.parametrize("dtype", [I8, U8, I16, I32, I64])
def test_floats_become_integers(dtype: DType, mode: str) -> None:
    limits = np.iinfo(dtype.numpy)
    halves = RANDOM.integers(-600, 600, 300) / 2
    scales = 2.0 ** RANDOM.integers(-3, 70, 300)
    values = np.concatenate([halves, RANDOM.normal(size=300) * scales, [0.49999997, -0.49999997]])
    values = values.astype(np.float32)
    got = numerics.to_integer(values, dtype, mode)
    exact = [ROUND[mode](Fraction(float(v))) for v in values]
    assert got.tolist() == [min(max(v, limits.min), limits.max) for v in exact]


def test_specials_become_integers() -> None:
    values = np.array([np.nan, np.inf, -np.inf], np.float32)
    assert numerics.to_integer(values, I32).tolist() == [0, 2**31 - 1, -(2**31)]
    assert numerics.to_integer(values, I64).tolist() == [0, 2**63 - 1, -(2**63)]
    assert numerics.to_integer(values, U8).tolist() == [0, 255, 0]


@pytest.mark.parametrize("mode", list(ROUND))
@pytest.mark.parametrize("dtype", [I32, I64])
def test_integers_become_f32(dtype: DType, mode: str) -> None:
    limits = np.iinfo(dtype.numpy)
    drawn = RANDOM.integers(limits.min, limits.max, 300, dtype.numpy, endpoint=True)
    powers = 2 ** RANDOM.integers(24, 8 * dtype.bytes - 2, 100)
    ties = powers + powers // 2**24
    values = np.concatenate([drawn, ties, -ties, [limits.min, limits.max, 0]]).astype(dtype.numpy)
    for value, got in zip(values.tolist(), numerics.to_float(values, F32, mode), strict=True):
        shift = max(0, abs(value).bit_length() - 24)
        expected = ROUND[mode](Fraction(value, 2**shift)) * 2**shift
        assert int(got) == expected, value


def test_integers_saturate_when_narrowed() -> None:
    values = np.array([2**31 - 1, -(2**31), 5], np.int32)
    assert numerics.narrow_integer(values, I16).tolist() == [32767, -32768, 5]


@pytest.mark.parametrize(("dtype", "largest"), [(F16, 65504.0), (BF16, 3.3895313892515355e38)])
def test_the_fixpipe_saturates(dtype: DType, largest: float) -> None:
    values = np.array([np.inf, -np.inf, np.nan, 3.4e38, 1.5, -0.0], np.float32)
    got = numerics.saturate_float(values, dtype).astype(np.float64)
    assert got.tolist() == [largest, -largest, 0.0, largest, 1.5, 0.0]
    assert np.signbit(got[5])


def test_the_fixpipe_keeps_f32() -> None:
    values = np.array([np.inf, np.nan], np.float32)
    got = numerics.saturate_float(values, F32)
    assert got[0] == np.inf
    assert np.isnan(got[1])


def test_approximations_are_coarse() -> None:
    values = RANDOM.uniform(0.01, 1000, 500)
    got = numerics.approximate(1 / values, F32).astype(np.float64)
    error = np.abs(got * values - 1)
    assert 1e-3 < error.max() < 2.0**-8
