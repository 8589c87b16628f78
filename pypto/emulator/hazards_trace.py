"""What a core dispatches: a plain interpreter of the scalar unit, without time or data.

It shares nothing with the engine, so that what the checker says of a program does not rest on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pypto.errors import DeviceError
from pypto.target.instructions import STATE_REGISTERS, ScalarKind
from pypto.target.program import Program
from pypto.target.rows import (
    BLOCK_COUNT_REGISTER,
    BLOCK_INDEX_REGISTER,
    MASK_COLUMN,
    OPCODE_COLUMN,
    OPERAND_COLUMN,
    REGISTER_COUNT,
    SUB_BLOCK_REGISTER,
    Form,
    forms_by_opcode,
)

ROW_LIMIT = 100_000_000
# Mode registers that do not start at 0: all lanes are on.
START_MODES = {"mask_high": -1, "mask_low": -1}


class Dispatch(NamedTuple):
    """One data or synchronisation instruction: its core, its row and its resolved operands."""

    core: int
    row: int
    form: Form
    operands: tuple[int, ...]


class _Row(NamedTuple):
    form: Form
    operands: tuple[int, ...]
    from_register: tuple[int, ...]
    states: tuple[tuple[int, str], ...]


def wrapped(value: int) -> int:
    """A value as a 64-bit register holds it."""
    return (value + 2**63) % 2**64 - 2**63


def divided(a: int, b: int) -> int:
    """The quotient truncated to zero; 0 where b is 0."""
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "mov": lambda a, b: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": divided,
    "rem": lambda a, b: a - divided(a, b) * b if b else 0,
    "min": min,
    "max": max,
    "shl": lambda a, b: a << (b & 63),
    "shr": lambda a, b: (a % 2**64) >> (b & 63),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "slt": lambda a, b: int(a < b),
    "seq": lambda a, b: int(a == b),
}
BRANCHES: dict[str, Callable[[int, int], bool]] = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: a < b,
    "bge": lambda a, b: a >= b,
}


def trace(
    program: Program,
    block: int,
    blocks: int,
    parameters: Sequence[int] = (),
    row_limit: int = ROW_LIMIT,
    *,
    core: int | None = None,
    sub_block: int = 0,
    loads: Iterator[int] | None = None,
) -> Iterator[Dispatch]:
    """The instructions that a core dispatches for block ``block`` of ``blocks``, in order.

    ``core`` is its number in the launch, by default that of the block, ``sub_block`` its number
    in its group. ``loads`` gives what scalar loads find in memory, in order; without it they give
    0, so that nothing may depend on them.

    ``parameters`` holds the launch arguments: addresses of buffers and scalars. A program that
    runs more than ``row_limit`` rows is a DeviceError.
    """
    rows = [_decoded(row) for row in program.rows.tolist()]
    registers = [0] * REGISTER_COUNT
    registers[BLOCK_INDEX_REGISTER], registers[BLOCK_COUNT_REGISTER] = block, blocks
    registers[SUB_BLOCK_REGISTER] = sub_block
    number = block if core is None else core
    modes = {name: START_MODES.get(name, 0) for name in STATE_REGISTERS}
    position = 0
    for _ in range(row_limit):
        row = rows[position]
        operands = _resolved(row, registers)
        kind, operation = row.form.kind, row.form.operation
        position += 1
        if kind is None:
            values = list(operands)
            for j, name in row.states:
                values[j] = modes[name]
            yield Dispatch(number, position - 1, row.form, tuple(values))
        elif kind is ScalarKind.ALU:
            b = operands[2] if len(row.operands) > 2 else 0
            value = ARITHMETIC[row.form.mnemonic](operands[1], b)
            registers[operands[0]] = wrapped(value)
        elif kind is ScalarKind.BRANCH:
            if BRANCHES[row.form.mnemonic](operands[0], operands[1]):
                position = operands[2]
        elif kind is ScalarKind.JUMP:
            position = operands[0]
        elif kind is ScalarKind.LOAD:
            registers[operands[0]] = parameters[operands[1]]
        elif kind is ScalarKind.MEMORY_LOAD:
            yield Dispatch(number, position - 1, row.form, operands)
            registers[operands[0]] = 0 if loads is None else next(loads)
        elif kind is ScalarKind.END:
            return
        elif kind is ScalarKind.STATE and operation is not None:
            for name, source in operation.state:
                fixed = isinstance(source, int)
                modes[name] = source if fixed else operands[operation.operands.index(source)]
        else:
            yield Dispatch(number, position - 1, row.form, operands)
    raise DeviceError(
        "ENDLESS_PROGRAM",
        f"program {program.name}, block {block} of {blocks}: {row_limit} rows ran without an end",
        fix="look at the condition of its loops",
    )


def _resolved(row: _Row, registers: list[int]) -> tuple[int, ...]:
    if not row.from_register:
        return row.operands
    values = list(row.operands)
    for j in row.from_register:
        values[j] = registers[values[j]]
    return tuple(values)


def _decoded(row: list[int]) -> _Row:
    form = forms_by_opcode()[row[OPCODE_COLUMN]]
    operands = tuple(row[OPERAND_COLUMN : OPERAND_COLUMN + len(form.operands)])
    mask = row[MASK_COLUMN]
    from_register = tuple(j for j in range(len(operands)) if mask >> j & 1)
    fields = form.row.fields if form.row is not None else ()
    states = tuple((j, field.state) for j, field in enumerate(fields) if field.state)
    return _Row(form, operands, from_register, states)
