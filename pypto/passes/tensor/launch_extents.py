"""Which extents known at launch only are the same number, because an operation equates them."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue

from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.ops.types import DYNAMIC
from pypto.passes.tensor.iteration_space import Shape

Place = tuple[SSAValue, int]


class LaunchExtents:
    """Classes of equal extents; operands of elementwise operations agree with their result."""

    def __init__(self, ops: Iterable[Operation]) -> None:
        self._parent: dict[Place, Place] = {}
        self._numbers: dict[Place, int] = {}
        self._shapes: dict[SSAValue, Shape] = {}
        for op in ops:
            if isinstance(op, TensorOperation) and op.row.elementwise:
                for operand in op.operands:
                    self._equate(operand, op.results[0])

    def _equate(self, operand: SSAValue, result: SSAValue) -> None:
        lead = type_of(result).rank - type_of(operand).rank
        for axis, extent in enumerate(type_of(operand).shape):
            if extent == DYNAMIC:
                self._parent[self._root((operand, axis))] = self._root((result, axis + lead))

    def _root(self, place: Place) -> Place:
        while (parent := self._parent.get(place, place)) != place:
            place = parent
        return place

    def shape(self, value: SSAValue) -> Shape:
        """The shape of a value with one negative number for each class of equal extents."""
        if value not in self._shapes:
            extents = enumerate(type_of(value).shape)
            shape = (self._number(value, axis) if e == DYNAMIC else e for axis, e in extents)
            self._shapes[value] = tuple(shape)
        return self._shapes[value]

    def _number(self, value: SSAValue, axis: int) -> int:
        root = self._root((value, axis))
        return -1 - self._numbers.setdefault(root, len(self._numbers))
