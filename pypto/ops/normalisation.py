"""Softmax and normalisation of rows; computed in f32 inside and rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.ops.core import composite, primitive
from pypto.ops.functions import exp, sqrt
from pypto.ops.kinds import Axes, Axis
from pypto.ops.reduction import count, reduce, reduced_shape
from pypto.ops.types import TensorType
from pypto.ops.value import Tensor
from pypto.target.dtypes import F32, FLOATS


def _softmax_recipe(x: Tensor, dim: int) -> Tensor:
    powers = exp(x - reduce(x, "max", dim, True))
    return powers / reduce(powers, "sum", dim, True)


def _softmax_numpy(x: np.ndarray, dim: int) -> np.ndarray:
    wide = x.astype(np.float64)
    powers = np.exp(wide - np.max(wide, axis=dim, keepdims=True, initial=-np.inf))
    return powers / np.sum(powers, axis=dim, keepdims=True)


@primitive(
    types=lambda x, dim: x,
    reference=_softmax_numpy,
    dtypes=FLOATS,
    error="recipe",
    numerics="f32",
    recipe=_softmax_recipe,
    gradient=lambda g, r, x, dim: (r * (g - (g * r).sum(dim, True)),),
)
def softmax(x: Tensor, dim: Axis = -1) -> Tensor:
    """exp(x - m) / sum(exp(x - m)) along ``dim``, m its maximum; NaN where all are -inf."""
    ...


def _standardize_type(
    x: TensorType, dims: tuple[int, ...], eps: float, center: bool
) -> tuple[TensorType, ...]:
    statistics = TensorType(reduced_shape(x.shape, dims, keepdim=True), F32)
    return x, statistics, statistics


def _standardize_recipe(
    x: Tensor, dims: Axes, eps: float, center: bool
) -> tuple[Tensor, Tensor, Tensor]:
    size = float(count(x, dims))
    mean = reduce(x, "sum", dims, True) / size if center else reduce(x, "sum", dims, True) * 0.0
    shifted = x - mean if center else x
    variance = reduce(shifted * shifted, "sum", dims, True) / size
    scale = 1.0 / sqrt(variance + eps)
    return shifted * scale, mean, scale


def _standardize_numpy(
    x: np.ndarray, dims: tuple[int, ...], eps: float, center: bool
) -> tuple[np.ndarray, ...]:
    wide = x.astype(np.float64)
    mean = np.mean(wide, axis=dims, keepdims=True)
    shifted = wide - mean if center else wide
    scale = 1 / np.sqrt(np.mean(shifted * shifted, axis=dims, keepdims=True) + eps)
    return shifted * scale, mean if center else np.zeros_like(mean), scale


def _standardize_gradient(
    g: Any, r: Any, x: Tensor, dims: Axes, eps: float, center: bool
) -> tuple[Tensor]:
    """For the gradient of y alone: mean and scale are by-products."""
    y, _, scale = r
    projected = g - y * (g * y).mean(dims, True)
    return (scale * (projected - g.mean(dims, True) if center else projected),)


@primitive(
    types=_standardize_type,
    reference=_standardize_numpy,
    dtypes=FLOATS,
    error="recipe",
    numerics="f32",
    recipe=_standardize_recipe,
    gradient=_standardize_gradient,
)
def standardize(
    x: Tensor, dims: Axes, eps: float = 1e-5, center: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(var + eps) over ``dims``, the mean, and the scale 1 / sqrt(var + eps).

    Without ``center`` the mean counts as 0: the root mean square. Mean and scale are f32 with
    extent 1 on ``dims``. NaN over an empty axis.
    """
    ...


def _scaled(y: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None) -> np.ndarray:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _layer_norm_numpy(x: np.ndarray, weight: Any, bias: Any, eps: float, begin: int) -> np.ndarray:
    y = _standardize_numpy(x, tuple(range(begin, x.ndim)), eps, True)[0]
    return _scaled(y, weight, bias)


@composite(reference=_layer_norm_numpy, dtypes=FLOATS, numerics="f32", aliases=("layernorm",))
def layer_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    begin: Axis = -1,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) over the axes from ``begin``, then * weight + bias."""
    y = standardize(x, tuple(range(begin, x.rank)), eps)[0]
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _rms_norm_numpy(x: np.ndarray, weight: Any, eps: float, begin: int) -> np.ndarray:
    y = _standardize_numpy(x, tuple(range(begin, x.ndim)), eps, False)[0]
    return _scaled(y, weight, None)


@composite(reference=_rms_norm_numpy, dtypes=FLOATS, numerics="f32", aliases=("rmsnorm",))
def rms_norm(
    x: Tensor, weight: Tensor | None = None, eps: float = 1e-6, begin: Axis = -1
) -> Tensor:
    """x / sqrt(mean(x^2) + eps) over the axes from ``begin``, then * weight."""
    y = standardize(x, tuple(range(begin, x.rank)), eps, False)[0]
    return y if weight is None else y * weight
