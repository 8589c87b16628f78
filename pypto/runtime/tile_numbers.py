"""What the tile interpreter computes with: arrays, or intervals of what may be computed.

A tensor is a tuple of arrays of one shape, its planes: the elements themselves, or their exact
values and both bounds. Whatever moves elements acts on every plane alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from pypto.ops import ROWS
from pypto.ops.intervals import Interval, IntervalEvaluator, IntervalTensor, rounded
from pypto.ops.numpy_evaluator import NumpyEvaluator, NumpyTensor
from pypto.ops.types import TensorType
from pypto.target import numerics
from pypto.target.dtypes import F32, DType

Planes = tuple[np.ndarray, ...]

GARBAGE_BYTE = 0x5A  # of integers nobody has written; floats are NaN


class Numbers(ABC):
    """The arithmetic of tiles; results are rounded to the element type they are asked in."""

    @abstractmethod
    def garbage(self, shape: tuple[int, ...], dtype: DType) -> Planes:
        """Elements that nobody has written."""

    @abstractmethod
    def lift(self, array: np.ndarray) -> Planes:
        """Elements that are known."""

    @abstractmethod
    def apply(
        self, operator: str, operands: Sequence[Any], attributes: dict[str, Any], result: TensorType
    ) -> Planes:
        """An operator of the catalogue; an operand is a number, or planes and an element type."""

    @abstractmethod
    def multiply(self, total: Planes | None, a: Planes, b: Planes, dtype: DType) -> Planes:
        """total + a @ b in f32, for a and b of the element type ``dtype``; no total counts as 0."""

    @abstractmethod
    def narrow(self, total: Planes, dtype: DType, *, relu: bool, saturates: bool) -> Planes:
        """An accumulator in the element type of a result."""


class ExactNumbers(Numbers):
    """Arrays by the references of the catalogue: one plane."""

    def __init__(self) -> None:
        self.evaluator = NumpyEvaluator()

    def garbage(self, shape: tuple[int, ...], dtype: DType) -> Planes:
        if dtype.is_float:
            return (np.full(shape, np.nan, dtype.numpy),)
        if dtype.kind == "b":
            return (np.arange(int(np.prod(shape))).reshape(shape) % 2 == 0,)
        made = np.empty(shape, dtype.numpy)
        made.view(np.uint8).fill(GARBAGE_BYTE)
        return (made,)

    def lift(self, array: np.ndarray) -> Planes:
        return (array,)

    def apply(
        self, operator: str, operands: Sequence[Any], attributes: dict[str, Any], result: TensorType
    ) -> Planes:
        tensors = tuple(
            NumpyTensor(self.evaluator, operand[0][0], operand[1])
            if isinstance(operand, tuple)
            else operand
            for operand in operands
        )
        (made,) = self.evaluator.evaluate(ROWS[operator], tensors, attributes, (result,))
        return (made.array,)  # pyright: ignore[reportAttributeAccessIssue]

    def multiply(self, total: Planes | None, a: Planes, b: Planes, dtype: DType) -> Planes:
        left, right = a[0].astype(np.float32), b[0].astype(np.float32)
        start = np.zeros((left.shape[0], right.shape[1]), np.float32) if total is None else total[0]
        return (numerics.accumulate_products(start, left, right),)

    def narrow(self, total: Planes, dtype: DType, *, relu: bool, saturates: bool) -> Planes:
        values = numerics.relu(total[0]) if relu else total[0]
        convert = numerics.saturate_float if saturates else numerics.nearest
        return (convert(values, dtype),)


class IntervalNumbers(Numbers):
    """Exact values and the bounds a correct program stays in: three planes."""

    def __init__(self) -> None:
        self.evaluator = IntervalEvaluator()

    def garbage(self, shape: tuple[int, ...], dtype: DType) -> Planes:
        if dtype.is_float:
            return tuple(np.full(shape, bound) for bound in (np.nan, -np.inf, np.inf))
        if dtype.kind == "b":
            return tuple(np.full(shape, bound) for bound in (False, False, True))
        limits = np.iinfo(dtype.numpy)
        return tuple(np.full(shape, bound, dtype.numpy) for bound in (0, limits.min, limits.max))

    def lift(self, array: np.ndarray) -> Planes:
        value = Interval.exact(array).value
        return (value, value, value)

    def apply(
        self, operator: str, operands: Sequence[Any], attributes: dict[str, Any], result: TensorType
    ) -> Planes:
        tensors = tuple(
            self._tensor(*operand) if isinstance(operand, tuple) else operand
            for operand in operands
        )
        return self._evaluated(operator, tensors, attributes, result)

    def multiply(self, total: Planes | None, a: Planes, b: Planes, dtype: DType) -> Planes:
        result = TensorType((a[0].shape[0], b[0].shape[1]), F32)
        factors = (self._tensor(a, dtype), self._tensor(b, dtype))
        product = self._evaluated("matmul", factors, {"ta": False, "tb": False}, result)
        if total is None:
            return product
        return self.apply("add", [(total, F32), (product, F32)], {}, result)

    def narrow(self, total: Planes, dtype: DType, *, relu: bool, saturates: bool) -> Planes:
        planes = tuple(map(numerics.relu, total)) if relu else total
        result = rounded(Interval(*planes), 0.5, dtype)
        planes = (result.value, result.low, result.high)
        if not saturates or dtype == F32:
            return planes
        largest = numerics.largest_number(dtype)
        return tuple(np.clip(plane, -largest, largest) for plane in planes)

    def _tensor(self, planes: Planes, dtype: DType) -> IntervalTensor:
        value, low, high = planes
        points = np.array_equal(low, value, equal_nan=True) and np.array_equal(
            high, value, equal_nan=True
        )
        interval = Interval(value, value, value) if points else Interval(value, low, high)
        return IntervalTensor(self.evaluator, TensorType(value.shape, dtype), interval)

    def _evaluated(
        self, operator: str, tensors: tuple[Any, ...], attributes: dict[str, Any], kind: TensorType
    ) -> Planes:
        (made,) = self.evaluator.evaluate(ROWS[operator], tensors, attributes, (kind,))
        interval = made.interval  # pyright: ignore[reportAttributeAccessIssue]
        return interval.value, interval.low, interval.high
