"""Kernels of machine instructions as programs that run one instruction after another.

Before it is ordered a kernel says what is computed but not when. Here every instruction waits for
the one before, so that what is wrong is wrong with the instructions and their addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.dialects.func import FuncOp

from pypto.codegen import build_program
from pypto.dialects import tik
from pypto.dialects.emitter import Emitter
from pypto.dialects.tik_instructions import InstructionOp
from pypto.dialects.tik_laws import allocations
from pypto.passes.tik.place_buffers import ALIGNMENT
from pypto.target.dtypes import DType
from pypto.target.layouts import round_up
from pypto.target.memory import Pipe, Space
from pypto.target.program import Program
from pypto.target.soc import Soc


def stage_of(kernel: FuncOp) -> tik.Stage | None:
    """How far a kernel of instructions has come; None for a kernel of tiles."""
    stage = kernel.attributes.get(tik.STAGE)
    return tik.Stage(stage.data) if isinstance(stage, StringAttr) else None


def runnable(
    kernel: FuncOp, dtypes: Sequence[DType | None], machine: Soc
) -> tuple[Program, dict[Space, int]]:
    """A program with the results of a kernel, and the bytes of local memory it needs.

    An ordered kernel runs as it is. Virtual buffers get bytes of their own, placed ones stay.
    """
    if stage_of(kernel) is tik.Stage.ORDERED:
        return build_program(kernel, dtypes, machine), {}
    copy = kernel.clone()
    needed = _place(copy)
    for op in list(copy.walk()):
        if isinstance(op, InstructionOp):
            Emitter.after(op).op(tik.BarrierOp, Pipe.ALL)
    return build_program(copy, dtypes, machine), needed


def _place(kernel: FuncOp) -> dict[Space, int]:
    """Give virtual buffers addresses one behind another; the end of the last one per space."""
    top: dict[Space, int] = {}
    for op in allocations(kernel):
        if op.place is None:
            size = round_up(op.slot_bytes, ALIGNMENT[op.space])
            op.bytes = IntegerAttr(size, i64)
            op.address = IntegerAttr(top.get(op.space, 0), i64)
            top[op.space] = top.get(op.space, 0) + size * op.slot_count
    return top


def enlarged(machine: Soc, needed: dict[Space, int]) -> Soc:
    """The machine with at least so many bytes of each memory."""
    capacity = {space: max(size, needed.get(space, 0)) for space, size in machine.capacity.items()}
    return replace(machine, capacity=capacity, usable={**machine.usable, **capacity})
