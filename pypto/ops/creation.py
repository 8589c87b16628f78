"""Tensors from nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.core import primitive
from pypto.ops.elementwise import ALL
from pypto.ops.kinds import Ints, Number
from pypto.ops.types import TensorType, shape_text
from pypto.ops.value import Tensor
from pypto.ops.weak import default_dtype, weak_scalar
from pypto.target.dtypes import DType


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
    error=0.5,
    elementwise=True,
    dynamic=True,
    adjust=_full_adjust,
    gradient="it has no operands",
)
def full(shape: Ints, value: Number, dtype: DType | None = None) -> Tensor:
    """A tensor of one value; without dtype floats give float32, integers int32, bools bool."""
    ...
