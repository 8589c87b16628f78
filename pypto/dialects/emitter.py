"""The Emitter: the one way operations are made.

It holds an insertion point and a location. Its arithmetic takes ``int | SSAValue`` and folds what
is known, so one code path serves static and dynamic kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, LocationAttr, UnknownLoc
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pypto.dialects import tik
from pypto.dialects.locations import UNKNOWN
from pypto.dialects.scalars import SCALAR_MEANINGS, SCALAR_OPERATIONS, folded

Index = int | SSAValue
OperationType = TypeVar("OperationType", bound=Operation)


@dataclass
class Loop:
    """A loop being built: its index, its carried values inside, its results afterwards."""

    index: Index
    args: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...] = ()
    yielded: tuple[SSAValue, ...] = field(default=(), repr=False)

    def yield_(self, *values: SSAValue) -> None:
        """Says what the next iteration carries; once, anywhere in the body."""
        if len(values) != len(self.args):
            raise ValueError(f"the loop carries {len(self.args)} values, not {len(values)}")
        self.yielded = values


class Emitter:
    """Makes operations at an insertion point, each with the current location."""

    def __init__(self, point: InsertPoint, location: LocationAttr = UNKNOWN) -> None:
        self.point = point
        self.location = location
        # Constants made so far that are visible here: one scope per open block, innermost last.
        self._constants: list[dict[int, SSAValue]] = [{}]

    @classmethod
    def at_end(cls, block: Block, location: LocationAttr = UNKNOWN) -> Emitter:
        return cls(InsertPoint.at_end(block), location)

    @classmethod
    def at_start(cls, block: Block, location: LocationAttr = UNKNOWN) -> Emitter:
        return cls(InsertPoint.at_start(block), location)

    @classmethod
    def before(cls, op: Operation) -> Emitter:
        return cls(InsertPoint.before(op), op.location)

    @classmethod
    def after(cls, op: Operation) -> Emitter:
        return cls(InsertPoint.after(op), op.location)

    # Operations.

    def insert(self, op: OperationType) -> OperationType:
        """Puts an operation here; gives it the current location if it has none."""
        if isinstance(op.location, UnknownLoc):
            op.location = self.location
        Rewriter.insert_op(op, self.point)
        return op

    def op(
        self, kind: Callable[..., OperationType], *operands: Any, **properties: Any
    ) -> OperationType:
        """Makes an operation here: ``emitter.op(tile.MmaOp, accumulator, a, b, init)``."""
        return self.insert(kind(*operands, **properties))

    def value(self, kind: Callable[..., Operation], *operands: Any, **properties: Any) -> SSAValue:
        """Makes an operation here and gives its only result."""
        return self.op(kind, *operands, **properties).results[0]

    def instruction(self, mnemonic: str, **fields: int | float | SSAValue) -> Operation:
        """Makes a machine instruction here: ``emitter.instruction("vadd.f16", dst=d, …)``."""
        from pypto.dialects.tik_instructions import build

        return self.insert(build(mnemonic, **fields))

    def offset(self, pointer: SSAValue, count: Index) -> SSAValue:
        """The pointer ``count`` bytes further on."""
        count = folded(count)
        if count == 0:
            return pointer
        return self.value(tik.OffsetOp, pointer, self.index(count))

    def slot(self, buffer: SSAValue, number: Index = 0) -> SSAValue:
        """Acquires a slot of a local buffer: the address of slot ``number``."""
        return self.value(tik.SlotOp, buffer, self.index(number))

    @contextmanager
    def at(self, point: InsertPoint, location: LocationAttr | None = None) -> Iterator[None]:
        """Works at another place, then comes back."""
        saved = self.point, self.location, self._constants
        self.point, self._constants = point, [{}]
        self.location = self.location if location is None else location
        try:
            yield
        finally:
            self.point, self.location, self._constants = saved

    # Index arithmetic.

    def index(self, value: Index) -> SSAValue:
        """The value as an operand; an integer becomes an ``arith.constant``."""
        if isinstance(value, SSAValue):
            return value
        for scope in reversed(self._constants):
            if value in scope:
                return scope[value]
        made = self.value(arith.ConstantOp, IntegerAttr(value, IndexType()))
        self._constants[-1][value] = made
        return made

    def add(self, a: Index, b: Index) -> Index:
        a, b = folded(a), folded(b)
        if a == 0:
            return b
        return a if b == 0 else self._binary(arith.AddiOp, a, b)

    def sub(self, a: Index, b: Index) -> Index:
        a, b = folded(a), folded(b)
        if a is b:
            return 0
        return a if b == 0 else self._binary(arith.SubiOp, a, b)

    def mul(self, a: Index, b: Index) -> Index:
        a, b = folded(a), folded(b)
        if a == 0 or b == 0:
            return 0
        if a == 1:
            return b
        return a if b == 1 else self._binary(arith.MuliOp, a, b)

    def min(self, a: Index, b: Index) -> Index:
        a, b = folded(a), folded(b)
        return a if a is b else self._binary(arith.MinSIOp, a, b)

    def max(self, a: Index, b: Index) -> Index:
        a, b = folded(a), folded(b)
        return a if a is b else self._binary(arith.MaxSIOp, a, b)

    def floor_div(self, a: Index, b: Index) -> Index:
        """a / b rounded down, for a >= 0 and b > 0."""
        a, b = folded(a), folded(b)
        return a if b == 1 else self._binary(arith.DivUIOp, a, b)

    def ceil_div(self, a: Index, b: Index) -> Index:
        """a / b rounded up, for a >= 0 and b > 0."""
        return self.floor_div(self.add(a, self.sub(b, 1)), b)

    def remainder(self, a: Index, b: Index) -> Index:
        """a mod b, for a >= 0 and b > 0."""
        a, b = folded(a), folded(b)
        return 0 if b == 1 else self._binary(arith.RemUIOp, a, b)

    def round_up(self, a: Index, b: Index) -> Index:
        """The smallest multiple of b that is not below a, for a >= 0 and b > 0."""
        b = folded(b)
        if isinstance(b, int) and b & (b - 1) == 0:
            return self._binary(arith.AndIOp, self.add(a, b - 1), -b) if b > 1 else folded(a)
        return self.mul(self.ceil_div(a, b), b)

    def less(self, a: Index, b: Index) -> Index:
        """1 if a < b, else 0, as an index."""
        a, b = folded(a), folded(b)
        if isinstance(a, int) and isinstance(b, int):
            return int(a < b)
        return self.value(tik.CompareOp, tik.Comparison.SLT, self.index(a), self.index(b))

    def equal(self, a: Index, b: Index) -> Index:
        """1 if a == b, else 0, as an index."""
        a, b = folded(a), folded(b)
        if a is b or (isinstance(a, int) and isinstance(b, int)):
            return int(a == b)
        return self.value(tik.CompareOp, tik.Comparison.SEQ, self.index(a), self.index(b))

    def compare_lt(self, a: Index, b: Index) -> bool | SSAValue:
        """a < b as the condition of ``if_``."""
        return self._condition("slt", a, b, lambda x, y: x < y)

    def compare_eq(self, a: Index, b: Index) -> bool | SSAValue:
        """a == b as the condition of ``if_``."""
        return self._condition("eq", a, b, lambda x, y: x == y)

    def _condition(
        self, predicate: str, a: Index, b: Index, meaning: Callable[[int, int], bool]
    ) -> bool | SSAValue:
        a, b = folded(a), folded(b)
        if isinstance(a, int) and isinstance(b, int):
            return meaning(a, b)
        return self.value(arith.CmpiOp, self.index(a), self.index(b), predicate)

    def _binary(self, kind: type[Operation], a: Index, b: Index) -> Index:
        a, b = folded(a), folded(b)
        if isinstance(a, int) and isinstance(b, int):
            return SCALAR_MEANINGS[SCALAR_OPERATIONS[kind]](a, b)
        return self.value(kind, self.index(a), self.index(b))

    # Control flow.

    @contextmanager
    def for_(
        self, lower: Index, upper: Index, iter_args: Sequence[SSAValue] = ()
    ) -> Iterator[Loop]:
        """A loop over ``lower .. upper - 1``; a known single turn is emitted in place."""
        carried = tuple(iter_args)
        lower, upper = folded(lower), folded(upper)
        if isinstance(lower, int) and isinstance(upper, int) and upper <= lower + 1:
            loop = Loop(lower, carried)
            with self._scratch() if upper <= lower else _nothing():
                yield loop
            self._check_yield(loop)
            loop.results = carried if upper <= lower else loop.yielded
            return
        first, last, step = (self.index(bound) for bound in (lower, upper, 1))
        block = Block(arg_types=[IndexType(), *(value.type for value in carried)])
        for argument in block.args:
            argument.location = self.location
        made = self.insert(scf.ForOp(first, last, step, carried, Region(block)))
        loop = Loop(block.args[0], tuple(block.args[1:]))
        with self._inside(block):
            yield loop
            self._check_yield(loop)
            self.op(scf.YieldOp, *loop.yielded)
        loop.results = tuple(made.results)

    @contextmanager
    def if_(self, condition: bool | SSAValue) -> Iterator[None]:
        """Operations that run when the condition holds; a known condition leaves no branch."""
        if isinstance(condition, bool):
            with _nothing() if condition else self._scratch():
                yield
            return
        block = Block()
        self.insert(scf.IfOp(condition, [], Region(block)))
        with self._inside(block):
            yield
            self.op(scf.YieldOp)

    @contextmanager
    def _inside(self, block: Block) -> Iterator[None]:
        saved, self.point = self.point, InsertPoint.at_end(block)
        self._constants.append({})
        try:
            yield
        finally:
            self.point = saved
            self._constants.pop()

    @contextmanager
    def _scratch(self) -> Iterator[None]:
        """Takes what is emitted and drops it: code that never runs."""
        block = Block()
        with self._inside(block):
            yield
        Region(block).drop_all_references()

    def _check_yield(self, loop: Loop) -> None:
        if loop.args and not loop.yielded:
            raise ValueError("a loop with carried values needs yield_")


@contextmanager
def _nothing() -> Iterator[None]:
    yield
