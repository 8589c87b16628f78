"""The laws of kernels in machine instructions, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Operation

from pypto.dialects import tik
from pypto.dialects.laws import BrokenLaw
from pypto.dialects.tik_instructions import InstructionOp
from pypto.errors import PyptoError
from pypto.target.limits import check_fields, refusal
from pypto.target.memory import Pipe, Space
from pypto.target.soc import Soc

Law = Callable[[func.FuncOp, Soc], None]
SYNCHRONISATION = (tik.SetFlagOp, tik.WaitFlagOp, tik.BarrierOp)


def allocations(kernel: func.FuncOp) -> list[tik.AllocOp]:
    """The local buffers of a kernel."""
    return [op for op in kernel.walk() if isinstance(op, tik.AllocOp)]


def buffers_stand_in_the_entry_block(kernel: func.FuncOp, machine: Soc) -> None:
    """Local buffers are allocated once, at the top of the kernel."""
    for op in allocations(kernel):
        if op.parent_block() is not kernel.body.block:
            raise BrokenLaw(op, "a buffer is allocated inside a loop or a branch")


def instructions_are_within_limits(kernel: func.FuncOp, machine: Soc) -> None:
    """The machine takes every instruction, as far as its fields are known."""
    for op in kernel.walk():
        if not isinstance(op, InstructionOp):
            continue
        complaint = refusal(op.row.mnemonic, machine)
        if complaint is not None:
            raise BrokenLaw(op, complaint)
        known = {field.name: value for field, value in op.items() if isinstance(value, int)}
        try:
            check_fields(op.row, known, machine)
        except PyptoError as error:
            raise BrokenLaw(op, error.message) from error


def rows_have_a_source_line(kernel: func.FuncOp, machine: Soc) -> None:
    """Every operation that becomes a row of the program knows where it comes from."""
    for op in kernel.walk():
        becomes_row = not isinstance(op, func.FuncOp | arith.ConstantOp | scf.YieldOp)
        if becomes_row and isinstance(op.location, UnknownLoc):
            raise BrokenLaw(op, "the operation has no source location")


def nothing_is_placed(kernel: func.FuncOp, machine: Soc) -> None:
    """No buffer of a virtual kernel has an address."""
    for op in allocations(kernel):
        if op.place is not None:
            raise BrokenLaw(op, f"buffer {op.label.data} has an address before it is placed")


def nothing_is_ordered(kernel: func.FuncOp, machine: Soc) -> None:
    """Flags and barriers come last, once every buffer has its place."""
    for op in kernel.walk():
        if isinstance(op, SYNCHRONISATION):
            raise BrokenLaw(op, "a flag or barrier stands in a kernel that is not ordered yet")


def buffers_lie_in_usable_memory(kernel: func.FuncOp, machine: Soc) -> None:
    """Every buffer has an address and ends before the part of its memory that is reserved."""
    for op in allocations(kernel):
        if op.place is None:
            raise BrokenLaw(op, f"buffer {op.label.data} has no address")
        end = op.place + op.slot_bytes * op.slot_count
        if end > machine.usable[op.space]:
            raise BrokenLaw(
                op,
                f"buffer {op.label.data} ends at byte {end} of {op.space}; "
                f"{machine.name} has {machine.usable[op.space]} usable",
            )


def buffers_in_use_do_not_overlap(kernel: func.FuncOp, machine: Soc) -> None:
    """Two buffers share bytes only if one is done with before the other is first touched.

    An instruction may read one for the last time and write the other for the first.
    """
    spaces: dict[Space, list[_Placed]] = {}
    lives = _lives(kernel)
    for op in allocations(kernel):
        if op in lives and op.place is not None:
            first, last = lives[op]
            end = op.place + op.slot_bytes * op.slot_count
            spaces.setdefault(op.space, []).append(_Placed(op.place, end, first, last, op))
    for space, placed in spaces.items():
        placed.sort(key=lambda one: one.start)
        for position, one in enumerate(placed):
            for other in placed[position + 1 :]:
                if other.start >= one.end:
                    break
                if one.first < other.last and other.first < one.last:
                    raise BrokenLaw(
                        other.op,
                        f"buffers {one.op.label.data} and {other.op.label.data} of {space} "
                        "overlap while both are in use",
                    )


class _Placed(NamedTuple):
    """The bytes of a buffer, and the first and last position at which it is touched."""

    start: int
    end: int
    first: int
    last: int
    op: tik.AllocOp


def _lives(kernel: func.FuncOp) -> dict[tik.AllocOp, tuple[int, int]]:
    """First and last position at which each buffer is touched.

    A slot taken outside of a loop and touched inside it is in use for the whole loop.
    """
    ends: dict[Operation, tuple[int, int]] = {}
    _number(kernel, 0, ends)
    lives: dict[tik.AllocOp, tuple[int, int]] = {}
    for op in kernel.walk():
        if not isinstance(op, InstructionOp):
            continue
        for _, pointer in op.address_fields():
            slot = tik.slot_of(pointer)
            if slot is None:
                continue
            first, last = ends[_child_beside(slot, op)]
            known = lives.get(slot.allocation, (first, last))
            lives[slot.allocation] = min(first, known[0]), max(last, known[1])
    return lives


def _number(op: Operation, position: int, ends: dict[Operation, tuple[int, int]]) -> int:
    start = position
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                position = _number(inner, position + 1, ends)
    ends[op] = start, position
    return position


def _child_beside(slot: Operation, user: Operation) -> Operation:
    """The operation in the block of ``slot`` that is or holds ``user``."""
    while user.parent_block() is not slot.parent_block():
        outer = user.parent_op()
        if outer is None:
            return user
        user = outer
    return user


def kernels_end_with_a_barrier(kernel: func.FuncOp, machine: Soc) -> None:
    """The last thing an ordered kernel does is wait for all its pipes."""
    last = kernel.body.block.last_op
    barrier = None if last is None else last.prev_op
    if not isinstance(barrier, tik.BarrierOp) or barrier.pipe is not Pipe.ALL:
        raise BrokenLaw(kernel, "an ordered kernel ends with `tik.barrier all`")


def events_are_the_programs_own(kernel: func.FuncOp, machine: Soc) -> None:
    """Event numbers known ahead are below those reserved for the system."""
    limit = machine.event_ids - machine.reserved_event_ids
    for op in kernel.walk():
        event = op.event_id if isinstance(op, tik.FlagOp) else 0
        if isinstance(event, int) and not 0 <= event < limit:
            raise BrokenLaw(op, f"event {event}; a program has events 0..{limit - 1}")


COMMON: tuple[Law, ...] = (
    buffers_stand_in_the_entry_block,
    instructions_are_within_limits,
    rows_have_a_source_line,
)
PLACED: tuple[Law, ...] = (*COMMON, buffers_lie_in_usable_memory, buffers_in_use_do_not_overlap)
STAGE_LAWS: dict[tik.Stage, tuple[Law, ...]] = {
    tik.Stage.VIRTUAL: (*COMMON, nothing_is_placed, nothing_is_ordered),
    tik.Stage.PLACED: (*PLACED, nothing_is_ordered),
    tik.Stage.ORDERED: (*PLACED, kernels_end_with_a_barrier, events_are_the_programs_own),
}
