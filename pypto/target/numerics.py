"""Rounding and saturation of the machine, on NumPy arrays.

Half and bfloat16 arithmetic follows IEEE (infinities stay) except where a function saturates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target.dtypes import BF16, F32, I64, DType

# Rounding modes by their position here; the letters are the suffixes of vconv mnemonics.
ROUNDINGS: dict[str, str] = {
    "": "nearest even where inexact",
    "r": "nearest even",
    "f": "floor",
    "c": "ceiling",
    "a": "half away from zero",
    "z": "towards zero",
    "o": "to odd where inexact",
}
MODES = tuple(ROUNDINGS)

# vrec and vrsqrt are approximations of unpublished shape [V: they fail 1e-3 for half]. Here they
# keep 8 fraction bits of the f32 result [A].
APPROXIMATE_MASK = np.uint32(0xFFFF8000)


@np.errstate(all="ignore")
def round_integral(values: np.ndarray, mode: str) -> np.ndarray:
    """Float values rounded to integers by ``mode``; the result is float64 or the given type."""
    if mode == "f":
        return np.floor(values)
    if mode == "c":
        return np.ceil(values)
    if mode == "z":
        return np.trunc(values)
    if mode == "a":
        exact = values.astype(np.float64)
        return np.trunc(exact + np.copysign(0.5, exact)).astype(values.dtype)
    return np.rint(values)


@np.errstate(all="ignore")
def to_integer(values: np.ndarray, dtype: DType, mode: str = "r") -> np.ndarray:
    """Floats to integers: rounded, saturated to the range; NaN becomes 0."""
    limits = np.iinfo(dtype.numpy)
    rounded = round_integral(values.astype(np.float64), mode)
    high = rounded >= float(limits.max)
    low = rounded <= float(limits.min)
    inside = np.where(high | low | np.isnan(rounded), 0.0, rounded).astype(dtype.numpy)
    return np.where(high, limits.max, np.where(low, limits.min, inside)).astype(dtype.numpy)


def narrow_integer(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Integers saturated to the range of a narrower integer type."""
    limits = np.iinfo(dtype.numpy)
    return np.clip(values, limits.min, limits.max).astype(dtype.numpy)


@np.errstate(all="ignore")
def nearest(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Numbers to a float type, to nearest even; overflow gives infinity."""
    return values.astype(dtype.numpy)


@np.errstate(all="ignore")
def to_float(values: np.ndarray, dtype: DType, mode: str = "r") -> np.ndarray:
    """A row of numbers to a float type, rounded by ``mode``; overflow as IEEE has it."""
    result = nearest(values, dtype)
    if mode in ("", "r"):
        return result
    whole = values.dtype == I64.numpy
    source = exact(values, whole)
    got = exact(result, whole)
    if mode == "f":
        return np.where(got > source, below(result), result)
    if mode == "c":
        return np.where(got < source, above(result), result)
    inner = np.where(abs(got) > abs(source), toward_zero(result), result)
    if mode == "z":
        return inner
    if mode == "o":
        return np.where(exact(inner, whole) == source, inner, odd(inner))
    near = exact(inner, whole)
    outer = np.where(near == source, inner, away_from_zero(inner))
    tie = abs(source) - abs(near) == abs(exact(outer, whole)) - abs(source)
    return np.where(tie, outer, result)


def exact(values: np.ndarray, whole: bool) -> Any:
    """Values in a form that compares and subtracts without rounding; ``whole``: all integers."""
    if whole:
        return np.array([int(v) for v in values.tolist()], dtype=object)
    return values.astype(np.float64)


def bits(values: np.ndarray) -> np.ndarray:
    """The bit pattern as unsigned integers."""
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def toward_zero(values: np.ndarray) -> np.ndarray:
    """The next smaller magnitude; the values are not zero."""
    return (bits(values) - 1).astype(bits(values).dtype).view(values.dtype)


def away_from_zero(values: np.ndarray) -> np.ndarray:
    """The next larger magnitude."""
    return (bits(values) + 1).astype(bits(values).dtype).view(values.dtype)


def odd(values: np.ndarray) -> np.ndarray:
    """The number with the last bit set: of two neighbours the odd one."""
    return (bits(values) | 1).astype(bits(values).dtype).view(values.dtype)


def below(values: np.ndarray) -> np.ndarray:
    """The next smaller number."""
    negative = np.signbit(values)
    return np.where(negative, away_from_zero(values), toward_zero(values))


def above(values: np.ndarray) -> np.ndarray:
    """The next larger number."""
    negative = np.signbit(values)
    return np.where(negative, toward_zero(values), away_from_zero(values))


def saturate_float(values: np.ndarray, dtype: DType) -> np.ndarray:
    """f32 to a float type, to nearest even; too large becomes the largest number, NaN 0.

    f32 itself keeps infinities and NaN.
    """
    if dtype == F32:
        return values.astype(np.float32)
    largest = largest_number(dtype)
    return nearest(np.where(np.isnan(values), 0.0, np.clip(values, -largest, largest)), dtype)


@np.errstate(all="ignore")
def accumulate_products(total: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """total + a @ b in their own type, one k after the other: product and sum are rounded."""
    total, product = total.copy(), np.empty_like(total)
    for k in range(a.shape[1]):
        np.multiply(a[:, k : k + 1], b[k], out=product)
        total += product
    return total


# hf32 has the exponent of f32 and 10 fraction bits [V: stated for 950; on 2201 A].
HF32_DROPPED = 13


def to_hf32(values: np.ndarray, truncate: bool) -> np.ndarray:
    """f32 rounded to hf32, to nearest even or towards zero; NaN stays as it is."""
    unit = np.uint32(1 << HF32_DROPPED)
    code = bits(values)
    odd = (code >> np.uint32(HF32_DROPPED)) & np.uint32(1)
    rounded = code if truncate else code + (unit // 2 - 1) + odd
    return np.where(np.isnan(values), values, (rounded & ~(unit - 1)).view(np.float32))


def relu(values: np.ndarray) -> np.ndarray:
    """Zeros in place of negative numbers; NaN stays."""
    return np.where((values > 0) | (values != values), values, values.dtype.type(0))


def largest_number(dtype: DType) -> float:
    """The largest finite number of a float type."""
    if dtype == BF16:
        import ml_dtypes

        return float(ml_dtypes.finfo(dtype.numpy).max)
    return float(np.finfo(dtype.numpy).max)


def approximate(values: np.ndarray, dtype: DType) -> np.ndarray:
    """f64 values as the approximating instructions give them, in a float type."""
    single = nearest(values, F32)
    return nearest((bits(single) & APPROXIMATE_MASK).view(np.float32), dtype)
