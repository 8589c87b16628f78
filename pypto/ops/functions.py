"""Elementwise functions of floats, with the recipes of those no instruction computes."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.comparison import select
from pypto.ops.core import composite
from pypto.ops.creation import full
from pypto.ops.elementwise import NUMBERS, abs_, cast, min_, same_type, unary
from pypto.ops.references import erf_numpy, pow_numpy
from pypto.ops.types import TensorType
from pypto.ops.value import Scalar, Tensor
from pypto.target.dtypes import F32, FLOATS, I32

floats = functools.partial(unary, dtypes=FLOATS)


@floats(reference=np.exp, error=2.0, gradient=lambda g, r, x: (g * r,))
def exp(x: Tensor) -> Tensor:
    """e to the power x."""
    ...


@floats(reference=np.log, error=2.0, gradient=lambda g, r, x: (g / x,))
def log(x: Tensor) -> Tensor:
    """Natural logarithm of x; -inf at 0, NaN below."""
    ...


@floats(reference=np.sqrt, error=0.5, gradient=lambda g, r, x: (0.5 * g / r,))
def sqrt(x: Tensor) -> Tensor:
    """Square root of x; NaN below 0."""
    ...


def _horner(z: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """The polynomial with these coefficients, constant term first."""
    result = z * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        result = result * z + coefficient
    return result


# Minimax in f32 of tanh(x) / x = 1 + z p(z), z = x * x, on |x| < 0.625.
_TANH_BELOW = 0.625
_TANH = (-0.33333281, 0.13331442, -0.053739719, 0.020639097, -0.0057049962)


def _tanh_recipe(x: Tensor) -> Tensor:
    """An odd polynomial near 0, where 1 - 2 / (exp(2 |x|) + 1) would cancel."""
    z = x * x
    near = x + x * (z * _horner(z, _TANH))
    magnitude = abs_(x)
    far = 1.0 - 2.0 / (exp(magnitude + magnitude) + 1.0)
    return select(magnitude < _TANH_BELOW, near, select(x < 0.0, -far, far))


@floats(
    reference=np.tanh,
    error=4.0,
    numerics="f32",
    recipe=_tanh_recipe,
    gradient=lambda g, r, x: (g * (1.0 - r * r),),
)
def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent of x."""
    ...


# Minimax in f32: erf(x) / x = 1 + p(x * x) below 1; -log(erfc(x)) = q(x) from 1 to 4, where
# erfc is below half a unit in the last place of 1.
_ERF_BELOW, _ERF_ONE = 1.0, 4.0
_ERF = (0.12837912, -0.37612328, 0.11280183, -0.026711382, 0.0049176216, -0.00056316750)
_ERFC = (0.0026198807, 1.1176187, 0.65424371, 0.088797167, -0.014830969, 0.0011571037)


def _erf_recipe(x: Tensor) -> Tensor:
    """An odd polynomial near 0, 1 - exp(-q(|x|)) beyond."""
    near = x + x * _horner(x * x, _ERF)
    magnitude = abs_(x)
    far = 1.0 - exp(-_horner(min_(magnitude, _ERF_ONE), _ERFC))
    return select(magnitude < _ERF_BELOW, near, select(x < 0.0, -far, far))


@floats(
    reference=erf_numpy,
    error=4.0,
    numerics="f32",
    recipe=_erf_recipe,
    gradient=lambda g, r, x: (g * (2.0 / math.sqrt(math.pi)) * exp(-(x * x)),),
)
def erf(x: Tensor) -> Tensor:
    """Gauss error function of x."""
    ...


def _pow_type(x: Any, y: Any) -> TensorType:
    result = same_type(x, y)
    if result.dtype == I32 and (not isinstance(y, int) or y < 0):
        raise CompileError(
            "DTYPE_MISMATCH",
            "an integer tensor takes a static exponent of 0 or more only",
            fix="convert the base first: .cast(pypto.float32)",
        )
    return result


def _pow_recipe(x: Any, y: Any) -> Tensor:
    """Repeated squaring for whole exponents, exp(y log x) otherwise."""
    if isinstance(y, (int, float)):
        return _power(x, int(y)) if float(y).is_integer() else exp(y * log(x))
    if isinstance(x, (int, float)):
        if x > 0.0:
            return exp(y * math.log(x))
        x = full((), x, y.dtype)
    return _pow_tensors(x, y)


def _power(x: Tensor, exponent: int) -> Tensor:
    if exponent == 0:
        return full(x.shape, 1, x.dtype)
    if exponent < 0:
        return 1.0 / _power(x, -exponent)
    half = _power(x, exponent // 2) if exponent > 1 else None
    if half is None:
        return x
    return half * half if exponent % 2 == 0 else half * half * x


def _pow_tensors(x: Tensor, y: Tensor) -> Tensor:
    magnitude = abs_(x)
    size = exp(y * log(magnitude))
    size = select((y == 0.0) | (magnitude == 1.0), 1.0, size)
    whole = cast(y, I32)
    small = abs_(y) < 2.0**24  # all larger floats are even integers
    odd = ((whole & 1) == 1) & small & (cast(whole, F32) == y)
    fraction = (cast(whole, F32) != y) & small
    negative = select(odd, -size, select(fraction, math.nan, size))
    return select(x < 0.0, negative, size)


def _pow_gradient(g: Tensor, r: Tensor, x: Any, y: Any) -> tuple[Tensor, Tensor]:
    return g * y * x ** (y - 1.0), g * r * log(x)


@unary(
    types=_pow_type,
    reference=pow_numpy,
    dtypes=NUMBERS,
    error="recipe",
    numerics="f32",
    promotes=("x", "y"),
    recipe=_pow_recipe,
    gradient=_pow_gradient,
    aliases=("power",),
)
def pow_(x: Scalar, y: Scalar) -> Tensor:
    """x to the power y; integers wrap and need a static exponent of 0 or more.

    A negative x has a power for whole y only, else NaN. Between tensors the sign of a zero x is
    not seen. The error grows with \\|y log x\\|.
    """
    ...


@composite(reference=np.reciprocal, dtypes=FLOATS, elementwise=True)
def reciprocal(x: Tensor) -> Tensor:
    """1 / x."""
    return 1.0 / x


@composite(reference=lambda x: 1 / np.sqrt(x), dtypes=FLOATS, numerics="f32", elementwise=True)
def rsqrt(x: Tensor) -> Tensor:
    """1 / sqrt(x); inf at 0, NaN below."""
    return 1.0 / sqrt(x)
