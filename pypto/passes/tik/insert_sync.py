"""placed -> ordered: flags between pipes and barriers within one, so that all conflicts wait.

Every block is planned on its own (``sync_plan``), a nested loop being one unit of the block around
it. A ring of flags lends out the slots of a buffer: its tokens are set before the outermost loop
and collected behind it, so that slots stay lent across all loops.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from pypto.dialects import tik
from pypto.dialects.emitter import Emitter, Index, folded
from pypto.dialects.locations import source_of
from pypto.dialects.scalars import constant_of
from pypto.errors import CompileError
from pypto.passes.base import Pass
from pypto.passes.tik.kernels import core_of, kernels_at, mark_stage, soc_of
from pypto.passes.tik.sync_events import (
    EventsExhausted,
    KernelPlan,
    assign_events,
    flags,
    join_pipes,
)
from pypto.passes.tik.sync_plan import (
    ALL_PIPES,
    Access,
    Accumulation,
    Group,
    Kind,
    Plan,
    Unit,
    plan_block,
)
from pypto.passes.tik.sync_units import KernelMemory, shape_of, units_of
from pypto.target.clocks import EVENT_PAIRS, ORDERED_FRACTALS
from pypto.target.memory import PIPES, Pipe
from pypto.target.soc import Soc

# On a kernel: how many barriers of all pipes stand for flags that found no event, and how often two
# pipes wait for each other so that their events are free again.
BARRIERS = "sync.barriers"
JOINS = "sync.joins"


@dataclass
class BlockPlan:
    """A block, its operations that touch memory, and what orders them."""

    block: Block
    operations: list[Operation]
    units: list[Unit]
    plan: Plan


@dataclass(frozen=True)
class InsertSync(Pass):
    """Order all conflicting instructions of placed kernels by flags and barriers."""

    name = "insert-sync"
    exact: ClassVar[bool] = True
    requires: ClassVar[str] = "every buffer of a kernel has an address"
    ensures: ClassVar[str] = "happens-before orders all conflicts; flags balance for any trip count"

    def apply(self, context: Context, module: ModuleOp) -> None:
        soc = soc_of(module)
        for kernel in kernels_at(module, tik.Stage.PLACED):
            _order(kernel, soc)
            mark_stage(kernel, tik.Stage.ORDERED)


def _order(kernel: func.FuncOp, soc: Soc) -> None:
    memory = KernelMemory(kernel)
    plans = [_planned(block, memory) for block in _blocks(kernel)]
    plans = [one for one in plans if one.operations]
    first = _events(plans, soc.event_ids - soc.reserved_event_ids, EVENT_PAIRS[core_of(kernel)])
    _check_pairs(kernel, plans)
    _say_what_stands_for_flags(kernel, plans)
    for one in plans:
        _Writer(one, first).write()
    end = kernel.body.block.last_op
    if end is not None:
        Emitter.before(end).op(tik.BarrierOp, Pipe.ALL)


def _blocks(op: Operation) -> Iterator[Block]:
    """The blocks of an operation, the outer before the inner."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.ops:
                yield from _blocks(inner)


def _planned(block: Block, memory: KernelMemory) -> BlockPlan:
    operations, units = units_of(block, memory)
    return BlockPlan(block, operations, units, plan_block(units, shape_of(block, units)))


def _check_pairs(kernel: func.FuncOp, plans: list[BlockPlan]) -> None:
    legal = EVENT_PAIRS[core_of(kernel)]
    for one in plans:
        for group in flags([one.plan]):
            source, target = PIPES[group.source_pipe], PIPES[group.target_pipe]
            if (source, target) not in legal:
                raise CompileError(
                    "SYNC_NO_PATH",
                    f"{kernel.sym_name.data}: a {core_of(kernel)} core has no event from pipe"
                    f" {source} to {target}",
                    location=source_of(one.operations[group.target]),
                    fix="move the data through a buffer of another pipe in between",
                )


def _say_what_stands_for_flags(kernel: func.FuncOp, plans: list[BlockPlan]) -> None:
    waits = [group for one in plans for groups in one.plan.before for group in groups]
    stops = sum(group.target_pipe == ALL_PIPES for group in waits)
    joins = sum(group.kind is Kind.JOIN for group in waits)
    for name, count in ((BARRIERS, stops), (JOINS, joins)):
        if count:
            kernel.attributes[name] = IntegerAttr(count, i64)


def _events(
    plans: list[BlockPlan], available: int, legal: Collection[tuple[Pipe, Pipe]]
) -> dict[Group, int]:
    """Event numbers, shared or given up where they do not suffice.

    First two pipes wait for each other between operations of the kernel's own block, which parts
    the flags before from those behind. A block whose own flags do not fit is planned anew with one
    token per buffer; where that does not help, the pipes wait for each other within it, or all
    pipes do when there is no event for the way back.
    """
    units = [plans[0].operations.index(_outermost(one.block)) for one in plans[1:]]
    while True:
        kernel = KernelPlan([one.plan for one in plans], units)
        try:
            return assign_events(kernel, available)
        except EventsExhausted as error:
            pair = error.pair
            can_join = (PIPES[pair[1]], PIPES[pair[0]]) in legal
            if can_join and join_pipes(kernel, pair, available):
                continue
            crowd = [plans[position] for position in error.plans]
            widest = max(crowd, key=lambda one, pair=pair: _rotating(one.plan, pair))
            if _rotating(widest.plan, pair):
                widest.units = [_without_rotation(unit) for unit in widest.units]
                widest.plan = plan_block(widest.units, shape_of(widest.block, widest.units))
            else:
                _stop_once(crowd[0].plan, pair, can_join)


