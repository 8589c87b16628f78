"""Activations; all computed in f32 inside and rounded once."""

from __future__ import annotations

import functools
import math

import numpy as np

from pypto.errors import CompileError
from pypto.ops.core import composite
from pypto.ops.elementwise import NUMBERS, max_
from pypto.ops.functions import erf, exp, tanh
from pypto.ops.references import erf_numpy
from pypto.ops.value import Tensor
from pypto.target.dtypes import FLOATS

activation = functools.partial(composite, dtypes=FLOATS, numerics="f32", elementwise=True)

_GELU_CUBE = 0.044715  # Hendrycks and Gimpel, Gaussian Error Linear Units, 2016
_GELU_SCALE = math.sqrt(2.0 / math.pi)


@composite(reference=lambda x: np.maximum(x, 0), dtypes=NUMBERS, elementwise=True)
def relu(x: Tensor) -> Tensor:
    """max(x, 0); NaN stays NaN."""
    return max_(x, 0)


def _sigmoid_numpy(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


@activation(reference=_sigmoid_numpy)
def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return 1.0 / (exp(-x) + 1.0)


@activation(reference=lambda x: x * _sigmoid_numpy(x), aliases=("swish",))
def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x)."""
    return x / (exp(-x) + 1.0)


def _gelu_numpy(x: np.ndarray, approximate: str) -> np.ndarray:
    if approximate == "none":
        return 0.5 * x * (1 + erf_numpy(x / math.sqrt(2.0)))
    return 0.5 * x * (1 + np.tanh(_GELU_SCALE * (x + _GELU_CUBE * x**3)))


@activation(reference=_gelu_numpy)
def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution function at x: 0.5 x (1 + erf(x / sqrt(2))).

    ``approximate="tanh"`` is 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
    """
    if approximate == "none":
        return 0.5 * x * (erf(x * math.sqrt(0.5)) + 1.0)
    if approximate == "tanh":
        return 0.5 * x * (tanh(_GELU_SCALE * (x + _GELU_CUBE * (x * x * x))) + 1.0)
    raise CompileError(
        "BAD_ARGUMENT",
        f"approximate = {approximate!r} is unknown",
        fix='use "none" or "tanh"',
    )
