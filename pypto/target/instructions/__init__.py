"""The instruction table: every row of every pipe, and the numbers programs store."""

from __future__ import annotations

from dataclasses import replace

from pypto.target.instruction import Instruction
from pypto.target.instructions.availability import architectures_of
from pypto.target.instructions.blocks import BLOCKS
from pypto.target.instructions.cube import CUBE
from pypto.target.instructions.fixpipe import FIXPIPE
from pypto.target.instructions.fractals import FRACTALS
from pypto.target.instructions.l1_copies import L1_COPIES
from pypto.target.instructions.load3d import LOAD3D
from pypto.target.instructions.move import MOVE
from pypto.target.instructions.scalar import SCALARS, STATE_REGISTERS, ScalarKind, ScalarOperation
from pypto.target.instructions.transpose import TRANSPOSED
from pypto.target.instructions.vector import VECTOR
from pypto.target.instructions.vector_compare import COMPARED
from pypto.target.instructions.vector_dequantise import DEQUANTISED
from pypto.target.instructions.vector_fused import FUSED
from pypto.target.instructions.vector_pick import PICKED
from pypto.target.instructions.vector_sort import SORTED

DATA_OPCODE_BASE = 128

INSTRUCTIONS: tuple[Instruction, ...] = tuple(
    replace(row, architectures=architectures_of(row.mnemonic))
    for row in (
        *VECTOR,
        *FUSED,
        *COMPARED,
        *PICKED,
        *SORTED,
        *DEQUANTISED,
        *TRANSPOSED,
        *MOVE,
        *BLOCKS,
        *CUBE,
        *FIXPIPE,
        *FRACTALS,
        *LOAD3D,
        *L1_COPIES,
    )
)
BY_MNEMONIC: dict[str, Instruction] = {row.mnemonic: row for row in INSTRUCTIONS}
OPCODES: dict[str, int] = {
    **{s.mnemonic: i for i, s in enumerate(SCALARS)},
    **{row.mnemonic: DATA_OPCODE_BASE + i for i, row in enumerate(INSTRUCTIONS)},
}

_ARCHITECTURES: dict[str, frozenset[str]] = {
    row.mnemonic: row.architectures for row in (*INSTRUCTIONS, *SCALARS)
}


def exists(mnemonic: str, architecture: str) -> bool:
    """Whether machines of an architecture have an instruction, a scalar or a state operation."""
    return architecture in _ARCHITECTURES.get(mnemonic, ())


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
    "exists",
]
