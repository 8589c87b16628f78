"""Reductions; halves are accumulated in f32 and rounded once, i32 sums wrap in i32."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.bounds import reduce_bound
from pypto.ops.core import composite, primitive
from pypto.ops.elementwise import NUMBERS
from pypto.ops.kinds import Axes, listed
from pypto.ops.types import TensorType
from pypto.ops.value import Tensor
from pypto.target.dtypes import FLOATS

KINDS = ("sum", "max", "min")


def reduced_shape(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """The shape without the reduced axes, or with extent 1 there."""
    pairs = [(1 if axis in dims else extent, axis in dims) for axis, extent in enumerate(shape)]
    return tuple(extent for extent, gone in pairs if keepdim or not gone)


def _reduce_type(x: TensorType, kind: str, dims: tuple[int, ...], keepdim: bool) -> TensorType:
    if kind not in KINDS:
        raise CompileError(
            "BAD_ARGUMENT", f"kind = {kind!r} is unknown", fix=f"use one of {', '.join(KINDS)}"
        )
    return TensorType(reduced_shape(x.shape, dims, keepdim), x.dtype)


def _reduce_numpy(x: np.ndarray, kind: str, dims: tuple[int, ...], keepdim: bool) -> np.ndarray:
    is_float = np.issubdtype(x.dtype, np.floating)
    if kind == "sum":
        total = np.float64 if is_float else x.dtype
        return np.sum(x, axis=dims, keepdims=keepdim, dtype=total)
    lowest, highest = (-np.inf, np.inf) if is_float else _limits(x.dtype)
    if kind == "max":
        return np.max(x, axis=dims, keepdims=keepdim, initial=lowest)
    return np.min(x, axis=dims, keepdims=keepdim, initial=highest)


def _limits(dtype: Any) -> tuple[int, int]:
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def _reduce_gradient(
    g: Tensor, r: Tensor, x: Tensor, kind: str, dims: tuple[int, ...], keepdim: bool
) -> tuple[Tensor]:
    kept = reduced_shape(x.shape, dims, keepdim=True)
    spread = g.reshape(kept).broadcast(x.shape)
    if kind == "sum":
        return (spread,)
    winner = (x == r.reshape(kept)).cast(x.dtype)
    return (spread * winner / reduce(winner, "sum", dims, True),)


@primitive(
    types=_reduce_type,
    reference=_reduce_numpy,
    dtypes=NUMBERS,
    error=reduce_bound,
    numerics="f32",
    gradient=_reduce_gradient,
)
def reduce(x: Tensor, kind: str, dims: Axes = None, keepdim: bool = False) -> Tensor:
    """Sum, maximum or minimum (``kind``) over the axes ``dims``, all when None.

    Over an empty axis it gives 0, the lowest or the highest value. NaN wins. Equal maxima share
    the gradient.
    """
    ...


@composite(
    reference=lambda x, dims, keepdim: _reduce_numpy(x, "sum", dims, keepdim), dtypes=NUMBERS
)
def sum_(x: Tensor, dims: Axes = None, keepdim: bool = False) -> Tensor:
    """Sum over the axes ``dims``, all when None, in the element type of x (i32 wraps)."""
    return reduce(x, "sum", dims, keepdim)


def _not_empty(x: Tensor, dims: Axes) -> None:
    if any(x.type.shape[axis] == 0 for axis in listed(dims)):
        raise CompileError(
            "SHAPE_MISMATCH",
            "there is no maximum or minimum over an axis of extent 0",
            fix="check that the operand is not empty",
        )


def _extreme_numpy(x: np.ndarray, dims: tuple[int, ...], keepdim: bool, kind: str) -> np.ndarray:
    return _reduce_numpy(x, kind, dims, keepdim)


@composite(
    reference=functools.partial(_extreme_numpy, kind="max"), dtypes=NUMBERS, aliases=("max",)
)
def amax(x: Tensor, dims: Axes = None, keepdim: bool = False) -> Tensor:
    """Maximum over the axes ``dims``, all when None; NaN wins, an empty axis is an error."""
    _not_empty(x, dims)
    return reduce(x, "max", dims, keepdim)


@composite(
    reference=functools.partial(_extreme_numpy, kind="min"), dtypes=NUMBERS, aliases=("min",)
)
def amin(x: Tensor, dims: Axes = None, keepdim: bool = False) -> Tensor:
    """Minimum over the axes ``dims``, all when None; NaN wins, an empty axis is an error."""
    _not_empty(x, dims)
    return reduce(x, "min", dims, keepdim)


def count(x: Tensor, dims: Axes) -> int:
    """The number of elements of x along ``dims``."""
    return math.prod(x.shape[axis] for axis in listed(dims))


def _mean_numpy(x: np.ndarray, dims: tuple[int, ...], keepdim: bool) -> np.ndarray:
    total = _reduce_numpy(x, "sum", dims, keepdim)
    return total / math.prod(x.shape[axis] for axis in dims)


@composite(reference=_mean_numpy, dtypes=FLOATS, numerics="f32")
def mean(x: Tensor, dims: Axes = None, keepdim: bool = False) -> Tensor:
    """Arithmetic mean over the axes ``dims``, all when None; NaN over an empty axis."""
    return reduce(x, "sum", dims, keepdim) / float(count(x, dims))


def _var_numpy(x: np.ndarray, dims: tuple[int, ...], keepdim: bool, correction: int) -> np.ndarray:
    shifted = x - _mean_numpy(x, dims, True)
    size = math.prod(x.shape[axis] for axis in dims)
    return np.asarray(_reduce_numpy(shifted * shifted, "sum", dims, keepdim)) / max(
        size - correction, 0
    )


@composite(reference=_var_numpy, dtypes=FLOATS, numerics="f32")
def var(x: Tensor, dims: Axes = None, keepdim: bool = False, correction: int = 1) -> Tensor:
    """Variance over the axes ``dims``: squared deviations / (count - ``correction``).

    As in torch ``correction`` is 1 unless given; NumPy's ``ddof`` is 0.
    """
    shifted = x - mean(x, dims, True)
    size = count(x, dims) - correction
    return reduce(shifted * shifted, "sum", dims, keepdim) / float(max(size, 0))
