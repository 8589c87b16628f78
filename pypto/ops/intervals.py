"""Error bounds of whole programs, derived while they run.

Every tensor carries its exact value in double precision and an interval that holds every result
a correct implementation may give. The derivation has three rules.

* Operands: a row that is monotone in each operand takes its extremes at the corners of the
  operands' intervals, so its reference at the corners encloses the exact results. Rows that are
  not monotone, and reductions, state their own enclosure (``ops/bounds.py``). Operands are taken
  as independent: the interval can only be too wide.
* The row: the interval is widened by the row's ``error`` in units in the last place of the result
  (half a unit where an operation rounds correctly), plus the same count of least subnormals. Rows
  of ``numerics`` f32 add it in f32, and half a unit for narrowing.
* Composites and recipes are the sum of their steps.

A pass that raises precision (it leaves out a rounding) stays inside, since rounding only widens.
Integers without an error are exact. An interval from -inf to inf also stands for NaN.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from pypto.ops.operands import tensors_of
from pypto.ops.types import TensorType, is_half, tensor_type_of
from pypto.ops.value import Evaluator, Tensor
from pypto.ops.weak import float_limit
from pypto.target.dtypes import F32, DType

# Distance of 1 to the next number, and the least subnormal.
SPACING = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23}
TINY = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149}


@dataclass(frozen=True)
class Interval:
    """Exact values (f64, integers, bool) and the bounds of what may be computed, per element."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def exact(cls, array: np.ndarray) -> Interval:
        """The interval of one array: floats in double precision."""
        wide = array if array.dtype.kind in "iub" else array.astype(np.float64)
        return cls(wide, wide, wide)

    @classmethod
    def around(cls, value: np.ndarray, *others: np.ndarray) -> Interval:
        """The least interval of a value and other results; NaN among numbers is unknown."""
        if value.dtype.kind == "b":
            bounds = (value, *others)
            return cls(value, np.logical_and.reduce(bounds), np.logical_or.reduce(bounds))
        low, high = value, value
        for other in others:
            low, high = np.minimum(low, other), np.maximum(high, other)
        if value.dtype.kind != "f":
            return cls(value, low, high)
        unknown = np.isnan(low) & ~np.logical_and.reduce([np.isnan(a) for a in (value, *others)])
        return cls(value, np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high))

    @property
    def is_exact(self) -> bool:
        return self.low is self.value and self.high is self.value

    @property
    def corners(self) -> tuple[np.ndarray, ...]:
        return (self.value,) if self.is_exact else (self.low, self.high)

    @property
    def magnitude(self) -> np.ndarray:
        """The largest magnitude in the interval."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def radius(self) -> np.ndarray:
        """The largest distance of the value to a bound."""
        return np.maximum(self.high - self.value, self.value - self.low)

    def map(self, function: Any) -> Interval:
        """A function that moves elements, applied to value and bounds alike."""
        value = function(self.value)
        return (
            Interval(value, value, value)
            if self.is_exact
            else Interval(value, function(self.low), function(self.high))
        )

    def widened(self, slack: np.ndarray) -> Interval:
        """The interval with ``slack`` more on both sides."""
        return Interval(self.value, self.low - slack, self.high + slack)

    def contains(self, actual: np.ndarray) -> np.ndarray:
        """Whether each element of a computed array is a result to be expected."""
        if self.value.dtype.kind != "f":
            return (self.low <= actual) & (actual <= self.high)
        found = actual.astype(np.float64)
        unknown = (self.low == -np.inf) & (self.high == np.inf)
        inside = (self.low <= found) & (found <= self.high)
        return inside | unknown | (np.isnan(self.value) & np.isnan(found))


def rounded(interval: Interval, ulp: float, dtype: DType) -> Interval:
    """The interval after an operation that is ``ulp`` units off in ``dtype``, overflow included."""
    if not dtype.is_float:
        return interval
    if ulp:
        finite = np.where(np.isfinite(interval.magnitude), interval.magnitude, 0.0)
        interval = interval.widened(ulp * (finite * SPACING[dtype.name] + TINY[dtype.name]))
    return Interval(*(_overflow(a, dtype) for a in (interval.value, interval.low, interval.high)))


def _overflow(array: np.ndarray, dtype: DType) -> np.ndarray:
    return np.where(np.abs(array) >= float_limit(dtype), np.copysign(np.inf, array), array)


def computed(interval: Interval, ulp: float, dtype: DType, numerics: str | None = None) -> Interval:
    """The interval after a row that is ``ulp`` units off; halves may be computed in f32."""
    if is_half(dtype) and ulp:
        interval = rounded(interval, ulp, F32)
    return rounded(interval, 0.5 if numerics == "f32" and is_half(dtype) else ulp, dtype)


class IntervalTensor(Tensor):
    """A tensor of exact values with the interval of what may be computed."""

    __slots__ = ("interval",)

    def __init__(self, evaluator: Evaluator, type: TensorType, interval: Interval) -> None:
        super().__init__(evaluator, type)
        self.interval = interval


class IntervalEvaluator(Evaluator):
    """Evaluates to exact values and derived bounds."""

    def lift(self, operand: Any) -> Tensor:
        if not hasattr(operand, "__array__"):
            return super().lift(operand)
        array = np.asarray(operand)
        return IntervalTensor(self, tensor_type_of(array), Interval.exact(array))

    def evaluate(
        self,
        operator: Any,
        operands: tuple[Any, ...],
        attributes: dict[str, Any],
        result_types: tuple[TensorType, ...],
    ) -> tuple[Tensor, ...]:
        with np.errstate(all="ignore"):
            if not operator.is_primitive or operator.error == "recipe":
                return operator.open(self, operands, attributes, result_types)
            (result_type,) = result_types
            intervals = _intervals(operator, operands, result_type.dtype)
            if operator.error == "moves":
                result = _moved(operator, intervals, attributes)
            elif not isinstance(operator.error, float):
                result = operator.error(operator, intervals, attributes, result_type.dtype)
            else:
                exact = corners(operator, intervals, attributes)
                result = computed(exact, operator.error, result_type.dtype, operator.numerics)
            return (IntervalTensor(self, result_type, result),)


def corners(operator: Any, operands: tuple[Interval, ...], attributes: dict[str, Any]) -> Interval:
    """The reference at all corners of the operands' intervals."""
    value = np.asarray(operator.reference(*(o.value for o in operands), **attributes))
    if all(o.is_exact for o in operands):
        return Interval(value, value, value)
    places = itertools.product(*(o.corners for o in operands))
    return Interval.around(
        value, *(np.asarray(operator.reference(*place, **attributes)) for place in places)
    )


