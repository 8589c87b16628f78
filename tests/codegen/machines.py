"""Two plain interpreters of one kernel: of its tik IR, and of the Program made from it.

Both give the trace of everything but scalar work: every instruction with all its fields, mode
registers included, and every flag and barrier.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, func, scf
from xdsl.ir import Block, Operation, SSAValue

from pypto.dialects import tik
from pypto.dialects.scalars import SCALAR_MEANINGS, SCALAR_OPERATIONS, constant_of
from pypto.dialects.tik_instructions import InstructionOp
from pypto.target.instructions.scalar import ZERO_AT_LAUNCH, ScalarKind
from pypto.target.memory import PIPES
from pypto.target.program import Program
from pypto.target.rows import MASK_COLUMN, OPCODE_COLUMN, OPERAND_COLUMN, forms_by_opcode

Trace = list[tuple[Any, ...]]

COMPARISONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}
BRANCHES = {"beq": "eq", "bne": "ne", "blt": "slt", "bge": "sge"}


class IrMachine:
    """Interprets the tik IR of a kernel."""

    def __init__(self, kernel: func.FuncOp, arguments: list[int], block: int, blocks: int) -> None:
        self.values: dict[SSAValue, int] = dict(zip(kernel.body.block.args, arguments, strict=True))
        self.block, self.blocks = block, blocks
        self.trace: Trace = []
        self.run(kernel.body.block)

    def run(self, block: Block) -> list[int]:
        yielded: list[int] = []
        for op in block.ops:
            if isinstance(op, scf.YieldOp):
                yielded = [self.values[value] for value in op.operands]
            else:
                self.step(op, [self.values[v] for v in op.operands if v in self.values])
        return yielded

    def step(self, op: Operation, operands: list[int]) -> None:
        match op:
            case arith.ConstantOp():
                self.define(op, constant_of(op.result))
            case tik.BlockIndexOp():
                self.define(op, self.block)
            case tik.BlockCountOp():
                self.define(op, self.blocks)
            case tik.SlotOp():
                self.define(op, op.allocation.place + operands[-1] * op.allocation.slot_bytes)
            case tik.OffsetOp():
                self.define(op, sum(operands))
            case tik.CompareOp():
                self.define(op, SCALAR_MEANINGS[op.kind.data.value](*operands))
            case arith.CmpiOp():
                name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
                self.define(op, int(COMPARISONS[name](*operands)))
            case scf.ForOp():
                self.loop(op)
            case scf.IfOp():
                regions = [op.false_region, op.true_region]
                chosen = regions[self.values[op.cond]]
                results = self.run(chosen.block) if chosen.blocks else []
                self.values.update(zip(op.results, results, strict=True))
            case InstructionOp():
                fields = {
                    f.name: v if isinstance(v, int) else self.values[v] for f, v in op.items()
                }
                self.trace.append((op.row.mnemonic, fields))
            case tik.SetFlagOp() | tik.WaitFlagOp():
                event = operands[0] if operands else op.event_id
                self.trace.append((op.name.split(".")[1], op.source, op.target, event))
            case tik.BarrierOp():
                self.trace.append(("pipe_barrier", op.pipe))
            case tik.AllocOp() | func.ReturnOp():
                pass
            case _:
                self.define(op, SCALAR_MEANINGS[SCALAR_OPERATIONS[type(op)]](*operands))

    def define(self, op: Operation, value: int) -> None:
        self.values[op.results[0]] = value

    def loop(self, op: scf.ForOp) -> None:
        lower, upper, step, *carried = (self.values[value] for value in op.operands)
        for turn in range(lower, upper, step):
            self.values.update(zip(op.body.block.args, [turn, *carried], strict=True))
            carried = self.run(op.body.block)
        self.values.update(zip(op.results, carried, strict=True))


class ProgramMachine:
    """Interprets the scalar rows of a Program; every register starts with rubbish."""

    def __init__(self, program: Program, arguments: list[int], block: int, blocks: int) -> None:
        self.program, self.arguments = program, arguments
        self.registers = [block, blocks, *range(-30_000, -29_970)]
        self.state: dict[str, int] = dict.fromkeys(ZERO_AT_LAUNCH, 0)
        self.trace: Trace = []
        self.steps = 0
        place = 0
        while place >= 0:
            place = self.step(place)

    def step(self, place: int) -> int:
        """Runs one row and gives the next place, -1 at the end."""
        self.steps += 1
        row = [int(column) for column in self.program.rows[place]]
        form = forms_by_opcode()[row[OPCODE_COLUMN]]
        columns = row[OPERAND_COLUMN:]
        values = {
            operand.name: self.registers[columns[j]] if row[MASK_COLUMN] >> j & 1 else columns[j]
            for j, operand in enumerate(form.operands)
        }
        if form.row is not None:
            for field in form.row.fields:
                if field.state:
                    values[field.name] = self.state[field.state]
            self.trace.append((form.mnemonic, values))
            return place + 1
        match form.kind:
            case ScalarKind.END:
                return -1
            case ScalarKind.JUMP:
                return values["label"]
            case ScalarKind.BRANCH:
                holds = COMPARISONS[BRANCHES[form.mnemonic]](values["a"], values["b"])
                return values["label"] if holds else place + 1
            case ScalarKind.LOAD:
                self.registers[values["rd"]] = self.arguments[values["parameter"]]
            case ScalarKind.STATE:
                for name, source in form.operation.state:
                    self.state[name] = values[source] if isinstance(source, str) else source
            case ScalarKind.SET_FLAG | ScalarKind.WAIT_FLAG:
                pipes = PIPES[values["source"]], PIPES[values["target"]]
                self.trace.append((form.mnemonic, *pipes, values["id"]))
            case ScalarKind.BARRIER:
                self.trace.append((form.mnemonic, PIPES[values["pipe"]]))
            case _ if form.mnemonic == "mov":
                self.registers[values["rd"]] = values["a"]
            case _:
                meaning = SCALAR_MEANINGS[form.mnemonic]
                self.registers[values["rd"]] = meaning(values["a"], values["b"])
        return place + 1
