"""Which instructions depend on values that scalar loads read from memory."""

from __future__ import annotations

from pypto.target.instructions.scalar import ScalarKind
from pypto.target.program import Program
from pypto.target.rows import (
    MASK_COLUMN,
    OPCODE_COLUMN,
    OPERAND_COLUMN,
    Form,
    Use,
    forms_by_opcode,
)

STORED_OPERAND = 1  # of scalar stores: the value, on which nothing depends


def first_use(program: Program) -> int | None:
    """The first row whose effect on time or on others depends on a loaded value, None for none.

    Arithmetic only passes a value on, and a scalar store only puts it into memory.
    """
    rows = program.rows.tolist()
    kinds = [forms_by_opcode()[row[OPCODE_COLUMN]] for row in rows]
    if not any(form.kind is ScalarKind.MEMORY_LOAD for form in kinds):
        return None
    # Per row: a bit for every register that may hold a loaded value before it.
    tainted = [0] * len(rows)
    seen = [False] * len(rows)
    pending = [(0, 0)]
    while pending:
        number, before = pending.pop()
        if number >= len(rows) or (seen[number] and before | tainted[number] == tainted[number]):
            continue
        seen[number] = True
        tainted[number] |= before
        form, row = kinds[number], rows[number]
        after = _after(form, row, tainted[number])
        if form.kind is ScalarKind.END:
            continue
        if form.kind in (ScalarKind.JUMP, ScalarKind.BRANCH):
            label = form.index("label")
            assert label is not None
            pending.append((row[OPERAND_COLUMN + label], after))
        if form.kind is not ScalarKind.JUMP:
            pending.append((number + 1, after))
    for number, (form, row) in enumerate(zip(kinds, rows, strict=True)):
        if form.kind is ScalarKind.ALU:
            continue
        used = _registers(row)
        if form.kind is ScalarKind.MEMORY_STORE:
            used.pop(STORED_OPERAND, None)
        if any(tainted[number] >> register & 1 for register in used.values()):
            return number
    return None


def _after(form: Form, row: list[int], before: int) -> int:
    """The registers that may hold loaded values behind a row."""
    if not form.operands or form.operands[0].use is not Use.DESTINATION:
        return before
    target = 1 << row[OPERAND_COLUMN]
    loaded = form.kind is ScalarKind.MEMORY_LOAD
    passed = any(before >> register & 1 for register in _registers(row).values())
    return before | target if loaded or passed else before & ~target


def _registers(row: list[int]) -> dict[int, int]:
    """The registers that a row reads, by operand."""
    mask = row[MASK_COLUMN]
    return {j: row[OPERAND_COLUMN + j] for j in range(mask.bit_length()) if mask >> j & 1}
