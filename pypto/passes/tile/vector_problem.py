"""What a vector kernel needs of the unified buffer, for the choice of its tile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.passes.tensor.iteration_space import IterationSpace
from pypto.passes.tile.kernel_frame import results_of
from pypto.passes.tile.vector_schedule import VectorProblem
from pypto.target.instructions import exists
from pypto.target.limits import field_on
from pypto.target.soc import Soc


@dataclass(frozen=True)
class LoweringRoom:
    """Bytes that lowering itself keeps: per element, per row broadcast or stored, for reductions.

    ``element``: an f32 tile for an operand or intermediate it has to make. ``row``: a 32-byte block
    to broadcast from. ``reduced_row``: 64 f32 lanes to reduce into.
    """

    element: int = 4
    row: int = 32
    reduced_row: int = 256
    reduction: int = 0


def lowering_room(machine: Soc) -> LoweringRoom:
    """What a machine needs where it lacks instructions that work in place."""
    room = LoweringRoom()

    def has(mnemonic: str) -> bool:
        return exists(mnemonic, machine.architecture)

    if field_on(machine.architecture, "vsel.f32", "repeat").high == 1:
        # A choice of 32-bit elements has a mask and one half of the result.
        room = replace(room, element=room.element + 4)
    if not has("vbrcb.u32"):
        # Each 16-bit word of an element fills a block first.
        room = replace(room, row=room.row + 64)
    if not has("copy_ubuf_to_gm_align.b32"):
        # What lies behind a row is kept while the row is stored.
        room = replace(room, row=room.row + 32)
    if not has("vcmax.f32"):
        # Rows are halved to a block each; 128 of them are turned at a time.
        room = replace(room, reduced_row=room.reduced_row + 32, reduction=4096 + 2048)
    return room


class Values:
    """The operations of a kernel in order, and how long each of their values lives."""

    def __init__(self, function: FuncOp, space: IterationSpace) -> None:
        self.space = space
        self.inputs = tuple(function.body.block.args)
        self.results = results_of(function)
        self.operations = [op for op in function.body.block.ops if isinstance(op, TensorOperation)]
        self.last_use: dict[SSAValue, int] = {}
        for place, op in enumerate(self.operations):
            for operand in op.operands:
                self.last_use[operand] = place
        for result in self.results:
            self.last_use[result] = len(self.operations)

    def varies(self, value: SSAValue) -> tuple[bool, bool]:
        """Whether a value varies along the rows and along the columns of a tile."""
        spans = self.space.spans(type_of(value).shape)
        rows, columns = self.space.rows, self.space.columns
        return rows is not None and spans[rows], columns is not None and spans[columns]

    def split_at_reductions(self) -> tuple[list[TensorOperation], list[TensorOperation]]:
        """Operations up to and with the reductions, and those that read their results."""
        behind: set[SSAValue] = set()
        before_ops: list[TensorOperation] = []
        behind_ops: list[TensorOperation] = []
        for op in self.operations:
            late = any(operand in behind for operand in op.operands)
            (behind_ops if late else before_ops).append(op)
            if late or op.row.name == "reduce":
                behind.update(op.results)
        return before_ops, behind_ops

    @property
    def needs_whole_rows(self) -> bool:
        """Whether something behind a reduction still varies along the reduced axis."""
        _, behind = self.split_at_reductions()
        reduced = self.space.reduced
        return reduced is not None and any(
            self.space.spans(type_of(op.results[0]).shape)[reduced] for op in behind
        )

    def bytes_by_kind(self, slots: int) -> dict[tuple[bool, bool], int]:
        """Bytes per element of all tiles alive at once, for each way a tile can vary."""
        moved = {*self.inputs, *self.results}
        totals: dict[tuple[bool, bool], int] = {}
        for value in moved:
            kind = self.varies(value)
            totals[kind] = totals.get(kind, 0) + type_of(value).dtype.bytes * slots
        for kind in [(True, True), (True, False), (False, True)]:
            totals[kind] = totals.get(kind, 0) + self._peak(kind, moved)
        return totals

    def _peak(self, kind: tuple[bool, bool], moved: set[SSAValue]) -> int:
        """The largest sum of inner values of a kind that live at the same operation."""
        changes = [0] * (len(self.operations) + 2)
        for place, op in enumerate(self.operations):
            for result in op.results:
                if result not in moved and self.varies(result) == kind:
                    size = type_of(result).dtype.bytes
                    changes[place] += size
                    changes[self.last_use.get(result, place) + 1] -= size
            if self.varies(op.results[0]) == kind:
                widened = sum(
                    type_of(operand).dtype.bytes
                    for operand in dict.fromkeys(op.operands)
                    if self.varies(operand) != kind
                )
                changes[place] += widened
                changes[place + 1] -= widened
        return max(accumulate(changes))


def granule_of(values: Values) -> int:
    """Elements at multiples of which rows begin, for every element type of the kernel."""
    sizes = {
        type_of(value).dtype.bytes
        for value in (
            *values.inputs,
            *(result for op in values.operations for result in op.results),
        )
    }
    return 32 // min(sizes, default=4)


def problem_of(
    values: Values, extents: tuple[int, int, int], slots: int, machine: Soc
) -> VectorProblem:
    """The problem of a kernel over ``extents`` = (outer, rows, columns)."""
    outer, rows, columns = extents
    sizes, room = values.bytes_by_kind(slots), lowering_room(machine)
    moved = [v for v in (*values.inputs, *values.results) if values.varies(v)[1]]
    reduces = any(op.row.name == "reduce" for op in values.operations)
    names = [op.row.name for op in values.operations]
    kind = values.space.kind.value
    if kind == "row" and not values.needs_whole_rows:
        kind = "partial-row"
    return VectorProblem(
        kind=kind,
        outer=max(outer, 1),
        rows=max(rows, 1),
        columns=max(columns, 1),
        element_bytes=sizes.get((rows > 1, True), 0) + room.element,
        row_bytes=sizes.get((True, False), 0) + room.row + (room.reduced_row if reduces else 0),
        column_bytes=sizes.get((False, True), 0) if rows > 1 else 0,
        moved_bytes=max(1, sum(type_of(value).dtype.bytes for value in moved)),
        operations=sum(3 if name == "reduce" else 1 for name in names) or 1,
        granule=granule_of(values),
        fixed_bytes=room.reduction if reduces else 0,
    )