def _stop_once(plan: Plan, pair: tuple[int, int], can_join: bool) -> None:
    first = next(
        group
        for group in plan.groups()
        if group.kind is not Kind.JOIN and any(flag.pair == pair for flag in group.flags())
    )
    if can_join:
        plan.join(first.target, pair)
    else:
        plan.stop_all(first)


def _rotating(plan: Plan, pair: tuple[int, int]) -> int:
    return sum(g.slots for g in flags([plan]) if g.pair == pair and g.slots > 1)


def _without_rotation(unit: Unit) -> Unit:
    """The same unit, as if every execution touched all slots."""

    def whole(access: Access) -> Access:
        return access._replace(cells=(tuple(c for cells in access.cells for c in cells),))

    return tuple(whole(access) for access in unit)


class _Writer:
    """Writes the plan of one block into the IR."""

    def __init__(self, one: BlockPlan, first: dict[Group, int]) -> None:
        self.one = one
        self.first = first
        self.numbers: dict[tuple[int, int], SSAValue] = {}

    def write(self) -> None:
        rings = [flag for flag in flags([self.one.plan]) if flag.kind is Kind.RING]
        plan = self.one.plan
        for op, before, after in zip(self.one.operations, plan.before, plan.after, strict=True):
            emitter = Emitter.before(op)
            for group in before:
                if group.kind is Kind.BARRIER:
                    _barrier(emitter, group)
                elif group.kind is Kind.JOIN:
                    for flag in group.flags():
                        self._flag(emitter, tik.SetFlagOp, flag)
                        self._flag(emitter, tik.WaitFlagOp, flag)
                else:
                    self._flag(emitter, tik.WaitFlagOp, group)
                    if group.back is not None:
                        self._flag(emitter, tik.SetFlagOp, group.back)
            emitter = Emitter.after(op)
            for group in after:
                if group.back is not None:
                    self._flag(emitter, tik.WaitFlagOp, group.back)
                self._flag(emitter, tik.SetFlagOp, group)
        if rings:
            outermost = _outermost(self.one.block)
            lend, collect = Emitter.before(outermost), Emitter.after(outermost)
            for ring in sorted(rings, key=lambda group: (group.pair, self.first[group])):
                pipes = PIPES[ring.source_pipe], PIPES[ring.target_pipe]
                for number in range(self.first[ring], self.first[ring] + ring.slots):
                    lend.op(tik.SetFlagOp, *pipes, number)
                    collect.op(tik.WaitFlagOp, *pipes, number)

    def _flag(self, emitter: Emitter, kind: type[tik.FlagOp], group: Group) -> None:
        pipes = PIPES[group.source_pipe], PIPES[group.target_pipe]
        number: Index = self.first[group]
        if group.slots > 1:
            number = self._number(group.slots, self.first[group])
        emitter.op(kind, *pipes, number)

    def _number(self, slots: int, first: int) -> SSAValue:
        """``first`` + the number of the execution mod ``slots``, made at the top of the block."""
        if (slots, first) not in self.numbers:
            turn = self._turn(slots)
            if first:
                emitter = Emitter.after(turn)
                value = emitter.index(emitter.add(turn.result, first))
            else:
                value = turn.result
            self.numbers[slots, first] = value
        return self.numbers[slots, first]

    def _turn(self, slots: int) -> arith.RemUIOp:
        """The operation that gives the number of the execution mod ``slots``."""
        block = self.one.block
        turn = block.args[0]
        for op in block.ops:
            if op is self.one.operations[0]:
                break
            if isinstance(op, arith.RemUIOp) and op.lhs is turn and constant_of(op.rhs) == slots:
                return op
        emitter = Emitter(InsertPoint.at_start(block), self.one.operations[0].location)
        return emitter.op(arith.RemUIOp, turn, emitter.index(slots))


def _barrier(emitter: Emitter, group: Group) -> None:
    """A barrier, unless the cube orders the accumulation itself."""
    size = group.unless
    if size is None or _is_static(size):
        emitter.op(tik.BarrierOp, PIPES[group.target_pipe])
        return
    rows = emitter.floor_div(_index(size.rows), 16)
    columns = emitter.floor_div(_index(size.columns), 16)
    with emitter.if_(emitter.compare_lt(emitter.mul(rows, columns), ORDERED_FRACTALS)):
        emitter.op(tik.BarrierOp, PIPES[group.target_pipe])


def _is_static(size: Accumulation) -> bool:
    return isinstance(size.rows, int) and isinstance(size.columns, int)


def _index(value: object) -> Index:
    if not isinstance(value, int | SSAValue):
        raise TypeError(f"{value} is no extent")
    return folded(value)


def _outermost(block: Block) -> Operation:
    """The operation of the kernel's own block that contains ``block``."""
    op = block.parent_op()
    while op is not None and not isinstance(op.parent_op(), func.FuncOp):
        op = op.parent_op()
    if not isinstance(op, scf.ForOp | scf.IfOp):
        raise CompileError("INVALID_IR", "a block that runs once needs no ring of flags")
    return op
