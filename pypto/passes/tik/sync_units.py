"""The units of a block as the sync plan sees them: which cells each operation touches."""

from __future__ import annotations

import math
from typing import NamedTuple

from xdsl.dialects import arith, func, scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from pypto.dialects import tik
from pypto.dialects.emitter import folded
from pypto.dialects.scalars import constant_of
from pypto.dialects.tik_instructions import InstructionOp
from pypto.errors import CompileError
from pypto.passes.tik.memory_cells import MemoryCells, Range
from pypto.passes.tik.sync_plan import Access, Accumulation, Home, Shape, Unit, loop_rounds
from pypto.target.memory import PIPES, Pipe

# On a loop: its iterations touch different bytes of every buffer acquired outside of it.
DISJOINT = "tik.disjoint"

# How often the body of a branch is replayed: enough to meet itself again.
BRANCH_TURNS = 3


class Use(NamedTuple):
    """One use of a slot, or of a parameter in global memory, by a pipe."""

    holder: tik.SlotOp | BlockArgument
    pipe: int
    writes: bool
    accumulation: Accumulation | None = None


class KernelMemory:
    """Which cells the buffers of a placed kernel lie in, and who uses them."""

    def __init__(self, kernel: func.FuncOp) -> None:
        allocations = [op for op in kernel.body.block.ops if isinstance(op, tik.AllocOp)]
        self.cells = MemoryCells(
            slot_range(op, slot) for op in allocations for slot in range(op.slot_count)
        )
        self._uses: dict[Operation, tuple[Use, ...]] = {}
        self._parameters = {
            argument: self.cells.count + number
            for number, argument in enumerate(kernel.body.block.args)
        }
        uses = self.uses(kernel)
        read = {use.holder for use in uses if not use.writes}
        written = {use.holder for use in uses if use.writes}
        # Stores of one kernel to one tensor are disjoint: only a tensor that is also read matters.
        self._shared = {holder for holder in read & written if isinstance(holder, BlockArgument)}

    def uses(self, op: Operation) -> tuple[Use, ...]:
        """Every use by an operation and what it contains, each kind once."""
        if op not in self._uses:
            found: dict[Use, None] = {}
            if isinstance(op, InstructionOp):
                found = dict.fromkeys(_instruction_uses(op))
            for region in op.regions:
                for block in region.blocks:
                    for inner in block.ops:
                        plain = (use._replace(accumulation=None) for use in self.uses(inner))
                        found |= dict.fromkeys(plain)
            self._uses[op] = tuple(found)
        return self._uses[op]

    def unit(self, op: Operation, block: Block) -> Unit:
        """The accesses of an operation that stands in ``block``."""
        accesses: dict[Access, None] = {}
        for use in self.uses(op):
            if isinstance(use.holder, tik.SlotOp):
                home = _home(use.holder, op, block)
                cells = self._slot_cells(use.holder, block, home)
            elif use.holder in self._shared:
                home, cells = Home.OUTSIDE, ((self._parameters[use.holder],),)
            else:
                continue
            access = Access(cells, use.pipe, use.writes, home, use.accumulation)
            accesses[access] = None
        return tuple(accesses)

    def _slot_cells(
        self, slot: tik.SlotOp, block: Block, home: Home
    ) -> tuple[tuple[int, ...], ...]:
        allocation = slot.allocation
        count = allocation.slot_count
        each = [self.cells.of(slot_range(allocation, number)) for number in range(count)]
        number = folded(slot.index)
        if isinstance(number, int):
            return (each[number],)
        if home is Home.HERE and rotates(number, block, count):
            return tuple(each)
        return (tuple(cell for cells in each for cell in cells),)


def slot_range(allocation: tik.AllocOp, slot: int) -> Range:
    """The bytes of one slot of a placed buffer."""
    if allocation.place is None:
        raise CompileError(
            "INVALID_IR",
            f"buffer {allocation.label.data} has no address",
            fix="run place-buffers before insert-sync",
        )
    start = allocation.place + slot * allocation.slot_bytes
    return Range(allocation.space, start, start + allocation.slot_bytes)


def rotates(index: SSAValue, block: Block, slots: int) -> bool:
    """Whether ``index`` is the induction variable of the loop around ``block`` mod ``slots``."""
    owner = index.owner
    return (
        isinstance(owner, arith.RemUIOp | arith.RemSIOp)
        and isinstance(block.parent_op(), scf.ForOp)
        and owner.lhs is block.args[0]
        and constant_of(owner.rhs) == slots
    )


def units_of(block: Block, memory: KernelMemory) -> tuple[list[Operation], list[Unit]]:
    """The operations of a block that touch memory, and what each touches."""
    operations: list[Operation] = []
    units: list[Unit] = []
    for op in block.ops:
        if memory.uses(op):
            operations.append(op)
            units.append(memory.unit(op, block))
    return operations, units


def shape_of(block: Block, units: list[Unit]) -> Shape:
    """How often a block runs, as far as conflicts between its units depend on it."""
    parent = block.parent_op()
    nested = parent is not None and inside_loop(parent)
    if isinstance(parent, scf.ForOp):
        period = math.lcm(1, *(len(access.cells) for unit in units for access in unit))
        rounds = loop_rounds(period, trip_count(parent), nested)
        return Shape(rounds, DISJOINT in parent.attributes)
    return Shape((BRANCH_TURNS,) if nested else (1,))


def inside_loop(op: Operation) -> bool:
    """Whether an operation may run several times in one run of its kernel."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, scf.ForOp):
            return True
        parent = parent.parent_op()
    return False


def trip_count(loop: scf.ForOp) -> int | None:
    """How often the body runs, None when it is known at launch only."""
    bounds = [constant_of(value) for value in (loop.lb, loop.ub, loop.step)]
    lower, upper, step = bounds
    if lower is None or upper is None or step is None:
        return None
    return max(0, -(-(upper - lower) // step))


def _instruction_uses(op: InstructionOp) -> list[Use]:
    pipe = PIPES.index(op.row.pipe)
    uses = []
    for field, pointer in op.address_fields():
        slot = tik.slot_of(pointer)
        holder = _parameter_of(pointer) if slot is None else slot
        accumulates = op.row.pipe is Pipe.M and field.role == "rw"
        accumulation = _accumulation(op, pointer) if accumulates else None
        uses += [Use(holder, pipe, role == "w", accumulation) for role in field.role]
    return uses


def _parameter_of(pointer: SSAValue) -> BlockArgument:
    owner = pointer.owner
    while isinstance(owner, tik.OffsetOp):
        pointer = owner.pointer
        owner = pointer.owner
    if not isinstance(pointer, BlockArgument):
        raise CompileError("INVALID_IR", f"{pointer} points neither into a slot nor to a parameter")
    return pointer


def _accumulation(op: InstructionOp, pointer: SSAValue) -> Accumulation | None:
    """What a mad adds to; None when it always overwrites."""
    init = op.field("c_init")
    if not isinstance(init, int):
        init = constant_of(init)
    if init == 1:
        return None
    rows, columns = op.field("m"), op.field("n")
    return Accumulation(pointer, _folded(rows), _folded(columns))


def _folded(value: int | SSAValue) -> int | SSAValue:
    return value if isinstance(value, int) else folded(value)


def _home(slot: tik.SlotOp, op: Operation, block: Block) -> Home:
    if slot.parent is block:
        return Home.HERE
    parent = slot.parent_op()
    while parent is not None:
        if parent is op:
            return Home.INSIDE
        parent = parent.parent_op()
    return Home.OUTSIDE
