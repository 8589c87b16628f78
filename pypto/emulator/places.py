"""Names of instructions and of their places, for messages."""

from __future__ import annotations

from pypto.errors import SourceLocation
from pypto.target.program import Program
from pypto.target.rows import LINE_COLUMN, OPCODE_COLUMN, forms_by_opcode


def location(program: Program, row: int) -> SourceLocation | None:
    """The source line of a row."""
    if not 0 <= row < len(program.rows):
        return None
    line = int(program.rows[row, LINE_COLUMN])
    if line < 0:
        return None
    parts = program.lines[line].rsplit(":", 2)
    if len(parts) != 3 or not parts[1].isdigit() or not parts[2].isdigit():
        return None
    return SourceLocation(parts[0], int(parts[1]), int(parts[2]))


def mnemonic(program: Program, row: int) -> str:
    """The name of the instruction in a row."""
    if not 0 <= row < len(program.rows):
        return f"row {row}"
    form = forms_by_opcode().get(int(program.rows[row, OPCODE_COLUMN]))
    return f"opcode {program.rows[row, OPCODE_COLUMN]}" if form is None else form.mnemonic


def where(program: Program, row: int) -> str:
    """`` at file:line:column`` of a row, or its number where it has no source."""
    place = location(program, row)
    return f"row {row}" if place is None else str(place)
