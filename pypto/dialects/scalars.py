"""Index arithmetic: the ``arith`` operations the scalar unit has, each with its meaning once.

Values are 64-bit integers. The unsigned operations of ``arith`` mean the same as the signed ones
because their operands (extents, offsets, addresses) are never negative.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

Meaning = Callable[[int, int], int]

_BITS = 2**64


def wrap(value: int) -> int:
    """The 64-bit two's complement integer with the low bits of ``value``."""
    value %= _BITS
    return value - _BITS if value >= _BITS // 2 else value


def _divide(a: int, b: int) -> int:
    """Division towards zero; 0 when ``b`` is 0, as the machine has it."""
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return 0 if b == 0 else a - b * _divide(a, b)


# Scalar instruction -> meaning.
SCALAR_MEANINGS: dict[str, Meaning] = {
    "add": lambda a, b: wrap(a + b),
    "sub": lambda a, b: wrap(a - b),
    "mul": lambda a, b: wrap(a * b),
    "div": _divide,
    "rem": _remainder,
    "min": min,
    "max": max,
    "shl": lambda a, b: wrap(a << (b & 63)),
    "shr": lambda a, b: wrap((a % _BITS) >> (b & 63)),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "slt": lambda a, b: int(a < b),
    "seq": lambda a, b: int(a == b),
}

# Operation -> scalar instruction.
SCALAR_OPERATIONS: dict[type[Operation], str] = {
    arith.AddiOp: "add",
    arith.SubiOp: "sub",
    arith.MuliOp: "mul",
    arith.DivUIOp: "div",
    arith.DivSIOp: "div",
    arith.RemUIOp: "rem",
    arith.RemSIOp: "rem",
    arith.MinUIOp: "min",
    arith.MinSIOp: "min",
    arith.MaxUIOp: "max",
    arith.MaxSIOp: "max",
    arith.ShLIOp: "shl",
    arith.ShRUIOp: "shr",
    arith.AndIOp: "and",
    arith.OrIOp: "or",
}


def constant_of(value: SSAValue) -> int | None:
    """The integer an ``arith.constant`` gives, None for every other value."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def folded(value: int | SSAValue) -> int | SSAValue:
    """The integer a constant stands for, every other value as it is."""
    if isinstance(value, SSAValue):
        constant = constant_of(value)
        return value if constant is None else constant
    return int(value)
