"""plan-memory: temporaries of @main share global memory when they live at different times."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from pypto.dialects import host
from pypto.passes.base import Pass
from pypto.passes.tik.packing import Interval, pack
from pypto.target.executable import allocated_bytes

# Transfers from addresses that are not multiples of this lose bandwidth.
ALIGNMENT = 512


@dataclass(frozen=True)
class PlanMemory(Pass):
    """Give every temporary of a static size an offset in one pool, first fit by liveness."""

    name = "plan-memory"
    exact: ClassVar[bool] = True
    requires: ClassVar[str] = "@main allocates buffers and launches kernels"
    ensures: ClassVar[str] = "temporaries that live at once do not overlap"

    def apply(self, context: Context, module: ModuleOp) -> None:
        for function in module.ops:
            if isinstance(function, FuncOp) and function.sym_name.data == host.MAIN:
                plan(function)


def plan(main: FuncOp) -> None:
    """Set the offsets of the temporaries of one function."""
    place = {op: index for index, op in enumerate(main.body.block.ops)}
    allocations = [
        op
        for op in place
        if isinstance(op, host.AllocOp) and op.role.data == "temporary" and not op.extents
    ]
    intervals = []
    for op in allocations:
        last = max([place[op], *(place[user] for user in users(op.result))])
        shape = host.buffer_type(op.result)
        size = allocated_bytes(prod(shape.shape) * shape.dtype.bytes)
        intervals.append(Interval(place[op], last, size))
    for op, offset in zip(allocations, pack(intervals, ALIGNMENT), strict=True):
        op.offset = IntegerAttr(offset, i64)


def users(buffer: SSAValue) -> list[Operation]:
    """The operations that use a buffer, also through views."""
    found: list[Operation] = []
    for use in buffer.uses:
        found.append(use.operation)
        if isinstance(use.operation, host.ViewOp):
            found.extend(users(use.operation.result))
    return found
