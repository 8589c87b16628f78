"""Runs instructions made by lowering functions, on their meanings, without a tile kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr, i64
from xdsl.ir import Block, Region, SSAValue

from pypto.dialects import tik
from pypto.dialects.emitter import Emitter
from pypto.passes.tik.lowering_state import Lowering
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.memory import Space
from pypto.target.soc import soc
from tests.codegen.machines import IrMachine, Trace

Body = Callable[[Lowering, SSAValue], None]


def trace_of(body: Body, machine: str, number: int = 0) -> Trace:
    """What ``body(state, scalar)`` emits for a scalar argument; buffers lie behind each other."""
    parts = [Block(), Block(), Block(arg_types=[IndexType()])]
    allocations, prologue, main = map(Emitter.at_end, parts)
    state = Lowering(main, allocations, prologue, "kernel", 16, 1, soc(machine))
    body(state, parts[2].args[0])
    entry = Block(arg_types=[IndexType()])
    parts[2].args[0].replace_all_uses_with(entry.args[0])
    address = 0
    for part in parts:
        for op in list(part.ops):
            op.detach()
            entry.add_op(op)
            if isinstance(op, tik.AllocOp):
                op.address = IntegerAttr(address, i64)
                address += op.slot_bytes * op.slot_count
    entry.add_op(func.ReturnOp())
    kernel = func.FuncOp("kernel", FunctionType.from_lists([IndexType()], []), Region(entry))
    return IrMachine(kernel, [number], 0, 1).trace


def run_on(memory: np.ndarray, trace: Trace) -> None:
    """The instructions one after the other on the bytes of UB."""
    for mnemonic, fields in trace:
        row = BY_MNEMONIC[mnemonic]
        row.meaning({Space.UB: memory}, row.family.tuple_type(**fields), row)
