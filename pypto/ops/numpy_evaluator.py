"""The catalogue on NumPy arrays: references of primitives, bodies of composites."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.core import Operator
from pypto.ops.types import TensorType, is_half
from pypto.ops.value import Evaluator, Tensor
from pypto.target.dtypes import DType, dtype_of


class NumpyTensor(Tensor):
    """A tensor whose elements are a NumPy array."""

    __slots__ = ("array",)

    def __init__(self, evaluator: Evaluator, array: np.ndarray, dtype: DType) -> None:
        super().__init__(evaluator, TensorType(array.shape, dtype))
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype, copy=copy)


def tensor_type_of(array: np.ndarray) -> TensorType:
    """The tensor type of an array; element types the machine lacks are refused."""
    dtype = dtype_of(array.dtype)
    if dtype is None:
        raise CompileError(
            "DTYPE_MISMATCH",
            f"arrays of {array.dtype} are not supported",
            fix="convert it first, e.g. .astype(np.float32)",
        )
    return TensorType(array.shape, dtype)


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
    weak = next((o.dtype for o in operands if isinstance(o, Tensor)), None)
    if operator.promotes:
        chosen = [
            o
            for o, p in zip(operands, operator.operands, strict=True)
            if p.name in operator.promotes and isinstance(o, Tensor)
        ]
        weak = chosen[0].dtype if chosen else weak
    with np.errstate(all="ignore"):
        results = operator.reference(*(_wide(o, weak) for o in operands), **attributes)
        results = results if isinstance(results, tuple) else (results,)
        return tuple(
            np.asarray(array).astype(t.dtype.numpy).reshape(t.shape)
            for array, t in zip(results, result_types, strict=True)
        )


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
