"""What annotations say of tensors: shapes, element types, and extents that have a name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args, get_type_hints

from pypto.errors import CompileError
from pypto.ops.types import DYNAMIC, MayBeNone, TensorType
from pypto.target.dtypes import DTYPES, DType, dtype_of


@dataclass(frozen=True)
class NamedType(MayBeNone):
    """A tensor type with names for extents: one name stands for one extent in each call."""

    shape: tuple[int | str, ...]
    dtype: DType


Declared: TypeAlias = TensorType | NamedType


def describe(type: Declared) -> str:
    """A tensor type as annotations write it: ``(128, 768) float16``."""
    extents = ["DYNAMIC" if extent == DYNAMIC else str(extent) for extent in type.shape]
    return f"({', '.join(extents)}{',' if len(extents) == 1 else ''}) {type.dtype.public_name}"


def tensor_type(shape: Any, dtype: Any) -> Declared:
    """The type written ``Tensor[shape, dtype]``."""
    extents = (shape,) if isinstance(shape, int) else shape
    valid = isinstance(extents, tuple | list) and all(map(is_extent, extents))
    if not valid:
        raise CompileError(
            "BAD_ANNOTATION",
            f"{shape!r} is not a shape",
            fix="write a tuple of integers, names or pypto.DYNAMIC: "
            "Tensor[(128, 768), pypto.float16], Tensor[('M', 768), pypto.float16]",
        )
    element = _element(dtype)
    if element is None:
        raise CompileError(
            "UNSUPPORTED_DTYPE",
            f"{dtype!r} is no element type of the device",
            fix=f"use one of {', '.join(f'pypto.{d.public_name}' for d in DTYPES.values())}",
        )
    if any(isinstance(extent, str) for extent in extents):
        return NamedType(tuple(extents), element)
    return TensorType(tuple(int(extent) for extent in extents), element)


def is_extent(value: Any) -> bool:
    """Whether a value may stand for an extent: a count, DYNAMIC, or a name."""
    if isinstance(value, str):
        return value.isidentifier()
    return isinstance(value, int) and (value >= 0 or value == DYNAMIC)


def _element(dtype: Any) -> DType | None:
    if isinstance(dtype, DType):
        return dtype
    try:
        return dtype_of(dtype)
    except TypeError:  # NumPy knows no such type
        return None


def fits(declared: Declared, given: TensorType, *, early: bool = False) -> bool:
    """Whether rank and numbers agree; names and DYNAMIC take any extent.

    ``early`` says that extents of ``given`` that are not known yet agree with any number.
    """
    return len(declared.shape) == given.rank and all(
        isinstance(extent, str) or extent in (DYNAMIC, other) or (early and other == DYNAMIC)
        for extent, other in zip(declared.shape, given.shape, strict=True)
    )


def resolved(declared: Declared, given: TensorType) -> TensorType:
    """The type to compile for: named extents as they are given, dynamic ones stay dynamic."""
    return TensorType(
        tuple(
            other if isinstance(extent, str) else extent
            for extent, other in zip(declared.shape, given.shape, strict=True)
        ),
        declared.dtype,
    )


class Dimensions:
    """The extents that names stand for in one call, and where each was met first."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, str]] = {}

    def meet(self, declared: Declared, given: TensorType, what: str) -> None:
        """Raise unless every name stands for the extent it had before; ``what`` has the type."""
        for axis, (name, extent) in enumerate(zip(declared.shape, given.shape, strict=True)):
            if not isinstance(name, str) or extent == DYNAMIC:
                continue
            place = f"axis {axis} of {what}"
            known, first = self._known.setdefault(name, (extent, place))
            if known != extent:
                raise CompileError(
                    "DIMENSION_MISMATCH",
                    f"dimension {name!r} is {known} in {first} and {extent} in {place}",
                    fix=f"make the two extents equal, or do not call both {name!r}",
                )


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function, evaluated."""
    try:
        return inspect.get_annotations(function, eval_str=True)
    except UNREADABLE as error:
        raise unreadable(function, error) from error


def field_annotations(record: type) -> dict[str, Any]:
    """The annotations of a record's fields; none when they cannot be read and name no shapes."""
    try:
        return get_type_hints(record)
    except UNREADABLE as error:
        if any("Tensor[" in str(text) for text in inspect.get_annotations(record).values()):
            raise unreadable(record, error) from error
        return {}


UNREADABLE = (NameError, AttributeError, SyntaxError, TypeError)


def unreadable(owner: Any, error: Exception) -> CompileError:
    return CompileError(
        "BAD_ANNOTATION",
        f"the annotations of {owner.__name__} cannot be read: {error}",
        fix="annotate with pypto.Tensor or pypto.Tensor[(128, 768), pypto.float16]",
    )


def declared_type(annotation: Any) -> Declared | None:
    """The tensor type an annotation gives, also as ``Tensor[…] | None``."""
    if isinstance(annotation, TensorType | NamedType):
        return annotation
    options = [one for one in get_args(annotation) if one is not type(None)]
    union = len(options) < len(get_args(annotation))
    return declared_type(options[0]) if union and len(options) == 1 else None
