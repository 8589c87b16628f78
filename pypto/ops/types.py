"""Tensor types and the rules all operators share: broadcasting and promotion."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from pypto.errors import CompileError
from pypto.target.dtypes import BF16, F16, F32, DType, dtype_of

if TYPE_CHECKING:
    import numpy as np

DYNAMIC = -1  # an extent known at launch only


class MayBeNone:
    """A type that annotations may write with ``| None``: an argument that can be left out."""

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007 - this is what '|' means here

    __ror__ = __or__


@dataclass(frozen=True)
class TensorType(MayBeNone):
    """Shape (extents, ``DYNAMIC`` where unknown) and element type of a tensor."""

    shape: tuple[int, ...]
    dtype: DType

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        return DYNAMIC not in self.shape

    def with_dtype(self, dtype: DType) -> TensorType:
        """The same shape with another element type."""
        return TensorType(self.shape, dtype)

    def __str__(self) -> str:
        extents = "".join("?x" if extent == DYNAMIC else f"{extent}x" for extent in self.shape)
        return f"tensor<{extents}{self.dtype}>"


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


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as messages write it: ``(4, ?)``."""
    text = ", ".join("?" if extent == DYNAMIC else str(extent) for extent in shape)
    return f"({text},)" if len(shape) == 1 else f"({text})"


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape, aligned at the last axis; a dynamic extent meets itself or 1 only."""
    rank = max((len(shape) for shape in shapes), default=0)
    aligned = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = []
    for axis, extents in enumerate(zip(*aligned, strict=True)):
        different = [extent for extent in dict.fromkeys(extents) if extent != 1]
        if len(different) > 1:
            first, second = ("?" if extent == DYNAMIC else extent for extent in different[:2])
            raise CompileError(
                "SHAPE_MISMATCH",
                f"shapes {' and '.join(map(shape_text, shapes))} do not broadcast: "
                f"axis {axis - rank} is {first} and {second}",
                fix="make the extents equal or 1 (reshape, unsqueeze, transpose or slice)",
            )
        result.append(different[0] if different else 1)
    return tuple(result)


def promote_pair(a: DType, b: DType) -> DType:
    """The element type two operands meet in: floats rise, everything else must be equal."""
    if a == b:
        return a
    if a.is_float and b.is_float:
        return F32
    if a.is_float != b.is_float and "b" not in (a.kind, b.kind):
        integer, other = (b, a) if a.is_float else (a, b)
        fix = f"convert one of them, e.g. .cast(pypto.{other.public_name}) on the {integer} operand"
    else:
        fix = "convert one of them with .cast(dtype), or compare a number first to get a bool"
    raise CompileError("DTYPE_MISMATCH", f"operands are {a} and {b}", fix=fix)


def promote(dtypes: list[DType]) -> DType:
    """The element type all operands meet in."""
    return functools.reduce(promote_pair, dtypes)


def is_half(dtype: DType) -> bool:
    """Whether a float has two bytes: such values are widened to f32 for lossy steps."""
    return dtype in (F16, BF16)
