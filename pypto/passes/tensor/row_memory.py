"""Whether a kernel that keeps whole rows would find a tile, before the kernel exists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from xdsl.ir import SSAValue

from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.passes.tensor.iteration_space import IterationSpace
from pypto.passes.tile.vector_problem import Values, problem_of
from pypto.passes.tile.vector_schedule import VectorSchedule, fits
from pypto.target.soc import Soc


class GroupValues(Values):
    """The values of operations that are not a function yet; counted often, so in linear time."""

    def __init__(
        self,
        operations: Sequence[TensorOperation],
        inputs: Sequence[SSAValue],
        results: Sequence[SSAValue],
        space: IterationSpace,
    ) -> None:
        self.space = space
        self.inputs = tuple(inputs)
        self.results = tuple(results)
        self.operations = list(operations)
        self.last_use = {
            operand: place for place, op in enumerate(operations) for operand in op.operands
        }
        self.last_use |= dict.fromkeys(results, len(self.operations))
        self._known: dict[SSAValue, tuple[bool, bool]] = {}

    def varies(self, value: SSAValue) -> tuple[bool, bool]:
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = super().varies(value)
        return found

    def _peak(self, kind: tuple[bool, bool], moved: set[SSAValue]) -> int:
        """The largest sum of inner values of a kind that live at the same operation."""
        change = [0] * (len(self.operations) + 2)
        widened = [0] * len(self.operations)
        for place, op in enumerate(self.operations):
            result = op.results[0]
            if self.varies(result) != kind:
                continue
            size = type_of(result).dtype.bytes
            if result not in moved:
                change[place] += size
                change[self.last_use.get(result, place) + 1] -= size
            others = (v for v in dict.fromkeys(op.operands) if self.varies(v) != kind)
            widened[place] = sum(type_of(value).dtype.bytes for value in others)
        alive = accumulate(change)
        return max((a + w for a, w in zip(alive, widened, strict=False)), default=0)


def row_fits(values: GroupValues, soc: Soc, slots: int) -> bool:
    """Whether one row of all live tiles fits the unified buffer; extents must be known."""
    space = values.space
    columns = space.extents[-1]
    rows = 1 if space.rows is None else space.extents[space.rows]
    problem = problem_of(values, (1, rows, columns), slots, soc)
    return fits(VectorSchedule(1, columns), problem, soc)
