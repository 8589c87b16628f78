"""Conversions as chains of conversions the machine has, with the same result."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.errors import CompileError
from pypto.ops import ROWS
from pypto.passes.tensor.element_types import converts_directly
from pypto.target.dtypes import F16, F32, I32, DType


def cast(builder: Builder, value: SSAValue, dtype: DType, rounding: str = "rint") -> SSAValue:
    """``value`` in another element type by conversions the machine has."""
    source = type_of(value).dtype
    if source == dtype:
        return value
    if source.kind == "b":
        return _from_bool(builder, value, dtype)
    if dtype.kind == "b":
        return _to_bool(builder, value)
    if source.name == "i64" and not dtype.is_float:
        raise CompileError(
            "UNSUPPORTED_CAST",
            f"a cast from i64 to {dtype} would saturate on this machine, not wrap",
            fix="convert the input on the host, e.g. .astype(np.int32)",
        )
    if _wraps(source, dtype):
        return _wrapped(builder, cast(builder, value, I32), dtype)
    if converts_directly(source, dtype):
        return _direct(builder, value, dtype, rounding)
    if source == F32 and not dtype.is_float:
        # Rounding and limits act before the exact steps through f16 to one byte.
        whole = _direct(builder, value, I32, rounding)
        return _narrow(builder, _limited(builder, whole, dtype), dtype)
    return cast(builder, cast(builder, value, _between(source, dtype)), dtype, rounding)


def _direct(builder: Builder, value: SSAValue, dtype: DType, rounding: str) -> SSAValue:
    to_integer = type_of(value).dtype.is_float and not dtype.is_float
    attributes = {"dtype": dtype, "round": rounding if to_integer else "rint"}
    return builder.apply(ROWS["cast"], [value], attributes)


def _between(source: DType, target: DType) -> DType:
    """The next type on the way: every value of ``source`` is one of it."""
    if source.bytes == 1:
        return F16
    if source.name == "i32":
        return F32
    if source.name == "i16" and target.name == "i64":
        return I32
    return F32


def _wraps(source: DType, target: DType) -> bool:
    """Whether a conversion of integers keeps the low bits of values that do not fit."""
    if source.is_float or target.is_float:
        return False
    fits = np.can_cast(source.numpy, target.numpy, "safe")
    return not fits


def _wrapped(builder: Builder, value: SSAValue, dtype: DType) -> SSAValue:
    """The low bits of i32 values, read as ``dtype``."""
    bits = 8 * dtype.bytes
    if dtype.kind == "u":
        low = builder.apply(ROWS["and"], [value, 2**bits - 1], {})
    else:
        half = 2 ** (bits - 1)
        shifted = builder.apply(ROWS["add"], [value, half], {})
        low = builder.apply(ROWS["and"], [shifted, 2**bits - 1], {})
        low = builder.apply(ROWS["add"], [low, -half], {})
    return _narrow(builder, low, dtype)


def _limited(builder: Builder, value: SSAValue, dtype: DType) -> SSAValue:
    limits = np.iinfo(dtype.numpy)
    above = builder.apply(ROWS["max"], [value, int(limits.min)], {})
    return builder.apply(ROWS["min"], [above, int(limits.max)], {})


def _narrow(builder: Builder, value: SSAValue, dtype: DType) -> SSAValue:
    """i32 values that are values of ``dtype``, converted exactly."""
    if converts_directly(I32, dtype):
        return _direct(builder, value, dtype, "rint")
    for step in (F32, F16, dtype):
        value = _direct(builder, value, step, "rint")
    return value


def _from_bool(builder: Builder, value: SSAValue, dtype: DType) -> SSAValue:
    """0 and 1: selected in a type that has a selection, then converted."""
    chosen_in = dtype if dtype in (F16, F32) else F16 if dtype.bytes == 1 else F32
    one = builder.apply(ROWS["full"], (), {"shape": (), "value": 1.0, "dtype": chosen_in})
    chosen = builder.apply(ROWS["select"], [value, one, 0.0], {})
    return cast(builder, chosen, dtype)


def _to_bool(builder: Builder, value: SSAValue) -> SSAValue:
    """x != 0, compared in a type that has a comparison."""
    source = type_of(value).dtype
    if source.bytes == 1:
        value = cast(builder, value, F16)
    elif source not in (F16, F32, I32):
        value = cast(builder, value, F32)
    zero = 0 if type_of(value).dtype == I32 else 0.0
    return builder.apply(ROWS["not"], [builder.apply(ROWS["eq"], [value, zero], {})], {})


def legal_cast(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """A conversion without an instruction of its own, as a chain of ones that have one."""
    source, target = type_of(op.operands[0]).dtype, type_of(op.results[0]).dtype
    if source == target or _is_legal(source, target):
        return None
    return cast(builder, op.operands[0], target, op.attribute("round"))


def _is_legal(source: DType, target: DType) -> bool:
    return converts_directly(source, target) and not _wraps(source, target)
