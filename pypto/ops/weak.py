"""Weak Python scalars: a number takes the element type of the tensors it meets."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.target.dtypes import F32, I1, I32, DType


@functools.cache
def float_limit(dtype: DType) -> float:
    """The least magnitude that rounds to infinity."""
    exponent = {"f16": 15, "bf16": 127, "f32": 127}[dtype.name]
    mantissa = {"f16": 10, "bf16": 7, "f32": 23}[dtype.name]
    return (2.0 - 2.0 ** -(mantissa + 1)) * 2.0**exponent


def default_dtype(numbers: Sequence[Any]) -> DType:
    """The element type of Python numbers when no tensor gives one."""
    if any(isinstance(number, float) for number in numbers):
        return F32
    return I1 if all(isinstance(number, bool) for number in numbers) else I32


def weak_scalar(value: bool | int | float, dtype: DType) -> bool | int | float:
    """A Python number as a scalar beside tensors of ``dtype``; never changes that dtype."""
    if dtype.is_float:
        is_infinite = isinstance(value, float) and not math.isfinite(value)
        if not is_infinite and abs(value) >= float_limit(dtype):
            raise CompileError(
                "DTYPE_MISMATCH",
                f"the number {value!r:.40} overflows {dtype}",
                fix="convert the tensor first: .cast(pypto.float32)",
            )
        return float(value)
    if dtype.kind == "b":
        if not isinstance(value, bool):
            raise CompileError(
                "DTYPE_MISMATCH",
                f"the number {value!r} meets a bool tensor",
                fix="convert the tensor first, e.g. .cast(pypto.int32) or .cast(pypto.float32)",
            )
        return value
    if isinstance(value, float):
        raise CompileError(
            "DTYPE_MISMATCH",
            f"the float {value!r} meets a tensor of {dtype}",
            fix="convert the tensor first: .cast(pypto.float32), or use an int",
        )
    limits = np.iinfo(dtype.numpy)
    if not limits.min <= value <= limits.max:
        raise CompileError(
            "DTYPE_MISMATCH",
            f"the number {value!s:.40} does not fit {dtype} ({limits.min}..{limits.max})",
            fix="convert the tensor to a wider type first",
        )
    return int(value)
