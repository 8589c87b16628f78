"""prefetch: the loads of a loop's next turn are dispatched before the work of this one.

The scalar unit dispatches in program order into bounded queues, so loads that stand behind the
work of a turn are not even queued while that work fills the queues. Moving them ahead by one turn
leaves the order of every pipe as it is, flags included, and so all that happens-before says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from pypto.dialects import tik
from pypto.dialects.emitter import Emitter
from pypto.dialects.scalars import constant_of
from pypto.dialects.tik_instructions import InstructionOp
from pypto.passes.base import Pass
from pypto.passes.tik.kernels import kernels_at
from pypto.target.memory import Pipe


@dataclass(frozen=True)
class Prefetch(Pass):
    """Dispatch the transfers from global memory one turn of their loop ahead."""

    name = "prefetch"
    exact: ClassVar[bool] = True
    requires: ClassVar[str] = "kernels at tik level, ordered"
    ensures: ClassVar[str] = "every pipe has its instructions, flags and barriers in the same order"

    def apply(self, context: Context, module: ModuleOp) -> None:
        for kernel in kernels_at(module, tik.Stage.ORDERED):
            for loop in [op for op in kernel.walk(reverse=True) if isinstance(op, scf.ForOp)]:
                loads = loads_of(loop)
                if loads:
                    turn_ahead(loop, loads)


def pipes_of(op: Operation) -> set[Pipe]:
    """The queues an operation and those inside it go to."""
    found: set[Pipe] = set()
    for inner in op.walk():
        if isinstance(inner, InstructionOp):
            found.add(inner.row.pipe)
        elif isinstance(inner, tik.SetFlagOp):
            found.add(inner.source)
        elif isinstance(inner, tik.WaitFlagOp):
            found.add(inner.target)
        elif isinstance(inner, tik.BarrierOp):
            found.add(inner.pipe)
    return found


def loads_of(loop: scf.ForOp) -> list[Operation]:
    """What may be dispatched a turn ahead: all that goes to MTE2, or nothing.

    What it waits for must have been dispatched by then, whatever room the queues have: a slot
    that the turn before the last gave back.
    """
    body = loop.body.block
    pipes = {op: pipes_of(op) for op in body.ops}
    loads = [op for op, found in pipes.items() if found == {Pipe.MTE2}]
    others = {pipe for op, found in pipes.items() if op not in loads for pipe in found}
    if loop.iter_args or not others or others & {Pipe.MTE2, Pipe.S, Pipe.ALL}:
        return []
    if constant_of(loop.step) != 1:
        return []
    if not any(isinstance(inner, InstructionOp) for op in loads for inner in op.walk()):
        return []
    waits = [op for op in body.walk() if isinstance(op, tik.WaitFlagOp) and op.target is Pipe.MTE2]
    return loads if all(turns_with(wait, body) for wait in waits) else []


def turns_with(wait: tik.WaitFlagOp, body: Block) -> bool:
    """Whether the event was last given back at least two turns of the loop ago.

    It is the number of the turn modulo two or more, and the set that gives it back stands behind
    the wait in every turn.
    """
    event = wait.event_id
    if wait.parent_block() is not body or isinstance(event, int) or not rotates(event, body):
        return False
    sets = [
        op
        for op in body.walk()
        if isinstance(op, tik.SetFlagOp) and (op.source, op.target) == (wait.source, wait.target)
    ]
    return all(op.parent_block() is body and wait.is_before_in_block(op) for op in sets) and any(
        op.event_id is event for op in sets
    )


def rotates(event: SSAValue, body: Block) -> bool:
    """Whether a value is a constant plus the turn of the loop modulo two or more."""
    owner = event.owner
    if isinstance(owner, arith.AddiOp) and constant_of(owner.rhs) is not None:
        owner = owner.lhs.owner
    if not isinstance(owner, arith.RemUIOp) or owner.lhs is not body.args[0]:
        return False
    return (constant_of(owner.rhs) or 0) >= 2


def turn_ahead(loop: scf.ForOp, loads: list[Operation]) -> None:
    """Dispatch the loads of the first turn before the loop, those of the next one in each turn."""
    body = loop.body.block
    needed = list(with_operands(body, loads))
    before = Emitter.before(loop)
    with before.if_(is_less(before, loop.lb, loop.ub)):
        repeat(before, needed, body.args[0], loop.lb)
    inside = Emitter(InsertPoint.at_start(body), loop.location)
    following = inside.value(arith.AddiOp, body.args[0], loop.step)
    with inside.if_(is_less(inside, following, loop.ub)):
        repeat(inside, needed, body.args[0], following)
    for op in loads:
        op.detach()
        op.erase()
    for op in reversed(needed):
        if op not in loads and not any(result.uses for result in op.results):
            op.detach()
            op.erase()


def with_operands(body: Block, loads: list[Operation]) -> Iterator[Operation]:
    """The loads and the operations of the body whose results they use, in order."""
    wanted = set(loads)
    for op in reversed(list(body.ops)):
        if op not in wanted:
            continue
        for inner in op.walk():
            for operand in inner.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner.parent_block() is body:
                    wanted.add(owner)
    return (op for op in list(body.ops) if op in wanted)


def is_less(emitter: Emitter, a: SSAValue, b: SSAValue) -> bool | SSAValue:
    """a < b, as a condition."""
    known = constant_of(a), constant_of(b)
    if known[0] is not None and known[1] is not None:
        return known[0] < known[1]
    return emitter.value(arith.CmpiOp, a, b, "slt")


def repeat(emitter: Emitter, operations: list[Operation], turn: SSAValue, value: SSAValue) -> None:
    """Copies of operations for another turn of their loop."""
    values = {turn: value}
    for op in operations:
        emitter.insert(op.clone(values))
