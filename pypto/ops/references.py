"""NumPy references that are more than one NumPy call."""

from __future__ import annotations

import math

import numpy as np

from pypto.target import numerics
from pypto.target.dtypes import DType

INTEGERS = "biu"  # kinds of NumPy types without a zero below 0
_MODES = {"rint": "r", "trunc": "z", "floor": "f", "ceil": "c", "away": "a"}


def cast_numpy(x: np.ndarray, dtype: DType, round: str) -> np.ndarray:
    """Conversion with the machine's rules: floats saturate in integers, NaN gives 0."""
    if dtype.kind == "b":
        return x != 0
    if dtype.is_float or not np.issubdtype(x.dtype, np.floating):
        return x.astype(dtype.numpy)
    return numerics.to_integer(x, dtype, _MODES[round])


def erf_numpy(x: np.ndarray) -> np.ndarray:
    """The error function, in double precision."""
    values = [math.erf(item) for item in x.ravel().tolist()]
    return np.array(values, np.float64).reshape(x.shape)


def pow_numpy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x ** y in double precision: NaN for x < 0 with a fraction, 0 without a sign there."""
    if np.issubdtype(x.dtype, np.integer):
        return x**y
    base, exponent = x.astype(np.float64), y.astype(np.float64)
    base = np.where((base == 0) & (y.ndim > 0), 0.0, base)
    fraction = np.isfinite(exponent) & (exponent != np.rint(exponent))
    return np.where((base < 0) & fraction, np.nan, np.power(base, exponent))


def max_numpy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The larger of two, NaN first; of two zeros 0 unless both are -0, in either order."""
    larger = np.maximum(x, y)
    if larger.dtype.kind in INTEGERS:
        return larger
    return np.where((x == 0) & (y == 0), x + y, larger).astype(larger.dtype)


def min_numpy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The smaller of two, NaN first; of two zeros -0 if either is, in either order."""
    smaller = np.minimum(x, y)
    return smaller if smaller.dtype.kind in INTEGERS else -max_numpy(-x, -y)
