"""Integer expressions over registers, for programs written by hand.

``block * rows + 3`` on a Value gives an Expression; the builder of ``structured`` turns it into
scalar operations where it is used. Integers are folded at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pypto.target.rows import Register


class Integer:
    """Operators of whatever is an integer while the program runs.

    ``//`` and ``%`` are ``div`` and ``rem`` of the scalar unit, which truncate towards zero.
    """

    __slots__ = ()

    def __add__(self, other: Operand) -> Operand:
        return combine("add", self, other)

    def __radd__(self, other: int) -> Operand:
        return combine("add", other, self)

    def __sub__(self, other: Operand) -> Operand:
        return combine("sub", self, other)

    def __rsub__(self, other: int) -> Operand:
        return combine("sub", other, self)

    def __mul__(self, other: Operand) -> Operand:
        return combine("mul", self, other)

    def __rmul__(self, other: int) -> Operand:
        return combine("mul", other, self)

    def __floordiv__(self, other: Operand) -> Operand:
        return combine("div", self, other)

    def __rfloordiv__(self, other: int) -> Operand:
        return combine("div", other, self)

    def __mod__(self, other: Operand) -> Operand:
        return combine("rem", self, other)

    def __lshift__(self, other: Operand) -> Operand:
        return combine("shl", self, other)

    def __rshift__(self, other: Operand) -> Operand:
        return combine("shr", self, other)

    def __and__(self, other: Operand) -> Operand:
        return combine("and", self, other)

    def __or__(self, other: Operand) -> Operand:
        return combine("or", self, other)

    def __lt__(self, other: Operand) -> Condition:
        return Condition("blt", "bge", self, other)

    def __ge__(self, other: Operand) -> Condition:
        return Condition("bge", "blt", self, other)

    def __gt__(self, other: Operand) -> Condition:
        return Condition("blt", "bge", other, self)

    def __le__(self, other: Operand) -> Condition:
        return Condition("bge", "blt", other, self)

    def equals(self, other: Operand) -> Condition:
        return Condition("beq", "bne", self, other)

    def differs(self, other: Operand) -> Condition:
        return Condition("bne", "beq", self, other)

    def __bool__(self) -> bool:
        raise TypeError("an integer of the program has no value while it is built; use `when`")


@dataclass(frozen=True, eq=False)
class Expression(Integer):
    """``left operation right``, computed where it is used; ``operation`` is a mnemonic."""

    operation: str
    left: Operand
    right: Operand


@dataclass(eq=False)
class Value(Integer):
    """A register that holds an integer until the block that made it ends."""

    name: str
    register: Register
    alive: bool = True


Operand: TypeAlias = Integer | int


@dataclass(frozen=True, eq=False)
class Condition:
    """A comparison: the branch taken when it holds, the one taken when it does not."""

    branch: str
    opposite: str
    left: Operand
    right: Operand

    def __bool__(self) -> bool:
        raise TypeError("a condition of the program has no value while it is built; use `when`")


FOLDED: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
}
# Operations that leave their left operand as it is when the right one is this number.
NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1, "shl": 0, "shr": 0, "or": 0}


def combine(operation: str, left: Operand, right: Operand) -> Operand:
    """The expression, or its value where both sides are known."""
    if isinstance(left, int) and isinstance(right, int) and operation in FOLDED:
        return FOLDED[operation](left, right)
    if isinstance(right, int) and NEUTRAL.get(operation) == right:
        return left
    if operation == "add" and isinstance(left, int) and left == 0:
        return right
    if operation == "mul" and isinstance(left, int) and left == 1:
        return right
    return Expression(operation, left, right)


def smaller(left: Operand, right: Operand) -> Operand:
    """The smaller of two integers of the program."""
    return combine("min", left, right)


def larger(left: Operand, right: Operand) -> Operand:
    """The larger of two integers of the program."""
    return combine("max", left, right)


def ceil_div(left: Operand, right: int) -> Operand:
    """``left / right`` rounded up; ``left`` is not negative."""
    if isinstance(left, int):
        return -(-left // right)
    return combine("div", combine("add", left, right - 1), right)
