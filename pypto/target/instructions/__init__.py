"""The instruction table: every row of every pipe, and the numbers programs store."""

from __future__ import annotations

from pypto.target.instruction import Instruction
from pypto.target.instructions.cube import CUBE
from pypto.target.instructions.move import MOVE
from pypto.target.instructions.scalar import SCALARS, STATE_REGISTERS, ScalarKind, ScalarOperation
from pypto.target.instructions.vector import VECTOR

DATA_OPCODE_BASE = 64

INSTRUCTIONS: tuple[Instruction, ...] = (*VECTOR, *MOVE, *CUBE)
BY_MNEMONIC: dict[str, Instruction] = {row.mnemonic: row for row in INSTRUCTIONS}
OPCODES: dict[str, int] = {
    **{s.mnemonic: i for i, s in enumerate(SCALARS)},
    **{row.mnemonic: DATA_OPCODE_BASE + i for i, row in enumerate(INSTRUCTIONS)},
}

__all__ = [
    "BY_MNEMONIC",
    "DATA_OPCODE_BASE",
    "INSTRUCTIONS",
    "OPCODES",
    "SCALARS",
    "STATE_REGISTERS",
    "Instruction",
    "ScalarKind",
    "ScalarOperation",
]