def _moved(operator: Any, operands: tuple[Any, ...], attributes: dict[str, Any]) -> Interval:
    (operand,) = operands
    if isinstance(operand, Interval):
        return operand.map(lambda array: operator.reference(array, **attributes))
    value, low, high = (
        operator.reference(tuple(arrays), **attributes)
        for arrays in zip(*((i.value, i.low, i.high) for i in operand), strict=True)
    )
    return (
        Interval(value, value, value)
        if all(i.is_exact for i in operand)
        else Interval(value, low, high)
    )


def _intervals(operator: Any, operands: tuple[Any, ...], result: DType) -> tuple[Any, ...]:
    chosen = [
        operand
        for operand, p in zip(operands, operator.operands, strict=True)
        if p.name in operator.promotes
    ]
    dtype = next((tensor.dtype for tensor in tensors_of(chosen)), result)
    found = []
    for operand in operands:
        if isinstance(operand, tuple):
            found.append(tuple(item.interval for item in operand))
        elif isinstance(operand, IntervalTensor):
            found.append(operand.interval)
        else:
            found.append(of_number(operand, dtype))
    return tuple(found)


def of_number(number: bool | int | float, dtype: DType) -> Interval:
    """A weak scalar: as given, or rounded to its element type."""
    stored = Interval.exact(np.asarray(number, dtype.numpy))
    if dtype.is_float and not np.array_equal(stored.value, number, equal_nan=True):
        return Interval.around(stored.value, np.asarray(number, np.float64))
    return stored
