"""Judges the results of a run by the meaning of the same program, and by a user's reference.

A result is right when it lies in the interval that ``ops/intervals.py`` derives for it. What a
reference gives may be off by as much again, since it rounds too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.intervals import Interval
from pypto.runtime.meaning import derive_bounds
from pypto.runtime.profile import Accuracy


def compare(
    function: Callable[..., Any],
    types: Sequence[Any],
    inputs: Sequence[np.ndarray],
    results: Sequence[np.ndarray],
    expected: Sequence[np.ndarray] | None,
) -> Accuracy:
    """The largest differences between ``results`` and ``expected``, else the exact values.

    ``types`` are the types of the call with all extents known.
    """
    intervals = derive_bounds(function, types, inputs)
    if expected is None:
        expected = [interval.value for interval in intervals]
    check_shapes(results, expected)
    differences = [
        difference(result, value) for result, value in zip(results, expected, strict=True)
    ]
    right = all(
        bool(interval.contains(result).all()) and agrees(interval, np.asarray(value))
        for interval, result, value in zip(intervals, results, expected, strict=True)
    )
    return Accuracy(
        max((absolute for absolute, _ in differences), default=0.0),
        max((relative for _, relative in differences), default=0.0),
        right,
    )


def agrees(interval: Interval, reference: np.ndarray) -> bool:
    """Whether a reference is as near to the exact value as twice what a program may be off."""
    if interval.value.dtype.kind != "f":
        return bool(interval.contains(reference).all())
    with np.errstate(invalid="ignore"):
        return bool(interval.widened(np.nan_to_num(interval.radius)).contains(reference).all())


def difference(result: np.ndarray, expected: np.ndarray) -> tuple[float, float]:
    """The largest absolute difference, also in parts of the largest finite expected magnitude.

    Equal infinities and NaN do not differ.
    """
    if result.size == 0:
        return 0.0, 0.0
    actual, wanted = result.astype(np.float64), np.asarray(expected).astype(np.float64)
    same = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        largest = float(np.where(same, 0.0, np.abs(actual - wanted)).max())
    scale = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0))
    return largest, largest / scale if scale else largest


def check_shapes(results: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    """Raise unless the reference gives as many results of the same shapes."""
    found = [result.shape for result in results]
    wanted = [np.asarray(value).shape for value in expected]
    if found != wanted:
        raise CompileError(
            "REFERENCE_SHAPE",
            f"the kernel gives results of shapes {found}, its reference {wanted}",
            fix="make reference() return the same results in the same order",
        )
