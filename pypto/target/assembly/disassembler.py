"""Executable to text; what has its default value is not printed."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence

from pypto.target.executable import Argument, Buffer, BufferArgument, Dim, Executable
from pypto.target.instruction import Kind
from pypto.target.memory import PIPES
from pypto.target.program import Program
from pypto.target.rows import (
    LINE_COLUMN,
    MASK_COLUMN,
    OPCODE_COLUMN,
    OPERAND_COLUMN,
    Form,
    Register,
    Use,
    forms_by_opcode,
    scalar_bits,
    scalar_value,
)

BARE_NAME = re.compile(r"(?!(inf|nan)$)[A-Za-z_][\w.]*$", re.ASCII)
REGISTER_NAME = re.compile(r"r\d+$")
# Bytes of a constant per line of base64.
BYTES_PER_LINE = 768


def disassemble(executable: Executable) -> str:
    """The text of an Executable; ``assemble`` gives an equal one back."""
    lines = [f".soc {_name(executable.soc)}"]
    for key, value in executable.constants.items():
        lines += _constant(key, value.tobytes())
    lines += [_buffer(buffer) for buffer in executable.buffers]
    for program in executable.programs:
        lines += ["", *_program(program)]
    lines.append("")
    buffers = _references([buffer.name for buffer in executable.buffers])
    programs = _references([program.name for program in executable.programs])
    for step in executable.steps:
        first, *others = (
            (programs[part.program], ", ".join(_argument(one, buffers) for one in part.arguments))
            for part in step.parts
        )
        rest = "".join(f", {name} ({arguments})" for name, arguments in others)
        lines.append(f".launch {first[0]} grid={step.grid} ({first[1]}){rest}")
    for role, numbers in (("inputs", executable.inputs), ("results", executable.results)):
        if numbers:
            lines.append(f".{role} {', '.join(buffers[number] for number in numbers)}")
    return "\n".join(lines).rstrip("\n") + "\n"


def _name(name: str) -> str:
    return name if BARE_NAME.match(name) else json.dumps(name)


def _references(names: Sequence[str]) -> list[str]:
    """How to call each of ``names``: by name where that is unique, else by number."""
    return [
        _name(name) if names.count(name) == 1 else f"${number}" for number, name in enumerate(names)
    ]


def _constant(key: str, data: bytes) -> Iterator[str]:
    yield f".constant {_name(key)} base64 {{"
    for start in range(0, len(data), BYTES_PER_LINE):
        yield f'  "{base64.b64encode(data[start : start + BYTES_PER_LINE]).decode()}"'
    yield "}"


def _extent(extent: int | Dim) -> str:
    return f"dim({extent.input}, {extent.axis})" if isinstance(extent, Dim) else str(extent)


def _argument(argument: Argument, buffers: Sequence[str]) -> str:
    if not isinstance(argument, BufferArgument):
        return _extent(argument)
    offset = f"+{argument.byte_offset}" if argument.byte_offset else ""
    return buffers[argument.buffer] + offset


def _attributes(pairs: Iterable[tuple[str, object]]) -> str:
    return "".join(f" {name}={value}" for name, value in pairs if value is not None)


def _buffer(buffer: Buffer) -> str:
    shape = ", ".join(_extent(extent) for extent in buffer.shape)
    constant = None if buffer.constant is None else _name(buffer.constant)
    rest = _attributes((("bytes", buffer.bytes), ("offset", buffer.offset), ("constant", constant)))
    return f".buffer {_name(buffer.name)} {buffer.role} {buffer.dtype} [{shape}]{rest}"


def _program(program: Program) -> Iterator[str]:
    yield f".program {_name(program.name)} {program.core} {{"
    for parameter in program.parameters:
        dtype = "" if parameter.dtype is None else f" {parameter.dtype}"
        writes = " writes" if parameter.writes else ""
        yield f"  .parameter {_name(parameter.name)} {parameter.kind}{dtype}{writes}"
    for buffer in program.buffers:
        rest = _attributes(
            (
                ("address", hex(buffer.address)),
                ("bytes", buffer.bytes),
                ("slots", buffer.slots if buffer.slots != 1 else None),
            )
        )
        yield f"  .local {_name(buffer.name)} {buffer.space}{rest}"
    yield from _lines_table(program)
    yield from _code(program)
    yield "}"


def _lines_table(program: Program) -> Iterator[str]:
    """The table of source lines, where it is not simply the lines in order of first use."""
    used = dict.fromkeys(program.rows[:, LINE_COLUMN].tolist())
    used.pop(-1, None)
    if list(used) != list(range(len(program.lines))):
        yield "  .lines " + ", ".join(json.dumps(line) for line in program.lines)


def _code(program: Program) -> Iterator[str]:
    rows = program.rows.tolist()
    labels = _labels(rows)
    parameters = _parameter_names(program)
    line = -1
    for number, row in enumerate(rows):
        if number in labels:
            yield f" {labels[number]}:"
        if row[LINE_COLUMN] != line:
            line = row[LINE_COLUMN]
            yield f"  .loc {'none' if line < 0 else json.dumps(program.lines[line])}"
        form = forms_by_opcode()[row[OPCODE_COLUMN]]
        operands = [
            text
            for j in range(len(form.operands))
            if (text := _operand(form, j, row, labels, parameters)) is not None
        ]
        yield f"  {form.mnemonic} {', '.join(operands)}".rstrip()


def _labels(rows: list[list[int]]) -> dict[int, str]:
    """The rows that are jumped to, named in order."""
    targets = {
        row[OPERAND_COLUMN + j]
        for row in rows
        for j, operand in enumerate(forms_by_opcode()[row[OPCODE_COLUMN]].operands)
        if operand.use is Use.LABEL
    }
    return {target: f"L{number}" for number, target in enumerate(sorted(targets))}


def _parameter_names(program: Program) -> list[str]:
    """How ``ldp`` calls each parameter."""
    names = [parameter.name for parameter in program.parameters]
    plain = [
        names.count(name) == 1 and BARE_NAME.match(name) and not REGISTER_NAME.match(name)
        for name in names
    ]
    return [name if ok else str(i) for i, (name, ok) in enumerate(zip(names, plain, strict=True))]


def _operand(
    form: Form, position: int, row: list[int], labels: dict[int, str], parameters: list[str]
) -> str | None:
    """One operand as text, None where it is hidden."""
    operand = form.operands[position]
    value = row[OPERAND_COLUMN + position]
    from_register = bool(row[MASK_COLUMN] >> position & 1)
    if operand.use is Use.STATE or (not from_register and value == operand.default):
        return None
    if from_register or operand.use is Use.DESTINATION:
        text = str(Register(value))
    elif operand.use is Use.LABEL:
        text = labels[value]
    elif operand.use is Use.PIPE:
        text = str(PIPES[value])
    elif operand.use is Use.PARAMETER:
        text = parameters[value]
    else:
        text = _immediate(form, position, value)
    return text if form.row is None else f"{operand.name}={text}"


def _immediate(form: Form, position: int, value: int) -> str:
    dtype = form.operands[position].dtype
    if dtype is not None and dtype.is_float:
        if 0 <= value < 1 << 8 * dtype.bytes:
            text = repr(scalar_value(value, dtype))
            if scalar_bits(float(text), dtype) == value:  # not so for most NaNs
                return text
        return hex(value)
    if form.row is not None and form.row.fields[position].kind is Kind.ADDRESS:
        return hex(value)
    return str(value)
