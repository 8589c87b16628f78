"""Program: the frozen instruction rows of one kernel, and the builder that makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pypto.errors import CompileError
from pypto.target.clocks import EVENT_PAIRS
from pypto.target.dtypes import DType
from pypto.target.groups import CROSS_IDS, MODES
from pypto.target.instruction import Instruction
from pypto.target.instructions.scalar import ScalarKind, ScalarOperation
from pypto.target.limits import LimitError, check_fields, refusal, state_limit
from pypto.target.memory import PIPES, CoreKind, Pipe, Space
from pypto.target.rows import (
    LINE_COLUMN,
    MASK_COLUMN,
    OPCODE_COLUMN,
    OPERAND_COLUMN,
    PIPE_COLUMN,
    ROW_WIDTH,
    Form,
    Operand,
    Register,
    Use,
    forms,
    forms_by_opcode,
)

if TYPE_CHECKING:
    from pypto.target.soc import Soc

__all__ = ["ROW_WIDTH", "LocalBuffer", "Parameter", "Program", "ProgramBuilder", "Register"]

# A coupled core has the pipes of a vector core and of a cube core, but drains L0C by its V.
CORE_PIPES: dict[CoreKind, tuple[Pipe, ...]] = {
    CoreKind.VECTOR: (Pipe.S, Pipe.V, Pipe.MTE2, Pipe.MTE3),
    CoreKind.CUBE: (Pipe.S, Pipe.M, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.FIX),
    CoreKind.AICORE: (Pipe.S, Pipe.V, Pipe.M, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3),
}


@dataclass(frozen=True)
class Parameter:
    """A launch argument, read by ``ldp``: a ``buffer`` (its address) or a ``scalar``.

    ``writes`` says that the kernel may write the buffer.
    """

    name: str
    kind: str
    dtype: DType | None = None
    writes: bool = False


@dataclass(frozen=True)
class LocalBuffer:
    """A named range of local memory: ``slots`` equal slots in ``bytes`` bytes at ``address``."""

    name: str
    space: Space
    address: int
    bytes: int
    slots: int = 1


@dataclass(frozen=True, eq=False)
class Program:
    """One kernel as the machine runs it; ``rows`` is int64 of shape (count, ROW_WIDTH)."""

    name: str
    core: CoreKind
    rows: np.ndarray
    lines: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    buffers: tuple[LocalBuffer, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self._plain() == other._plain() and np.array_equal(self.rows, other.rows)

    def __hash__(self) -> int:
        return hash((self._plain(), self.rows.tobytes()))

    def _plain(self) -> tuple[object, ...]:
        return (self.name, self.core, self.lines, self.parameters, self.buffers)

    def validate(self, machine: Soc) -> None:
        """Raise a CompileError unless a core of ``machine`` can run every row."""
        if self.rows.dtype != np.int64 or self.rows.ndim != 2 or self.rows.shape[1] != ROW_WIDTH:
            raise self._invalid(
                f"rows are {self.rows.dtype}{list(self.rows.shape)}, not int64[n, {ROW_WIDTH}]"
            )
        if len(set(self.lines)) != len(self.lines):
            raise self._invalid("the table of source lines has an entry twice")
        for parameter in self.parameters:
            if parameter.kind not in ("buffer", "scalar"):
                raise self._invalid(f"parameter {parameter.name} is a {parameter.kind!r}")
        for buffer in self.buffers:
            self._validate_local(buffer, machine)
        for number, row in enumerate(self.rows.tolist()):
            self._validate_row(number, row, machine)
        last = forms_by_opcode()[self.rows[-1, OPCODE_COLUMN]] if len(self.rows) else None
        if last is None or last.mnemonic not in ("end", "jmp"):
            raise self._invalid("the last row is not `end`", fix="append `end`")

    def _validate_local(self, buffer: LocalBuffer, machine: Soc) -> None:
        if buffer.space is Space.GM or buffer.slots < 1 or buffer.bytes % buffer.slots:
            raise self._invalid(
                f"local buffer {buffer.name} has {buffer.bytes} bytes in {buffer.slots} slots "
                f"of {buffer.space}"
            )
        capacity = machine.capacity[buffer.space]
        if buffer.address < 0 or buffer.bytes < 0 or buffer.address + buffer.bytes > capacity:
            raise self._invalid(
                f"local buffer {buffer.name} spans bytes {buffer.address} to "
                f"{buffer.address + buffer.bytes} of {buffer.space}, which holds {capacity}"
            )

    def _validate_row(self, number: int, row: list[int], machine: Soc) -> None:
        form = forms_by_opcode().get(row[OPCODE_COLUMN])
        if form is None:
            raise self._invalid(f"row {number} has the unknown opcode {row[OPCODE_COLUMN]}")
        values = row[OPERAND_COLUMN:]
        complaint = self._row_complaint(form, row[MASK_COLUMN], values, machine)
        if complaint is None and row[PIPE_COLUMN] != form.queue(values):
            complaint = f"pipe column {row[PIPE_COLUMN]} is not its pipe {form.queue(values)}"
        if complaint is None and not -1 <= row[LINE_COLUMN] < len(self.lines):
            complaint = f"source line {row[LINE_COLUMN]} of {len(self.lines)} lines"
        if complaint is not None:
            line = row[LINE_COLUMN]
            notes = (f"from {self.lines[line]}",) if 0 <= line < len(self.lines) else ()
            raise self._invalid(f"row {number} ({form.mnemonic}): {complaint}", notes=notes)

    def _row_complaint(self, form: Form, mask: int, values: list[int], machine: Soc) -> str | None:
        count = len(form.operands)
        if mask >> count or any(values[count:]):
            return f"columns beyond its {count} operands are not 0"
        for j, (operand, value) in enumerate(zip(form.operands, values, strict=False)):
            in_register = bool(mask >> j & 1) or operand.use is Use.DESTINATION
            complaint = operand.complaint(Register(value) if in_register else value)
            if complaint is None and operand.use is Use.DESTINATION and mask >> j & 1:
                complaint = f"{operand.name} is a destination, its mask bit must be 0"
            if complaint is None and operand.use is Use.LABEL and value >= len(self.rows):
                complaint = f"jumps to row {value} of {len(self.rows)}"
            if complaint is None and operand.use is Use.PARAMETER:
                complaint = self._parameter_complaint(value)
            if complaint is not None:
                return complaint
        complaint = refusal(form.mnemonic, machine)
        if complaint is None and form.row is not None:
            complaint = _limit_complaint(form.row, mask, values, machine)
        if complaint is None and form.operation is not None:
            complaint = _state_complaint(form.operation, mask, values, machine)
        if complaint is not None:
            return complaint
        return self._pipe_complaint(form, mask, values, machine)

    def _parameter_complaint(self, value: int) -> str | None:
        if value < len(self.parameters):
            return None
        return f"reads parameter {value} of {len(self.parameters)}"

    def _pipe_complaint(self, form: Form, mask: int, values: list[int], machine: Soc) -> str | None:
        pipe = PIPES[form.queue(values)]
        if pipe not in CORE_PIPES[self.core]:
            return f"a {self.core} core has no pipe {pipe}"
        if form.operation is not None and form.operation.space is Space.UB:
            return None if Pipe.V in CORE_PIPES[self.core] else f"a {self.core} core has no ub"
        if form.kind in (ScalarKind.CROSS_SET, ScalarKind.CROSS_WAIT):
            return _cross_complaint(form, mask, values)
        if form.mnemonic not in ("set_flag", "wait_flag"):
            return None
        source, target = PIPES[values[0]], PIPES[values[1]]
        if (source, target) not in EVENT_PAIRS[self.core]:
            return f"no event from {source} to {target} on a {self.core} core"
        if not mask & 4 and not 0 <= values[2] < machine.event_ids:
            return f"event id {values[2]}, legal is 0..{machine.event_ids - 1}"
        return None

    def _invalid(
        self, message: str, fix: str | None = None, notes: tuple[str, ...] = ()
    ) -> CompileError:
        text = f"program {self.name}: {message}"
        return CompileError("INVALID_PROGRAM", text, fix=fix, notes=notes)


def _cross_complaint(form: Form, mask: int, values: list[int]) -> str | None:
    """What is wrong with a set or a wait between cores, or None."""
    if form.kind is ScalarKind.CROSS_SET and PIPES[values[0]] is Pipe.ALL:
        return "it is queued on one pipe, not on all"
    for name, limit in (("mode", MODES), ("id", CROSS_IDS)):
        position = form.index(name)
        if position is None or mask >> position & 1 or 0 <= values[position] < limit:
            continue
        return f"{name} is {values[position]}, legal is 0..{limit - 1}"
    return None


def _limit_complaint(row: Instruction, mask: int, values: list[int], machine: Soc) -> str | None:
    """Which rule on the fields of a row is broken, or None.

    Of a row without registers all fields are known, those from mode registers taken as 0, but for
    the mask, which decides what is touched.
    """
    masked = any(field.state == "mask_mode" for field in row.fields)
    known = {
        field.name: value
        for j, (field, value) in enumerate(zip(row.fields, values, strict=False))
        if not mask >> j & 1 and not (field.state and (mask or masked))
    }
    try:
        check_fields(row, known, machine)
    except LimitError as error:
        return error.message
    return None


def _state_complaint(
    operation: ScalarOperation, mask: int, values: list[int], machine: Soc
) -> str | None:
    """What is wrong with the numbers an operation writes to mode registers, or None."""
    for register, source in operation.state:
        position = operation.operands.index(source) if isinstance(source, str) else None
        if position is not None and mask >> position & 1:
            continue
        value = values[position] if position is not None else int(source)
        limit = state_limit(register, value, machine)
        if limit is not None:
            return f"{register} = {value}; {machine.name} takes {limit}"
    return None


class ProgramBuilder:
    """Appends rows by mnemonic; jump targets are labels, placed before or after their use.

    ``append("vadd.f16", dst=0x100, src0=Register(5), src1=64)`` for data instructions,
    ``append("blt", Register(3), 8, "loop")`` and ``append("set_flag", Pipe.MTE2, Pipe.V, 0)`` for
    the others; both take operands by position and by name, and hide defaults.
    """

    def __init__(self, name: str, core: CoreKind) -> None:
        self.name = name
        self.core = core
        self.parameters: list[Parameter] = []
        self.buffers: list[LocalBuffer] = []
        self._rows: list[list[int]] = []
        self._lines: dict[str, int] = {}
        self._line = -1
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, int, str]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def parameter(
        self, name: str, kind: str, dtype: DType | None = None, writes: bool = False
    ) -> int:
        """Add a launch argument and return its number."""
        self.parameters.append(Parameter(name, kind, dtype, writes))
        return len(self.parameters) - 1

    def at(self, line: str | None) -> None:
        """The source line ``file:line:column`` of the rows that follow."""
        self._line = -1 if line is None else self._lines.setdefault(line, len(self._lines))

    def label(self, name: str) -> None:
        """Name the next row."""
        if name in self._labels:
            raise self._invalid(f"label {name} stands twice")
        self._labels[name] = len(self._rows)

    def append(
        self, mnemonic: str, *operands: int | Register | Pipe | str, **named: int | Register
    ) -> None:
        """Append one row."""
        form = forms().get(mnemonic)
        if form is None:
            raise self._invalid(f"unknown mnemonic {mnemonic}")
        values: dict[str, int | Register | Pipe | str] = {**named}
        if len(operands) > len(form.operands):
            raise self._invalid(f"{mnemonic} takes {len(form.operands)} operands")
        for operand, value in zip(form.operands, operands, strict=False):
            if operand.name in values:
                raise self._invalid(f"{mnemonic}: {operand.name} is given twice")
            values[operand.name] = value
        mask, columns = 0, [0] * (ROW_WIDTH - OPERAND_COLUMN)
        for j, operand in enumerate(form.operands):
            value = values.pop(operand.name, operand.default)
            if value is None:
                raise self._invalid(f"{mnemonic} needs {operand.name}")
            columns[j], from_register = self._encode(mnemonic, operand, value, j)
            mask |= from_register << j
        if values:
            raise self._invalid(f"{mnemonic} has no operand {', '.join(values)}")
        row = [form.opcode, form.queue(columns), mask, self._line]
        self._rows.append(row + columns)

    def _encode(
        self, mnemonic: str, operand: Operand, value: int | Register | Pipe | str, position: int
    ) -> tuple[int, bool]:
        """The column of an operand and whether it is read from a register."""
        if isinstance(value, Pipe):
            if operand.use is not Use.PIPE:
                raise self._invalid(f"{mnemonic}: {operand.name} takes {operand.use}")
            value = PIPES.index(value)
        elif isinstance(value, str):
            if operand.use is not Use.LABEL:
                raise self._invalid(f"{mnemonic}: {operand.name} takes {operand.use}")
            self._jumps.append((len(self._rows), position, value))
            return 0, False
        complaint = operand.complaint(value)
        if complaint is not None:
            raise self._invalid(f"{mnemonic}: {complaint}")
        if isinstance(value, Register):
            return value.number, operand.use is Use.VALUE
        return int(value), False

    def build(self) -> Program:
        """The frozen Program."""
        for row, position, name in self._jumps:
            if name not in self._labels:
                raise self._invalid(f"label {name} is nowhere")
            self._rows[row][OPERAND_COLUMN + position] = self._labels[name]
        rows = np.array(self._rows, dtype=np.int64).reshape(len(self._rows), ROW_WIDTH)
        rows.flags.writeable = False
        return Program(
            self.name, self.core, rows, tuple(self._lines), tuple(self.parameters),
            tuple(self.buffers),
        )  # fmt: skip

    def _invalid(self, message: str) -> CompileError:
        return CompileError("INVALID_PROGRAM", f"program {self.name}: {message}")
