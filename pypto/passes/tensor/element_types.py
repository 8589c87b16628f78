"""Which element types the vector unit works in, and what conversions it has: facts, no IR."""

from __future__ import annotations

from pypto.target.dtypes import DTYPES, DType
from pypto.target.instructions import BY_MNEMONIC

# What the unit computes in directly, per primitive. Source [V]: AICoreintrinsicDtypeMap of the
# vendor's platform file for architecture 2201; i32 by two's complement, i1 as bit masks.
NATIVE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("add", "sub", "mul", "max", "min", "eq", "select"), ("f16", "f32", "i32")),
    **dict.fromkeys(("div", "abs", "exp", "log", "sqrt", "lt", "le"), ("f16", "f32")),
    **dict.fromkeys(("and", "or", "not"), ("i1", "i32")),
}

_VALUE_BITS = {"f16": 11, "bf16": 8, "f32": 24, "i8": 8, "u8": 8, "i16": 16, "i32": 32, "i64": 64}


def is_native(primitive: str, dtype: DType) -> bool:
    """Whether the vector unit computes a primitive in an element type as it is."""
    return dtype.name in NATIVE.get(primitive, ())


def converts_directly(source: DType, target: DType) -> bool:
    """Whether one instruction converts ``source`` to ``target``."""
    stem = f"vconv_{source}2{target}"
    return any(f"{stem}{mode}" in BY_MNEMONIC for mode in ("", "r"))


def keeps_all_values(source: DType, target: DType) -> bool:
    """Whether every value of ``source`` is a value of ``target``."""
    if source == target or source.kind == "b":
        return True
    if target.kind in "bu" or (source.is_float and not target.is_float):
        return False
    if target.is_float:
        smaller = _VALUE_BITS[source.name] <= _VALUE_BITS[target.name]
        return smaller and (not source.is_float or target == DTYPES["f32"])
    return _VALUE_BITS[source.name] < _VALUE_BITS[target.name]
