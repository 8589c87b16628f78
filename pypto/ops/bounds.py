"""Enclosures of the rows that are not monotone in each operand (see ``ops/intervals.py``).

``bound(row, operands, attributes, dtype)`` gives the interval of the result of type ``dtype``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.ops.intervals import SPACING, Interval, computed, corners, of_number, rounded
from pypto.ops.weak import float_limit
from pypto.target.dtypes import F32, I1, DType
from pypto.target.numerics import largest_number

UNIT = SPACING["f32"] / 2  # unit roundoff of f32


def accumulated(steps: int) -> float:
    """The relative error of a sum of ``steps`` rounded terms in f32, in any order.

    n u / (1 - n u): Higham, Accuracy and Stability of Numerical Algorithms, section 3.1.
    """
    return steps * UNIT / (1.0 - steps * UNIT)


def reduce_bound(
    row: Any, operands: tuple[Interval, ...], attributes: dict[str, Any], dtype: DType
) -> Interval:
    """Extremes are monotone; sums add the error of f32 accumulation and round once."""
    (x,) = operands

    def reduced(array: np.ndarray) -> np.ndarray:
        return np.asarray(row.reference(array, **attributes))

    result = x.map(reduced)
    if attributes["kind"] != "sum" or not dtype.is_float:
        return result
    terms = int(np.prod([x.value.shape[axis] for axis in attributes["dims"]]))
    total = reduced(x.magnitude)
    slack = np.where(np.isfinite(total), accumulated(terms) * total, 0.0)
    result = result.widened(slack)
    risky = np.isfinite(result.value) & (total >= float_limit(F32))
    return rounded(_unknown_where(risky, result), 0.5, dtype)


def matmul_bound(
    row: Any, operands: tuple[Interval, ...], attributes: dict[str, Any], dtype: DType
) -> Interval:
    """Accumulation in f32 over |a| |b|, and the operands' own errors; halves saturate."""
    a, b = operands

    def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return row.reference(left, right, **attributes)

    value = product(a.value, b.value)
    terms = a.value.shape[-2 if attributes["ta"] else -1]
    slack = accumulated(terms + 1) * product(a.magnitude, b.magnitude) + terms * 2.0**-149
    if not (a.is_exact and b.is_exact):
        slack = slack + (
            product(a.radius, np.abs(b.value))
            + product(np.abs(a.value), b.radius)
            + product(a.radius, b.radius)
        )
    finite = np.isfinite(value) & np.isfinite(slack)
    result = Interval(value, value, value).widened(np.where(finite, slack, 0.0))
    result = _unknown_where(~finite, result)
    result = rounded(result, 0.5, dtype)
    if dtype == F32:
        return result
    largest = largest_number(dtype)
    return Interval(
        result.value, np.minimum(result.low, largest), np.maximum(result.high, -largest)
    )


def absolute_bound(
    row: Any, operands: tuple[Interval, ...], attributes: dict[str, Any], dtype: DType
) -> Interval:
    """0 where the operand may cross it."""
    (x,) = operands
    result = corners(row, operands, attributes)
    if x.is_exact:
        return result
    crosses = (x.low < 0) & (x.high > 0)
    return Interval(result.value, np.where(crosses, 0, result.low), result.high)


def division_bound(
    row: Any, operands: tuple[Interval, ...], attributes: dict[str, Any], dtype: DType
) -> Interval:
    """Unknown where the divisor may cross 0."""
    _, y = operands
    result = computed(corners(row, operands, attributes), 0.5, dtype)
    return result if y.is_exact else _unknown_where((y.low <= 0) & (y.high >= 0), result)


def equality_bound(
    row: Any, operands: tuple[Interval, ...], attributes: dict[str, Any], dtype: DType
) -> Interval:
    """Certain where the intervals are points or apart."""
    x, y = operands
    if x.is_exact and y.is_exact:
        return corners(row, operands, attributes)
    value = np.equal(x.value, y.value)
    points = (x.low == x.high) & (y.low == y.high)
    apart = (x.high < y.low) | (y.high < x.low)
    return Interval(value, np.where(points, value, False), np.where(points, value, ~apart))


def bits_bound(
    row: Any, operands: tuple[Interval, ...], attributes: dict[str, Any], dtype: DType
) -> Interval:
    """Unknown integers where an operand is not certain; bools are tried at all corners."""
    if dtype == I1 or all(operand.is_exact for operand in operands):
        return corners(row, operands, attributes)
    value = row.reference(*(operand.value for operand in operands), **attributes)
    uncertain = np.zeros(value.shape, bool)
    for operand in operands:
        uncertain = uncertain | (operand.low != operand.high)
    return _unknown_where(uncertain, Interval(value, value, value))


def cast_bound(
    row: Any, operands: tuple[Interval, ...], attributes: dict[str, Any], dtype: DType
) -> Interval:
    """Monotone but to bool; only narrowing floats round."""
    (x,) = operands
    target = attributes["dtype"]
    if target == I1:
        zero = Interval.exact(np.zeros((), x.value.dtype))
        equal = equality_bound(_EQUAL, (x, zero), {}, I1)
        return Interval(~equal.value, ~equal.high, ~equal.low)
    if not target.is_float:
        return corners(row, operands, attributes)
    wide = x.map(lambda array: array.astype(np.float64))
    return rounded(wide, 0.5, target)


def full_bound(
    row: Any, operands: tuple[Interval, ...], attributes: dict[str, Any], dtype: DType
) -> Interval:
    """The number as given, or rounded."""
    number = of_number(attributes["value"], dtype)
    return number.map(lambda array: np.full(attributes["shape"], array))


class _EQUAL:
    reference = staticmethod(np.equal)


def _unknown_where(where: np.ndarray, interval: Interval) -> Interval:
    if interval.value.dtype.kind == "f":
        lowest, highest = -np.inf, np.inf
    else:
        limits = np.iinfo(interval.value.dtype)
        lowest, highest = limits.min, limits.max
    return Interval(
        interval.value,
        np.where(where, lowest, interval.low),
        np.where(where, highest, interval.high),
    )
