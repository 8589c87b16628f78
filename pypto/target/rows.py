"""How one instruction is laid out in a row: one form per mnemonic, data and scalar alike.

A row is ``ROW_WIDTH`` int64 columns: opcode, pipe (position in ``PIPES``), register mask, source
line (position in ``Program.lines``, -1 for none), then the operands in table order. Bit j of the
mask says that operand j is *read from* the register it names; a destination (``rd``) is always a
register number and never has its bit set. A jump target is the absolute index of a row. State
operands stay 0: the machine fills them from its mode registers at dispatch. The pipe column of a
set is its source, of a wait its target, of ``pipe_barrier all`` the scalar unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np

from pypto.target.dtypes import DType
from pypto.target.instruction import Instruction, Kind
from pypto.target.instructions import BY_MNEMONIC, OPCODES
from pypto.target.instructions.scalar import SCALARS, ScalarKind, ScalarOperation
from pypto.target.memory import PIPES, Pipe

ROW_WIDTH = 24
OPCODE_COLUMN, PIPE_COLUMN, MASK_COLUMN, LINE_COLUMN, OPERAND_COLUMN = range(5)
OPERAND_LIMIT = ROW_WIDTH - OPERAND_COLUMN
REGISTER_COUNT = 32
BLOCK_INDEX_REGISTER, BLOCK_COUNT_REGISTER, SUB_BLOCK_REGISTER = 0, 1, 2
INT64_LOW, INT64_HIGH = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Register:
    """A scalar register; ``r0`` starts as the block index, ``r1`` as the number of blocks.

    In a launch on groups of cores a block is a group, and ``r2`` starts as the number of the
    vector core within its group; it is 0 else, as all others are.
    """

    number: int

    def __str__(self) -> str:
        return f"r{self.number}"


class Use(StrEnum):
    """What stands in the column of an operand."""

    VALUE = "an integer or a register"
    DESTINATION = "a register"
    LABEL = "a label"
    PIPE = "a pipe"
    PARAMETER = "a parameter"
    STATE = "nothing (it comes from a mode register)"


@dataclass(frozen=True)
class Operand:
    """One operand column; ``default`` None means it must be given.

    ``low``..``high`` (ends included) and ``align`` bind immediates; ``dtype`` is set where the
    integer holds the bits of one element.
    """

    name: str
    use: Use = Use.VALUE
    default: int | None = None
    low: int = INT64_LOW
    high: int = INT64_HIGH
    align: int = 1
    dtype: DType | None = None

    def complaint(self, value: int | Register) -> str | None:
        """What is wrong with a value for this operand, or None."""
        if isinstance(value, Register):
            if self.use not in (Use.VALUE, Use.DESTINATION):
                return f"{self.name} takes {self.use}, not {value}"
            if not 0 <= value.number < REGISTER_COUNT:
                return f"there is no register {value}; the last is r{REGISTER_COUNT - 1}"
            return None
        if self.use is Use.DESTINATION:
            return f"{self.name} takes a register, not {value}"
        if not self.low <= value <= self.high:
            return f"{self.name} is {value}, legal is {self.low}..{self.high}"
        if value % self.align:
            return f"{self.name} is {value}, which is not a multiple of {self.align}"
        return None


@dataclass(frozen=True)
class Form:
    """The layout of one mnemonic; ``pipe`` None: it follows from the operands."""

    mnemonic: str
    opcode: int
    pipe: Pipe | None
    operands: tuple[Operand, ...]
    row: Instruction | None = None
    operation: ScalarOperation | None = None

    def index(self, name: str) -> int | None:
        """The position of an operand, None when there is none of that name."""
        return next((i for i, o in enumerate(self.operands) if o.name == name), None)

    def queue(self, operands: Sequence[int]) -> int:
        """The value of the pipe column, given the operand columns."""
        if self.pipe is not None:
            return PIPES.index(self.pipe)
        pipe = int(operands[1 if self.kind is ScalarKind.WAIT_FLAG else 0])
        return PIPES.index(Pipe.S) if PIPES[pipe] is Pipe.ALL else pipe

    @property
    def kind(self) -> ScalarKind | None:
        """What a scalar operation does; None for a data instruction."""
        return None if self.operation is None else self.operation.kind


_SCALAR_OPERANDS: dict[str, Operand] = {
    "rd": Operand("rd", Use.DESTINATION),
    "label": Operand("label", Use.LABEL, low=0),
    "parameter": Operand("parameter", Use.PARAMETER, low=0),
    "source": Operand("source", Use.PIPE, low=0, high=PIPES.index(Pipe.ALL) - 1),
    "target": Operand("target", Use.PIPE, low=0, high=PIPES.index(Pipe.ALL) - 1),
    "pipe": Operand("pipe", Use.PIPE, low=1, high=PIPES.index(Pipe.ALL)),
}


def _scalar_form(operation: ScalarOperation) -> Form:
    operands = tuple(_SCALAR_OPERANDS.get(name, Operand(name)) for name in operation.operands)
    synchronises = operation.kind in (
        ScalarKind.SET_FLAG, ScalarKind.WAIT_FLAG, ScalarKind.BARRIER, ScalarKind.CROSS_SET,
    )  # fmt: skip
    pipe = None if synchronises else Pipe.S
    opcode = OPCODES[operation.mnemonic]
    return Form(operation.mnemonic, opcode, pipe, operands, operation=operation)


def _data_form(row: Instruction) -> Form:
    operands = tuple(
        Operand(field.name, Use.STATE, default=0, low=0, high=0)
        if field.state
        else Operand(
            field.name,
            default=field.default,
            low=field.low,
            high=field.high,
            align=field.align,
            dtype=row.source_dtype if field.kind is Kind.SCALAR else None,
        )
        for field in row.fields
    )
    return Form(row.mnemonic, OPCODES[row.mnemonic], row.pipe, operands, row=row)


@cache
def forms() -> dict[str, Form]:
    """Every mnemonic with its form, scalar operations first."""
    everything = [_scalar_form(o) for o in SCALARS] + [_data_form(r) for r in BY_MNEMONIC.values()]
    return {form.mnemonic: form for form in everything}


@cache
def forms_by_opcode() -> dict[int, Form]:
    """Every opcode with its form."""
    return {form.opcode: form for form in forms().values()}


def scalar_bits(value: float, dtype: DType) -> int:
    """The bits of one element, as a SCALAR operand holds them (floats unsigned)."""
    if not dtype.is_float:
        return int(value)
    array = np.array([value], dtype=np.float64).astype(dtype.numpy)
    return int(array.view(f"u{dtype.bytes}")[0])


def scalar_value(bits: int, dtype: DType) -> float:
    """The element that SCALAR bits stand for."""
    if not dtype.is_float:
        return bits
    return float(np.array([bits], dtype=f"u{dtype.bytes}").view(dtype.numpy)[0])
