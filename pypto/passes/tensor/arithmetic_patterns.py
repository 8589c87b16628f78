"""Canonical forms of elementwise operations; each pattern keeps every bit of the result."""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.ops import ROWS
from pypto.ops.numpy_evaluator import NumpyEvaluator
from pypto.passes.tensor.rewriting import Pattern, defining
from pypto.target.dtypes import DType

Number = bool | int | float
COMMUTATIVE = ("add", "mul", "max", "min", "and", "or", "xor", "eq")
BINARY = (*COMMUTATIVE, "sub", "div", "lt", "le")


def number_of(operand: Any) -> Number | None:
    """The number an operand is everywhere: a scalar itself, or the value of a ``full``."""
    if isinstance(operand, SSAValue):
        full = defining(operand, "full")
        return None if full is None else full.attribute("value")
    return operand


def inline_scalar(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """An operand that is one number everywhere, and sets no extent, becomes that number."""
    arguments = list(op.arguments())
    tensors = [i for i, a in enumerate(arguments) if isinstance(a, SSAValue)]
    for place in tensors:
        parameter = op.row.operands[place]
        others = [i for i in tensors if i != place and op.row.operands[i].name in op.row.promotes]
        value = number_of(arguments[place])
        if value is None or not others or not parameter.kind.takes_numbers:
            continue
        inlined = [*arguments[:place], value, *arguments[place + 1 :]]
        rest = [type_of(arguments[i]).shape for i in tensors if i != place]
        if np.broadcast_shapes(*map(_positive, rest)) == _positive(type_of(op.results[0]).shape):
            return builder.apply(op.row, inlined, op.python_attributes())
    return None


def _positive(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape NumPy accepts: an extent known at launch stands as one that nothing else has."""
    return tuple(2**31 if extent < 0 else extent for extent in shape)


def scalar_to_the_right(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """2 * x becomes x * 2."""
    x, y = op.arguments()
    if isinstance(x, SSAValue):
        return None
    return builder.apply(op.row, [y, x], {})


def drop_neutral(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """x + 0, x * 1, x & -1 and so on are x; float zeros must have the sign that changes nothing."""
    x, y = op.arguments()
    if not isinstance(x, SSAValue) or isinstance(y, SSAValue):
        return None
    dtype = type_of(x).dtype
    ones: Number = True if dtype.kind == "b" else -1
    neutral: dict[str, Number] = {
        **{"add": -0.0 if dtype.is_float else 0, "sub": 0, "mul": 1, "div": 1},
        **{"and": ones, "or": 0, "xor": 0},
    }
    return x if _same_bits(y, neutral[op.row.name], dtype) else None


def _same_bits(a: Number, b: Number, dtype: DType) -> bool:
    return dtype.numpy.type(a).tobytes() == dtype.numpy.type(b).tobytes()


def multiply_by_zero(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """An integer times 0 is 0."""
    result = type_of(op.results[0])
    _, y = op.arguments()
    if isinstance(y, SSAValue) or y != 0 or result.dtype.is_float or not result.is_static:
        return None
    return _full(builder, result.shape, 0, result.dtype)


def _full(builder: Builder, shape: Sequence[int], value: Number, dtype: DType) -> SSAValue:
    return builder.apply(ROWS["full"], (), {"shape": shape, "value": value, "dtype": dtype})


def add_negated(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """x - 2 becomes x + -2: the machine adds immediates but does not subtract them."""
    x, y = op.arguments()
    if isinstance(y, SSAValue):
        return None
    dtype = type_of(x).dtype
    if not dtype.is_float and y == np.iinfo(dtype.numpy).min:
        return None
    return builder.apply(ROWS["add"], [x, -y], {})


def multiply_by_inverse(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """x / 4 becomes x * 0.25: exact because the inverse of a power of two is exact."""
    x, y = op.arguments()
    if not isinstance(x, SSAValue) or isinstance(y, SSAValue):
        return None
    mantissa, exponent = frexp(y)
    if abs(mantissa) != 0.5 or abs(exponent) > 13:
        return None
    return builder.apply(ROWS["mul"], [x, 1.0 / y], {})


def cancel_twice(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """Not of not is nothing, and so is a second change of sign."""
    inner = defining(op.arguments()[0], op.row.name)
    if inner is None:
        return None
    if op.row.name == "mul" and (inner.arguments()[1] != -1 or op.arguments()[1] != -1):
        return None
    return inner.arguments()[0]


def same_twice(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """max(x, x), min(x, x), x and x, x or x are x."""
    x, y = op.arguments()
    return x if isinstance(x, SSAValue) and x is y else None


def idempotent(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """The absolute value of an absolute value is itself."""
    inner = defining(op.arguments()[0], op.row.name)
    return None if inner is None else inner.results[0]


def known_choice(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """A selection whose condition is known, or whose branches are one value, is a branch."""
    condition, x, y = op.arguments()
    known = number_of(condition)
    chosen = x if x is y or known is True else y if known is False else None
    if isinstance(chosen, SSAValue) and chosen.type == op.results[0].type:
        return chosen
    return None


def fold_full(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """An operation rounded at most once, on numbers only, is a number."""
    result = type_of(op.results[0])
    numbers = [number_of(argument) for argument in op.arguments()]
    is_exact = isinstance(op.row.error, (int, float)) and op.row.error <= 0.5
    if None in numbers or not is_exact or not result.is_static:
        return None
    evaluator = NumpyEvaluator()
    operands = [
        np.asarray(number, type_of(argument).dtype.numpy)
        if isinstance(argument, SSAValue)
        else number
        for number, argument in zip(numbers, op.arguments(), strict=True)
    ]
    folded = np.asarray(evaluator.apply(op.row, operands, op.python_attributes()))
    return _full(builder, result.shape, folded.item(), result.dtype)


_ALWAYS: tuple[Pattern, ...] = (fold_full, inline_scalar)

ARITHMETIC: dict[str, tuple[Pattern, ...]] = {
    **{name: _ALWAYS for name, row in ROWS.items() if row.elementwise and row.operands},
    **dict.fromkeys(COMMUTATIVE, (*_ALWAYS, scalar_to_the_right)),
    "add": (*_ALWAYS, scalar_to_the_right, drop_neutral),
    "sub": (*_ALWAYS, drop_neutral, add_negated),
    "mul": (*_ALWAYS, scalar_to_the_right, drop_neutral, multiply_by_zero, cancel_twice),
    "div": (*_ALWAYS, drop_neutral, multiply_by_inverse),
    **dict.fromkeys(("max", "min"), (*_ALWAYS, scalar_to_the_right, same_twice)),
    **dict.fromkeys(("and", "or"), (*_ALWAYS, scalar_to_the_right, drop_neutral, same_twice)),
    "xor": (*_ALWAYS, scalar_to_the_right, drop_neutral),
    "not": (*_ALWAYS, cancel_twice),
    "abs": (*_ALWAYS, idempotent),
    "select": (*_ALWAYS, known_choice),
}
