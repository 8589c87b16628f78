"""Elementwise arithmetic and conversion."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.bounds import absolute_bound, cast_bound, division_bound
from pypto.ops.core import composite, primitive
from pypto.ops.references import cast_numpy, max_numpy, min_numpy
from pypto.ops.types import TensorType, broadcast_shapes
from pypto.ops.value import Scalar, Tensor
from pypto.target.dtypes import DTYPES, FLOATS, I32, DType

ALL = tuple(DTYPES.values())
NUMBERS = (I32, *FLOATS)
ROUNDINGS = ("rint", "trunc", "floor", "ceil", "away")


def same_type(*operands: Any) -> TensorType:
    """The broadcast shape in the operands' one element type."""
    tensors = [operand for operand in operands if isinstance(operand, TensorType)]
    return TensorType(broadcast_shapes(*(t.shape for t in tensors)), tensors[0].dtype)


unary = functools.partial(primitive, types=same_type, elementwise=True, dynamic=True)
binary = functools.partial(unary, promotes=("x", "y"))


@binary(reference=np.add, dtypes=NUMBERS, error=0.5, gradient=lambda g, r, x, y: (g, g))
def add(x: Scalar, y: Scalar) -> Tensor:
    """x + y; integers wrap."""
    ...


@binary(
    reference=np.subtract,
    dtypes=NUMBERS,
    error=0.5,
    gradient=lambda g, r, x, y: (g, -g),
    aliases=("subtract",),
)
def sub(x: Scalar, y: Scalar) -> Tensor:
    """x - y; integers wrap."""
    ...


@binary(
    reference=np.multiply,
    dtypes=NUMBERS,
    error=0.5,
    gradient=lambda g, r, x, y: (g * y, g * x),
    aliases=("multiply",),
)
def mul(x: Scalar, y: Scalar) -> Tensor:
    """x * y; integers wrap."""
    ...


@binary(
    reference=np.divide,
    dtypes=FLOATS,
    error=division_bound,
    gradient=lambda g, r, x, y: (g / y, -(g * r) / y),
    aliases=("divide", "true_divide"),
)
def div(x: Scalar, y: Scalar) -> Tensor:
    """x / y of floats; x / 0 is an infinity, 0 / 0 is NaN."""
    ...


def _extreme_gradient(g: Tensor, r: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """All of it to the operand that won, half to each at a tie."""
    tie = 0.5 * (x == y).cast(r.dtype)
    return g * ((x == r).cast(r.dtype) - tie), g * ((y == r).cast(r.dtype) - tie)


@binary(
    reference=max_numpy,
    dtypes=NUMBERS,
    error=0.0,
    gradient=_extreme_gradient,
    aliases=("maximum",),
)
def max_(x: Scalar, y: Scalar) -> Tensor:
    """The larger of x and y; NaN when either is NaN."""
    ...


@binary(
    reference=min_numpy,
    dtypes=NUMBERS,
    error=0.0,
    gradient=_extreme_gradient,
    aliases=("minimum",),
)
def min_(x: Scalar, y: Scalar) -> Tensor:
    """The smaller of x and y; NaN when either is NaN."""
    ...


@unary(
    reference=np.absolute,
    dtypes=NUMBERS,
    error=absolute_bound,
    gradient=lambda g, r, x: (g * x.sign(),),
    aliases=("absolute",),
)
def abs_(x: Tensor) -> Tensor:
    """|x|; the smallest integer stays itself."""
    ...


def _cast_type(x: TensorType, dtype: DType, round: str | None) -> TensorType:
    if round not in ROUNDINGS:
        raise CompileError(
            "BAD_ARGUMENT",
            f"round = {round!r} is unknown",
            fix="use one of " + ", ".join(ROUNDINGS),
        )
    if round != "rint" and not _to_integer(x.dtype, dtype):
        raise CompileError(
            "BAD_ARGUMENT",
            f"round = {round!r} applies from floats to integers, not from {x.dtype} to {dtype}",
            fix="leave round out: floats round to nearest even",
        )
    return x.with_dtype(dtype)


def _to_integer(source: DType, target: DType) -> bool:
    return source.is_float and target.kind in "iu"


def _cast_adjust(x: Any, dtype: DType, round: str | None) -> dict[str, Any]:
    """Floats become integers towards zero, as in NumPy and torch, unless told otherwise."""
    if round is not None:
        return {}
    truncates = isinstance(x, TensorType) and _to_integer(x.dtype, dtype)
    return {"round": "trunc" if truncates else "rint"}


@unary(
    types=_cast_type,
    reference=cast_numpy,
    dtypes=ALL,
    error=cast_bound,
    adjust=_cast_adjust,
    gradient=lambda g, r, x, dtype, round: (g.cast(x.dtype) if x.dtype.is_float else None,),
    aliases=("astype",),
)
def cast(x: Tensor, dtype: DType, round: str | None = None) -> Tensor:
    """x in another element type.

    Float to float rounds to nearest even and overflows to infinity. Float to integer truncates
    (``round``: rint, trunc, floor, ceil, away from zero at .5), saturates, and gives 0 for NaN.
    Integer to integer wraps. To bool is x != 0; from bool gives 0 and 1.
    """
    ...


@composite(reference=np.negative, dtypes=NUMBERS, aliases=("negative",), elementwise=True)
def neg(x: Tensor) -> Tensor:
    """-x, with -0.0 for 0.0; integers wrap."""
    return x * -1


@composite(reference=np.square, dtypes=NUMBERS, elementwise=True)
def square(x: Tensor) -> Tensor:
    """x * x; integers wrap."""
    return x * x


@composite(reference=np.sign, dtypes=NUMBERS, elementwise=True)
def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1 by the sign of x; NaN stays NaN."""
    from pypto.ops.comparison import select

    return select(x < 0, -1, select(x > 0, 1, x))


def _clip_numpy(x: np.ndarray, min: Any, max: Any) -> np.ndarray:
    lower = x if min is None else np.maximum(x, min)
    return lower if max is None else np.minimum(lower, max)


@composite(reference=_clip_numpy, dtypes=NUMBERS, aliases=("clamp",), elementwise=True)
def clip(x: Tensor, min: Scalar | None = None, max: Scalar | None = None) -> Tensor:
    """min(max(x, min), max); either bound may be left out, NaN stays NaN."""
    y = x if min is None else max_(x, min)
    return y if max is None else min_(y, max)
