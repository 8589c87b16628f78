"""Kinds of operator parameters: read from annotation text, they drive binding and text forms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from pypto.errors import CompileError
from pypto.ops.types import TensorType
from pypto.target.dtypes import DTYPES, DType, dtype_of

Axis: TypeAlias = int
NewAxis: TypeAlias = int
Axes: TypeAlias = "int | Sequence[int] | None"
Order: TypeAlias = "Sequence[int]"
Ints: TypeAlias = "int | Sequence[int]"
Number: TypeAlias = "int | float | bool"

INT64 = range(-(2**63), 2**63)


class Kind(StrEnum):
    """The kind of a parameter; the value is the annotation that says so."""

    TENSOR = "Tensor"
    OPTIONAL_TENSOR = "Tensor | None"
    TENSORS = "list[Tensor]"
    SCALAR = "Scalar"  # a tensor, or a Python number that takes the tensors' element type
    OPTIONAL_SCALAR = "Scalar | None"
    AXIS = "Axis"  # an axis of the first operand
    NEW_AXIS = "NewAxis"  # a place between the axes of the first operand
    AXES = "Axes"  # a set of axes; None means all
    ORDER = "Order"  # axes whose order matters
    INTS = "Ints"
    OPTIONAL_INTS = "Ints | None"
    PARTS = "int | Sequence[int]"  # a number of equal parts, or the extent of each
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STR = "str"
    OPTIONAL_STR = "str | None"
    NUMBER = "Number"
    OPTIONAL_NUMBER = "Number | None"
    DTYPE = "DType"
    OPTIONAL_DTYPE = "DType | None"

    @property
    def is_operand(self) -> bool:
        return self in _OPERANDS

    @property
    def is_optional(self) -> bool:
        return self.value.endswith("| None")

    @property
    def takes_numbers(self) -> bool:
        return self in (Kind.SCALAR, Kind.OPTIONAL_SCALAR)


_OPERANDS = (
    Kind.TENSOR,
    Kind.OPTIONAL_TENSOR,
    Kind.TENSORS,
    Kind.SCALAR,
    Kind.OPTIONAL_SCALAR,
)
AXIS_WORDS = ("dim", "axis", "dims", "axes")
DTYPE_KINDS = (Kind.DTYPE, Kind.OPTIONAL_DTYPE)
AXIS_KINDS = (Kind.AXIS, Kind.NEW_AXIS, Kind.AXES, Kind.ORDER)


def listed(axes: Axes) -> tuple[int, ...]:
    """The axes inside a body, where they are always normal: a tuple, each from the front."""
    return axes  # pyright: ignore[reportReturnType]


def describe(value: Any) -> str:
    """A wrong argument as messages name it."""
    if value is None or isinstance(value, (bool, int, float, str, tuple, list, DType)):
        return repr(value)
    if type(value).__module__ == "builtins":
        return f"a {type(value).__name__}"
    return f"a {type(value).__name__}, which is known at run time only"


def _wrong(name: str, expected: str, value: Any) -> CompileError:
    return CompileError("BAD_ARGUMENT", f"{name} must be {expected}, not {describe(value)}")


def integer(name: str, value: Any) -> int:
    """A static integer, NumPy's included."""
    if isinstance(value, bool):
        raise _wrong(name, "an int", value)
    try:
        result = operator.index(value)
    except TypeError:
        raise _wrong(name, "an int", value) from None
    if result not in INT64:
        raise CompileError("BAD_ARGUMENT", f"{name} = {result} does not fit 64 bits")
    return result


def integers(name: str, value: Any) -> tuple[int, ...]:
    """A tuple of static integers; one integer alone counts as a tuple of one."""
    if isinstance(value, (tuple, list)):
        return tuple(integer(name, item) for item in value)
    if hasattr(value, "tolist"):
        return integers(name, value.tolist())
    return (integer(name, value),)


def _parts(name: str, value: Any) -> int | tuple[int, ...]:
    result = integers(name, value)
    return result if isinstance(value, (tuple, list)) else result[0]


def axis(name: str, value: Any, rank: int) -> int:
    """An axis counted from the front."""
    result = integer(name, value)
    if not -rank <= result < rank:
        limits = f"{-rank}..{rank - 1}" if rank else "none: the tensor has rank 0"
        raise CompileError("BAD_ARGUMENT", f"{name} = {result} is out of range ({limits})")
    return result % rank


def axes(name: str, value: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from the front, each once, in the order given."""
    result = tuple(axis(name, item, rank) for item in integers(name, value))
    if len(set(result)) != len(result):
        raise CompileError("BAD_ARGUMENT", f"{name} = {value} names an axis twice")
    return result


def floating(name: str, value: Any) -> float:
    """A static float."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        if isinstance(value, bool) or not hasattr(value, "item") or getattr(value, "ndim", 1):
            raise _wrong(name, "a float", value)
        value = value.item()
    return float(value)


def number(name: str, value: Any) -> int | float | bool:
    """A static Python number, NumPy scalars included."""
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if not isinstance(value, (bool, int, float)):
        raise _wrong(name, "a number", value)
    return value


def _bool(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, "a bool", value)
    return value


def _str(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "a string", value)
    return value


def element_type(name: str, value: Any) -> DType:
    """An element type given as a DType, a NumPy dtype or a name (``f16``, ``float16``)."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str) and value in DTYPES:
        return DTYPES[value]
    try:
        found = dtype_of(value)
    except TypeError:
        raise _wrong(name, "an element type", value) from None
    if found is None:
        raise CompileError(
            "DTYPE_MISMATCH",
            f"{name}: the machine has no {value}",
            fix="use one of " + ", ".join(d.public_name for d in DTYPES.values()),
        )
    return found


_STATIC: dict[Kind, Callable[[str, Any], Any]] = {
    Kind.INT: integer,
    Kind.INTS: integers,
    Kind.OPTIONAL_INTS: integers,
    Kind.PARTS: _parts,
    Kind.FLOAT: floating,
    Kind.BOOL: _bool,
    Kind.STR: _str,
    Kind.OPTIONAL_STR: _str,
    Kind.NUMBER: number,
    Kind.OPTIONAL_NUMBER: number,
    Kind.DTYPE: element_type,
    Kind.OPTIONAL_DTYPE: element_type,
}


def normalise(kind: Kind, name: str, value: Any, first: TensorType | None) -> Any:
    """The one spelling of an attribute, given the type of the operator's first operand."""
    rank = first.rank if first is not None else 0
    match kind:
        case Kind.AXIS:
            return axis(name, value, rank)
        case Kind.NEW_AXIS:
            return axis(name, value, rank + 1)
        case Kind.AXES:
            return tuple(range(rank)) if value is None else tuple(sorted(axes(name, value, rank)))
        case Kind.ORDER:
            return axes(name, value, rank)
        case _ if value is None and kind.is_optional:
            return None
        case _:
            return _STATIC[kind](name, value)
