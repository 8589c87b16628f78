"""One kernel function at the tik level, with addresses in place, becomes one Program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from pypto.codegen.liveness import (
    Lives,
    analyse,
    branch_operands,
    is_carried,
    loop_depth,
    scalar_mnemonic,
)
from pypto.codegen.registers import (
    BLOCK_COUNT,
    BLOCK_INDEX,
    OutOfRegisters,
    Place,
    Registers,
    parallel_moves,
)
from pypto.codegen.state import ModeRegisters
from pypto.dialects import tik
from pypto.dialects.host import argument_name
from pypto.dialects.locations import source_of
from pypto.dialects.tik_instructions import InstructionOp
from pypto.dialects.tile import KERNEL
from pypto.errors import CompileError
from pypto.target.dtypes import DType
from pypto.target.memory import CoreKind
from pypto.target.program import LocalBuffer, Program, ProgramBuilder
from pypto.target.rows import REGISTER_COUNT, Register
from pypto.target.soc import Soc, soc

# Comparison of the IR -> the branch that leaves when it does *not* hold; True: operands swapped.
UNLESS: dict[str, tuple[str, bool]] = {
    "eq": ("bne", False),
    "ne": ("beq", False),
    "slt": ("bge", False),
    "ult": ("bge", False),
    "sge": ("blt", False),
    "uge": ("blt", False),
    "sgt": ("bge", True),
    "ugt": ("bge", True),
    "sle": ("blt", True),
    "ule": ("blt", True),
}


def build_program(
    function: func.FuncOp, dtypes: Sequence[DType | None] = (), machine: Soc | None = None
) -> Program:
    """The Program of a kernel; ``dtypes`` are the element types of its buffers, where known.

    ``machine`` is the default SoC unless given.
    """
    recomputed: set[SSAValue] = set()
    while True:
        emission = KernelEmission(function, dtypes, frozenset(recomputed), machine or soc())
        try:
            return emission.run()
        except OutOfRegisters as error:
            victim = emission.cheapest_to_recompute()
            if victim is None:
                raise CompileError(
                    "TOO_MANY_SCALARS",
                    f"kernel {function.sym_name.data} needs more than the {REGISTER_COUNT} scalar "
                    "registers of a core here",
                    location=emission.location,
                    fix="split the kernel, or fuse fewer operators into it",
                ) from error
            recomputed.add(victim)


class KernelEmission:
    """One attempt to emit a kernel; values in ``recomputed`` are made anew at every use.

    These are parameters and results of scalar operations: they give up their register.
    """

    def __init__(
        self,
        function: func.FuncOp,
        dtypes: Sequence[DType | None],
        recomputed: frozenset[SSAValue],
        machine: Soc,
    ) -> None:
        self.function = function
        self.entry = function.body.block
        self.lives: Lives = analyse(self.entry, recomputed)
        self.registers = Registers()
        self.recomputed = recomputed
        self.location = source_of(function)
        self.builder = ProgramBuilder(function.sym_name.data, core_kind(function))
        self.modes = ModeRegisters(self.lives.resolve, self._emit_mode, machine.architecture)
        self._labels = 0
        written = written_parameters(self.entry)
        for index, argument in enumerate(self.entry.args):
            kind = "buffer" if isinstance(argument.type, tik.PointerType) else "scalar"
            dtype = dtypes[index] if index < len(dtypes) else None
            name = argument_name(function, index)
            self.builder.parameter(name, kind, dtype, argument in written)

    def run(self) -> Program:
        try:
            self._emit_block(self.entry)
        except CompileError as error:
            error.location = error.location or self.location
            raise
        return self.builder.build()

    def cheapest_to_recompute(self) -> SSAValue | None:
        """The value in a register that is best made anew at its uses, None when there is none."""
        candidates = [value for value in self.registers.held if self._can_recompute(value)]
        return min(candidates, key=self._recompute_cost, default=None)

    def _can_recompute(self, value: SSAValue) -> bool:
        """Whether what a value is made from lives, or can be made, at all uses of the value."""
        owner = value.owner
        if isinstance(owner, Block):
            return owner is self.entry
        if not isinstance(owner, tik.OffsetOp) and scalar_mnemonic(owner) is None:
            return False
        return all(self._outlives(operand, value) for operand in owner.operands)

    def _outlives(self, operand: SSAValue, value: SSAValue) -> bool:
        resolved = self.lives.resolve(operand)
        if isinstance(resolved, int) or resolved in self.recomputed or is_carried(resolved):
            return True
        if isinstance(resolved.owner, tik.BlockIndexOp | tik.BlockCountOp):
            return True
        return self.lives.last_use.get(resolved, -1) >= self.lives.last_use.get(value, -1)

    def _recompute_cost(self, value: SSAValue) -> tuple[int, int]:
        """Extra instructions, a loop taken to run ten times; then how soon the value dies."""
        depths = (loop_depth(use.operation) for use in value.uses)
        return sum(10**depth for depth in depths), -self.lives.last_use.get(value, 0)

    # Operands.

    @contextmanager
    def _operands(self, values: Iterable[SSAValue | int]):
        """Numbers and registers of values; those of recomputed values are lent for a while."""
        lent: dict[SSAValue, Register] = {}
        yield [self._borrow(value, lent) for value in values]
        for register in lent.values():
            self.registers.give_back(register)

    def _borrow(self, value: SSAValue | int, lent: dict[SSAValue, Register]) -> Place:
        resolved = value if isinstance(value, int) else self.lives.resolve(value)
        if isinstance(resolved, int) or resolved not in self.recomputed:
            return self._place(resolved)
        if resolved not in lent:
            if isinstance(resolved.owner, Block):
                lent[resolved] = self.registers.take()
                self._load_parameter(lent[resolved], resolved)
            else:
                places = [self._borrow(operand, lent) for operand in resolved.owner.operands]
                lent[resolved] = self.registers.take()
                self._compute(resolved.owner, lent[resolved], places)
        return lent[resolved]

    def _place(self, value: int | SSAValue) -> Place:
        if isinstance(value, int):
            return value
        if isinstance(value.owner, tik.BlockIndexOp):
            return BLOCK_INDEX
        if isinstance(value.owner, tik.BlockCountOp):
            return BLOCK_COUNT
        if value not in self.registers:
            raise self._unsupported(f"a value of type {value.type} has no register")
        return self.registers[value]

    def _load_parameter(self, register: Register, parameter: SSAValue) -> None:
        assert isinstance(parameter, BlockArgument)
        self._append("ldp", register, parameter.index)

    # Operations.

    def _emit_block(self, block: Block, homes: Sequence[Register] = ()) -> None:
        """Emits a block; what it yields goes to ``homes``."""
        for op in block.ops:
            self._at(op)
            for parameter in self.lives.first_uses.get(op, ()):
                if parameter in self.lives.last_use and parameter not in self.recomputed:
                    self._load_parameter(self.registers.define(parameter), parameter)
            if isinstance(op, scf.YieldOp):
                self._assign(homes, op.arguments)
            else:
                self._emit(op)
            self._free(self.lives.start[op])
            self._free(self.lives.end[op])

    def _at(self, op: Operation) -> None:
        location = source_of(op)
        self.location = location or self.location

    def _append(self, mnemonic: str, *operands: Any, **named: Place) -> None:
        """Appends a row with the source line of the current operation."""
        self.builder.at(None if self.location is None else str(self.location))
        self.builder.append(mnemonic, *operands, **named)

    def _emit(self, op: Operation) -> None:
        match op:
            case scf.ForOp():
                self._emit_loop(op)
            case scf.IfOp():
                self._emit_branch(op)
            case func.ReturnOp():
                self._append("end")
            case tik.AllocOp():
                self._add_buffer(op)
            case _ if not self._needs_no_row(op):
                self._emit_plain(op)
            case _:
                pass

    def _needs_no_row(self, op: Operation) -> bool:
        """Comparisons come with their branch, known numbers and dead values not at all."""
        if isinstance(op, arith.CmpiOp | tik.BlockIndexOp | tik.BlockCountOp):
            return True
        return bool(op.results) and op.results[0] not in self.lives.last_use

    def _add_buffer(self, op: tik.AllocOp) -> None:
        if op.place is None:
            raise CompileError(
                "NOT_PLACED",
                f"buffer {op.label.data} of kernel {self.builder.name} has no address",
                location=source_of(op),
                fix="run the pass plan-memory first",
            )
        total = op.slot_bytes * op.slot_count
        self.builder.buffers.append(
            LocalBuffer(op.label.data, op.space, op.place, total, op.slot_count)
        )

    def _emit_plain(self, op: Operation) -> None:
        read = [op.index] if isinstance(op, tik.SlotOp) else op.operands
        with self._operands(read) as places:
            match op:
                case InstructionOp():
                    self.modes.require(self.modes.wanted(op))
                    self._append(op.row.mnemonic, **_fields(op, places))
                case tik.SetFlagOp() | tik.WaitFlagOp():
                    event = places[0] if places else op.event_id
                    assert not isinstance(event, SSAValue)
                    mnemonic = op.name.removeprefix("tik.")
                    self._append(mnemonic, op.source, op.target, event)
                case tik.BarrierOp():
                    self._append("pipe_barrier", op.pipe)
                case _ if op.results:
                    self._compute(op, self._define(op), places)
                case _:
                    raise self._not_a_row(op)

    def _compute(self, op: Operation, register: Register, places: Sequence[Place]) -> None:
        """Emit a scalar operation whose result goes to a register."""
        match op:
            case tik.SlotOp():
                self._append("mul", register, places[0], op.allocation.slot_bytes)
                if op.allocation.place:
                    self._append("add", register, register, op.allocation.place)
            case tik.OffsetOp():
                self._append("add", register, *places)
            case _ if (mnemonic := scalar_mnemonic(op)) is not None:
                self._append(mnemonic, register, *places)
            case _:
                raise self._not_a_row(op)

    def _emit_mode(self, mnemonic: str, values: list[int | SSAValue]) -> None:
        with self._operands(values) as places:
            self._append(mnemonic, *places)

    # Loops and branches.

    def _emit_loop(self, op: scf.ForOp) -> None:
        lower, upper = self.lives.resolve(op.lb), self.lives.resolve(op.ub)
        turns = upper - lower if isinstance(lower, int) and isinstance(upper, int) else None
        body = op.body.block
        self.modes.enter_loop(body)
        homes = [self.registers.define(argument) for argument in body.args]
        with self._operands([op.lb, *op.iter_args]) as places:
            for home, place in zip(homes, places, strict=True):
                self._append("mov", home, place)
        self._free(self.lives.start[op])
        before, again, behind = dict(self.modes.known), self._label(), self._label()
        if turns is None or turns <= 0:
            with self._operands([op.ub]) as places:
                self._append("bge", homes[0], *places, behind)
        self.builder.label(again)
        self._emit_block(body, homes[1:])
        self._at(op)
        with self._operands([op.step, op.ub]) as (step, bound):
            self._append("add", homes[0], homes[0], step)
            self._append("blt", homes[0], bound, again)
        self.builder.label(behind)
        self.modes.meet(before, self.modes.known)
        self.registers.release(body.args[0])
        for argument, result in zip(body.args[1:], op.results, strict=True):
            self.registers.rename(argument, result)
            self._drop_if_unused(result)

    def _emit_branch(self, op: scf.IfOp) -> None:
        homes = [self.registers.define(result) for result in op.results]
        otherwise, behind = self._label(), self._label()
        has_else = bool(op.false_region.blocks)
        self._leave_unless(op, otherwise)
        self._free(self.lives.start[op])
        before = dict(self.modes.known)
        self._emit_block(op.true_region.block, homes)
        ends = [self.modes.known]
        if has_else:
            self._append("jmp", behind)
        self.builder.label(otherwise)
        self.modes.known = before
        if has_else:
            self._emit_block(op.false_region.block, homes)
        self._at(op)
        self.builder.label(behind)
        self.modes.meet(*ends, self.modes.known)
        for result in op.results:
            self._drop_if_unused(result)

    def _leave_unless(self, op: scf.IfOp, label: str) -> None:
        comparison = op.cond.owner
        if not isinstance(comparison, arith.CmpiOp):
            raise self._unsupported("the condition of a branch is not an arith.cmpi")
        name = arith.CMPI_COMPARISON_OPERATIONS[comparison.predicate.value.data]
        mnemonic, is_swapped = UNLESS[name]
        with self._operands(branch_operands(op)) as (a, b):
            self._append(mnemonic, *((b, a) if is_swapped else (a, b)), label)

    def _assign(self, homes: Sequence[Register], values: Sequence[SSAValue]) -> None:
        """Moves values into registers, all at once: no move destroys what another one reads."""
        spares: list[Register] = []

        def take_spare() -> Register:
            spares.append(self.registers.take())
            return spares[-1]

        with self._operands(values) as places:
            moves = dict(zip(homes, places, strict=True))
            for home, place in parallel_moves(moves, take_spare):
                self._append("mov", home, place)
        for spare in spares:
            self.registers.give_back(spare)

    # Registers and labels.

    def _define(self, op: Operation) -> Register:
        """The register of an operation's result, perhaps that of an operand that dies here."""
        self._free(self.lives.start[op])
        return self.registers.define(op.results[0])

    def _free(self, position: int) -> None:
        for value in self.lives.deaths.pop(position, ()):
            self.registers.release(value)

    def _drop_if_unused(self, value: SSAValue) -> None:
        if value not in self.lives.last_use:
            self.registers.release(value)

    def _label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def _not_a_row(self, op: Operation) -> CompileError:
        return self._unsupported(f"{op.name} is no operation of the machine")

    def _unsupported(self, message: str) -> CompileError:
        return CompileError(
            "NOT_MACHINE_LEVEL",
            f"kernel {self.builder.name}: {message}",
            location=self.location,
            fix="run the passes down to plan-memory and insert-sync first",
        )


def _fields(op: InstructionOp, places: Sequence[Place]) -> dict[str, Place]:
    """The operands of a row: state fields are not among them, they come from mode registers."""
    arguments = iter(places)
    fields: dict[str, Place] = {}
    for field, value in op.items():
        place = next(arguments) if isinstance(value, SSAValue) else value
        if not field.state:
            fields[field.name] = place
    return fields


def core_kind(function: func.FuncOp) -> CoreKind:
    """What kind of core a kernel function runs on, by its attribute."""
    kind = function.attributes.get(KERNEL)
    if not isinstance(kind, StringAttr) or kind.data not in list(CoreKind):
        raise CompileError(
            "NOT_A_KERNEL",
            f"function {function.sym_name.data} does not say what core it runs on",
            location=source_of(function),
            fix=f'give it the attribute {KERNEL} = "vector" or "cube"',
        )
    return CoreKind(kind.data)


def written_parameters(entry: Block) -> set[SSAValue]:
    """The parameters of a kernel that some instruction writes through."""
    return {
        root
        for op in entry.walk()
        if isinstance(op, InstructionOp)
        for field, pointer in op.address_fields()
        if "w" in field.role and (root := tik.pointer_root(pointer)).owner is entry
    }
