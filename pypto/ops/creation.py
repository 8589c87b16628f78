"""Tensors from nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.bounds import full_bound
from pypto.ops.core import composite, primitive
from pypto.ops.elementwise import ALL, cast
from pypto.ops.kinds import Ints, Number
from pypto.ops.types import TensorType, shape_text
from pypto.ops.value import Tensor
from pypto.ops.weak import default_dtype, weak_scalar
from pypto.target.dtypes import F32, FLOATS, I1, I32, DType


def check_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Extents of a new tensor: none may be negative."""
    if any(extent < 0 for extent in shape):
        raise CompileError("BAD_ARGUMENT", f"shape {shape_text(shape)} has a negative extent")
    return shape


def _full_adjust(shape: tuple[int, ...], value: Any, dtype: DType | None) -> dict[str, Any]:
    dtype = dtype or default_dtype([value])
    if dtype.kind == "b" and not isinstance(value, bool):
        return {"dtype": dtype, "value": value != 0}
    return {"dtype": dtype, "value": weak_scalar(value, dtype)}


@primitive(
    types=lambda shape, value, dtype: TensorType(check_shape(shape), dtype),
    reference=lambda shape, value, dtype: np.full(shape, value, dtype.numpy),
    dtypes=ALL,
    error=full_bound,
    elementwise=True,
    dynamic=True,
    adjust=_full_adjust,
    gradient="it has no operands",
)
def full(shape: Ints, value: Number, dtype: DType | None = None) -> Tensor:
    """A tensor of one value; without dtype floats give float32, integers int32, bools bool."""
    ...


def _iota_type(shape: tuple[int, ...], dim: int) -> TensorType:
    if not 0 <= dim < len(shape):
        raise CompileError("BAD_ARGUMENT", f"dim = {dim} is no axis of {shape_text(shape)}")
    return TensorType(check_shape(shape), I32)


def _iota_numpy(shape: tuple[int, ...], dim: int) -> np.ndarray:
    positions = np.arange(shape[dim], dtype=np.int32)
    return np.broadcast_to(
        positions.reshape([-1 if i == dim else 1 for i in range(len(shape))]), shape
    )


@primitive(
    types=_iota_type,
    reference=_iota_numpy,
    dtypes=(I32,),
    error=0.0,
    elementwise=True,
    gradient="it has no operands",
)
def iota(shape: Ints, dim: int = 0) -> Tensor:
    """The position along the axis ``dim``, as int32."""
    ...


def _arange_count(start: float, stop: float, step: float) -> int:
    if step == 0:
        raise CompileError("BAD_ARGUMENT", "step = 0", fix="use a step other than 0")
    return max(0, math.ceil((stop - start) / step))


def _arange_adjust(start: Any, stop: Any, step: Any, dtype: DType | None) -> dict[str, Any]:
    if stop is None:
        start, stop = 0, start
    dtype = dtype or default_dtype([start, stop, step])
    if dtype not in (I32, *FLOATS):
        raise CompileError(
            "DTYPE_MISMATCH", f"dtype = {dtype} is not supported", fix="use int32 or float32"
        )
    numbers = (start, stop, step)
    if dtype == I32 and any(isinstance(number, float) for number in numbers):
        raise CompileError(
            "DTYPE_MISMATCH", f"int32 from {numbers}", fix="give integers, or dtype=float32"
        )
    return {"start": start, "stop": stop, "step": step, "dtype": dtype}


@composite(
    reference=lambda start, stop, step, dtype: (
        start + step * np.arange(_arange_count(start, stop, step))
    ),
    dtypes=(I32, *FLOATS),
    adjust=_arange_adjust,
)
def arange(
    start: Number, stop: Number | None = None, step: Number = 1, dtype: DType | None = None
) -> Tensor:
    """start, start + step, … before stop; ``arange(n)`` counts from 0. Rank 1.

    Integers give int32, floats float32, unless ``dtype`` says otherwise.
    """
    positions = iota((_arange_count(start, stop, step),), 0)  # pyright: ignore[reportArgumentType]
    if dtype == I32:
        return positions * step + start
    return cast(cast(positions, F32) * float(step) + float(start), dtype)  # pyright: ignore[reportArgumentType]


@composite(reference=lambda shape, dtype: np.zeros(shape), dtypes=ALL)
def zeros(shape: Ints, dtype: DType = F32) -> Tensor:
    """A tensor of zeros."""
    return full(shape, False if dtype == I1 else 0, dtype)


@composite(reference=lambda shape, dtype: np.ones(shape), dtypes=ALL)
def ones(shape: Ints, dtype: DType = F32) -> Tensor:
    """A tensor of ones."""
    return full(shape, True if dtype == I1 else 1, dtype)


@composite(reference=lambda x, value, dtype: np.full(x.shape, value), dtypes=ALL)
def full_like(x: Tensor, value: Number, dtype: DType | None = None) -> Tensor:
    """A tensor of one value in the shape, and unless given the element type, of x."""
    return full(x.shape, value, dtype or x.dtype)


@composite(reference=lambda x, dtype: np.zeros(x.shape), dtypes=ALL)
def zeros_like(x: Tensor, dtype: DType | None = None) -> Tensor:
    """Zeros in the shape, and unless given the element type, of x."""
    return zeros(x.shape, dtype or x.dtype)


@composite(reference=lambda x, dtype: np.ones(x.shape), dtypes=ALL)
def ones_like(x: Tensor, dtype: DType | None = None) -> Tensor:
    """Ones in the shape, and unless given the element type, of x."""
    return ones(x.shape, dtype or x.dtype)
