"""Element types in the IR: the one map between ``target.dtypes`` and builtin types."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    IntegerType,
    Signedness,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from pypto.target import dtypes
from pypto.target.dtypes import DType

_TYPES: dict[str, Attribute] = {
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": Float32Type(),
    "i8": i8,
    "u8": IntegerType(8, Signedness.UNSIGNED),
    "i16": i16,
    "i32": i32,
    "i64": i64,
    "i1": i1,
}
_DTYPES: dict[Attribute, DType] = {t: dtypes.DTYPES[name] for name, t in _TYPES.items()}


def element_type(dtype: DType) -> Attribute:
    """The builtin type of an element type: ``u8`` is ``ui8``, signed integers are signless."""
    return _TYPES[dtype.name]


def is_element_type(attribute: Attribute) -> bool:
    """Whether a builtin type is one of the machine's element types."""
    return attribute in _DTYPES


def element_dtype(attribute: Attribute) -> DType:
    """The element type a builtin type stands for."""
    if attribute not in _DTYPES:
        raise VerifyException(
            f"{attribute} is no element type; use one of {', '.join(map(str, _DTYPES))}"
        )
    return _DTYPES[attribute]
