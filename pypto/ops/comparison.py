"""Comparison, selection and logic."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.bounds import bits_bound, equality_bound
from pypto.ops.core import composite, primitive
from pypto.ops.elementwise import ALL, NUMBERS, binary, same_type, unary
from pypto.ops.types import TensorType, broadcast_shapes
from pypto.ops.value import Scalar, Tensor
from pypto.target.dtypes import FLOATS, I1, I32

BITS = (I1, I32)
STEP = "a step function: its gradient is zero wherever it exists"


def _bool_type(*operands: Any) -> TensorType:
    return same_type(*operands).with_dtype(I1)


compare = functools.partial(binary, types=_bool_type, dtypes=NUMBERS, error=0.0, gradient=STEP)


@compare(reference=np.equal, error=equality_bound, aliases=("equal",))
def eq(x: Scalar, y: Scalar) -> Tensor:
    """x == y as bool; NaN equals nothing."""
    ...


@compare(reference=np.less, aliases=("less",))
def lt(x: Scalar, y: Scalar) -> Tensor:
    """x < y as bool; false with NaN."""
    ...


@compare(reference=np.less_equal, aliases=("less_equal",))
def le(x: Scalar, y: Scalar) -> Tensor:
    """x <= y as bool; false with NaN."""
    ...


@composite(reference=np.not_equal, dtypes=NUMBERS, aliases=("not_equal",), elementwise=True)
def ne(x: Scalar, y: Scalar) -> Tensor:
    """x != y as bool; true with NaN."""
    return not_(eq(x, y))


@composite(reference=np.greater, dtypes=NUMBERS, aliases=("greater",), elementwise=True)
def gt(x: Scalar, y: Scalar) -> Tensor:
    """x > y as bool; false with NaN."""
    return lt(y, x)


@composite(reference=np.greater_equal, dtypes=NUMBERS, aliases=("greater_equal",), elementwise=True)
def ge(x: Scalar, y: Scalar) -> Tensor:
    """x >= y as bool; false with NaN."""
    return le(y, x)


def _select_type(condition: TensorType, x: Any, y: Any) -> TensorType:
    if condition.dtype != I1:
        raise CompileError(
            "DTYPE_MISMATCH",
            f"the condition is {condition.dtype}, not bool",
            fix="compare it, e.g. condition != 0",
        )
    chosen = same_type(x, y)
    return TensorType(broadcast_shapes(condition.shape, chosen.shape), chosen.dtype)


@primitive(
    types=_select_type,
    reference=np.where,
    dtypes=NUMBERS,
    error=0.0,
    elementwise=True,
    dynamic=True,
    promotes=("x", "y"),
    aliases=("where",),
    gradient=lambda g, r, c, x, y: (None, c.select(g, 0.0), c.select(0.0, g)),
)
def select(condition: Tensor, x: Scalar, y: Scalar) -> Tensor:
    """x where the bool condition holds, else y; all three broadcast."""
    ...


logic = functools.partial(binary, dtypes=BITS, error=bits_bound, gradient=STEP)


@logic(reference=np.bitwise_and, aliases=("bitwise_and",))
def and_(x: Scalar, y: Scalar) -> Tensor:
    """x & y: logical on bool, bitwise on integers."""
    ...


@logic(reference=np.bitwise_or, aliases=("bitwise_or",))
def or_(x: Scalar, y: Scalar) -> Tensor:
    """x | y: logical on bool, bitwise on integers."""
    ...


@logic(reference=np.bitwise_xor, aliases=("bitwise_xor",))
def xor(x: Scalar, y: Scalar) -> Tensor:
    """x ^ y: logical on bool, bitwise on integers."""
    ...


@unary(
    reference=np.invert,
    dtypes=BITS,
    error=bits_bound,
    gradient=STEP,
    aliases=("bitwise_not", "invert"),
)
def not_(x: Tensor) -> Tensor:
    """~x: logical on bool, bitwise on integers."""
    ...


def _truth(x: Tensor) -> Tensor:
    return x if x.dtype == I1 else x.cast(I1)


@composite(reference=np.logical_and, dtypes=ALL)
def logical_and(x: Tensor, y: Tensor) -> Tensor:
    """Whether both x and y are not zero, as bool."""
    return and_(_truth(x), _truth(y))


@composite(reference=np.logical_or, dtypes=ALL)
def logical_or(x: Tensor, y: Tensor) -> Tensor:
    """Whether x or y is not zero, as bool."""
    return or_(_truth(x), _truth(y))


@composite(reference=np.logical_xor, dtypes=ALL)
def logical_xor(x: Tensor, y: Tensor) -> Tensor:
    """Whether exactly one of x and y is not zero, as bool."""
    return xor(_truth(x), _truth(y))


@composite(reference=np.logical_not, dtypes=ALL)
def logical_not(x: Tensor) -> Tensor:
    """Whether x is zero, as bool."""
    return not_(_truth(x))


@composite(reference=np.isnan, dtypes=FLOATS, elementwise=True)
def isnan(x: Tensor) -> Tensor:
    """Whether x is NaN, as bool."""
    return ne(x, x)
