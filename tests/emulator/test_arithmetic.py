"""Half and bfloat16 by hardware, by integers and by NumPy: the same numbers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numba import njit

from pypto.emulator.compiled import raw

CODES = np.arange(65536, dtype=np.uint16)


@njit
def widen(codes, half, by_integers, bfloat):
    for i in range(codes.size):
        half[i] = raw.half_to_float(codes[i])
        by_integers[i] = raw.half_to_float_by_integers(codes[i])
        bfloat[i] = raw.bfloat_to_float(codes[i])


@njit
def narrow(values, half, by_integers, bfloat):
    for i in range(values.size):
        half[i] = raw.float_to_half(values[i])
        by_integers[i] = raw.float_to_half_by_integers(values[i])
        bfloat[i] = raw.float_to_bfloat(values[i])


@njit
def narrow_doubles(values, half):
    for i in range(values.size):
        half[i] = raw.double_to_half(values[i])


def same(actual: np.ndarray, expected: np.ndarray) -> bool:
    """Equal bits, any NaN for a NaN."""
    nan = np.isnan(expected.astype(np.float32))
    kind = f"u{expected.dtype.itemsize}"
    numbers = actual.view(kind)[~nan] == expected.view(kind)[~nan]
    return bool(numbers.all()) and bool(np.isnan(actual[nan].astype(np.float32)).all())


def test_widening_every_code() -> None:
    half, by_integers, bfloat = (np.empty(65536, np.float32) for _ in range(3))
    widen(CODES, half, by_integers, bfloat)
    expected = CODES.view(np.float16).astype(np.float32)
    assert same(half, expected)
    assert same(by_integers, expected)
    assert same(bfloat, CODES.view(ml_dtypes.bfloat16).astype(np.float32))


@pytest.fixture(scope="module")
def neighbours() -> np.ndarray:
    """Every value of either type, what lies half way to the next, and one step around those."""
    halves = CODES.view(np.float16).astype(np.float32)
    bfloats = CODES.view(ml_dtypes.bfloat16).astype(np.float32)
    bits = np.concatenate([halves, bfloats]).view(np.uint32).astype(np.int64)
    steps = [0, 0x1000, 0x8000]
    around = np.concatenate([bits + step + delta for step in steps for delta in (-1, 0, 1)])
    random = np.random.default_rng(8).integers(0, 2**32, 400_000)
    return np.concatenate([around, random]).astype(np.uint32).view(np.float32)


def test_narrowing(neighbours: np.ndarray) -> None:
    half, by_integers, bfloat = (np.empty(neighbours.size, np.uint16) for _ in range(3))
    narrow(neighbours, half, by_integers, bfloat)
    with np.errstate(all="ignore"):
        expected = neighbours.astype(np.float16)
        assert same(half.view(np.float16), expected)
        assert same(by_integers.view(np.float16), expected)
        assert same(bfloat.view(ml_dtypes.bfloat16), neighbours.astype(ml_dtypes.bfloat16))


def test_doubles_to_half_round_once(neighbours: np.ndarray) -> None:
    with np.errstate(invalid="ignore"):
        exact = neighbours.astype(np.float64)
    values = np.concatenate([np.nextafter(exact, side) for side in (-np.inf, np.inf)])
    half = np.empty(values.size, np.uint16)
    narrow_doubles(values, half)
    with np.errstate(all="ignore"):
        assert same(half.view(np.float16), values.astype(np.float16))
