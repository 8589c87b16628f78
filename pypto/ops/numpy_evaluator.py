"""The catalogue on NumPy arrays: references of primitives, bodies of composites."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.ops.core import Operator
from pypto.ops.types import TensorType, is_half, tensor_type_of
from pypto.ops.value import Evaluator, Tensor
from pypto.target import numerics
from pypto.target.dtypes import F32, DType


class NumpyTensor(Tensor):
    """A tensor whose elements are a NumPy array."""

    __slots__ = ("array",)

    def __init__(self, evaluator: Evaluator, array: np.ndarray, dtype: DType) -> None:
        super().__init__(evaluator, TensorType(array.shape, dtype))
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype, copy=copy)


class NumpyEvaluator(Evaluator):
    """Evaluates on NumPy; ``opens`` says whether decompositions run in place of references."""

    def __init__(self, *, opens: bool = False) -> None:
        self.opens = opens

    def lift(self, operand: Any) -> NumpyTensor:
        if not hasattr(operand, "__array__"):
            return super().lift(operand)  # pyright: ignore[reportReturnType]
        array = np.asarray(operand)
        return NumpyTensor(self, array, tensor_type_of(array).dtype)

    def evaluate(
        self,
        operator: Operator,
        operands: tuple[Any, ...],
        attributes: dict[str, Any],
        result_types: tuple[TensorType, ...],
    ) -> tuple[Tensor, ...]:
        if self.opens and operator.decomposition is not None:
            return operator.open(self, operands, attributes, result_types)
        arrays = reference_results(operator, operands, attributes, result_types)
        return tuple(
            NumpyTensor(self, array, t.dtype) for array, t in zip(arrays, result_types, strict=True)
        )


def reference_results(
    operator: Operator,
    operands: tuple[Any, ...],
    attributes: dict[str, Any],
    result_types: tuple[TensorType, ...],
) -> tuple[np.ndarray, ...]:
    """What the row's reference gives: halves widen to f32 before, results round once after."""
    weak = _weak_dtype(operator, operands)
    with np.errstate(all="ignore"):
        results = operator.reference(*(_wide(o, weak) for o in operands), **attributes)
        results = results if isinstance(results, tuple) else (results,)
        return tuple(
            _narrowed(np.asarray(array), t, operator.saturates)
            for array, t in zip(results, result_types, strict=True)
        )


def _narrowed(array: np.ndarray, result: TensorType, saturates: bool) -> np.ndarray:
    if saturates:
        return numerics.saturate_float(array, result.dtype)
    return array.astype(result.dtype.numpy)


def _weak_dtype(operator: Operator, operands: tuple[Any, ...]) -> DType | None:
    """The element type Python numbers take: that of the tensors they are promoted with.

    Rows computed in f32 take them in f32.
    """
    pairs = zip(operands, operator.operands, strict=True)
    tensors = [(o.dtype, p.name in operator.promotes) for o, p in pairs if isinstance(o, Tensor)]
    tensors.sort(key=lambda pair: not pair[1])
    if not tensors:
        return None
    dtype = tensors[0][0]
    return F32 if operator.numerics == "f32" and is_half(dtype) else dtype


def _wide(operand: Any, weak: DType | None) -> Any:
    if isinstance(operand, tuple):
        return tuple(_wide(item, weak) for item in operand)
    if isinstance(operand, NumpyTensor):
        return _widen(operand.array, operand.dtype)
    if isinstance(operand, (bool, int, float)) and weak is not None:
        return _widen(np.asarray(operand, weak.numpy), weak)
    return operand


def _widen(array: np.ndarray, dtype: DType) -> np.ndarray:
    return array.astype(np.float32) if is_half(dtype) else array
