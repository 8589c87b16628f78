"""Whether a kernel that keeps whole rows would find a tile, before the kernel exists."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from pypto.dialects.pypto import TensorOperation
from pypto.passes.tensor.iteration_space import IterationSpace
from pypto.passes.tensor.units import is_creator
from pypto.passes.tile.vector_problem import Values, problem_of
from pypto.passes.tile.vector_schedule import VectorSchedule, fits
from pypto.target.soc import Soc


class GroupValues(Values):
    """The values of operations that are not a function yet."""

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


def row_fits(
    operations: Sequence[TensorOperation],
    inputs: Sequence[SSAValue],
    results: Sequence[SSAValue],
    space: IterationSpace,
    soc: Soc,
    slots: int,
) -> bool:
    """Whether one row of all live tiles fits the unified buffer; extents must be known."""
    read = (value.owner for op in operations for value in op.operands)
    made = [owner for owner in dict.fromkeys(read) if is_creator(owner)]
    values = GroupValues([*made, *operations], inputs, results, space)  # pyright: ignore[reportArgumentType]
    extents = space.extents
    columns = extents[-1]
    rows = 1 if space.rows is None else extents[space.rows]
    problem = problem_of(values, (1, rows, columns), slots)
    return fits(VectorSchedule(1, columns), problem, soc)
