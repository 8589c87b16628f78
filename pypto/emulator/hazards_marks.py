"""Which bytes hold no value yet: poison marks that moves carry and arithmetic may not use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pypto.emulator.hazards_shadow import Box, Touched, view
from pypto.target.instruction import Field, Instruction
from pypto.target.instructions.bytes import spread
from pypto.target.instructions.cube_meaning import Places, places
from pypto.target.memory import LOCAL_SPACES, Pipe, Space
from pypto.target.soc import Soc

POISON, CLEAN = 0xFF, 0  # a poisoned element of any float type reads NaN, a clean one 0
EDGE = 16  # rows and columns of a fractal of L0C

# Families that copy bytes as they are: they carry marks. So does the masked copy of the vector
# pipe, whose family also computes. Whole blocks that are stored may hold bytes of nobody.
CARRIERS = frozenset(
    ("copy_in", "nd2nz", "load2d_a", "load2d_b", "load2dt_a", "load2dt_b", "load3d_a",
     "load3d_b", "load_gm_a", "load_gm_b", "load_gm_l1", "l1_to_bt", "l1_to_fb", "l1_to_gm",
     "block_broadcast",
     "blocks_gm_to_ub", "blocks_gm_to_l1", "blocks_l1_to_ub", "blocks_ub_to_l1", "blocks_in_ub",
     "blocks_ub_to_gm", "transpose", "transpose_halves", "square", "drain")
)  # fmt: skip
COMPARISONS = frozenset(("compare", "compare_scalar"))


class Operand(NamedTuple):
    """An address field with the bytes it covers."""

    field: Field
    where: list[Box]


class UnsetRead(NamedTuple):
    """Bytes used that nothing has written."""

    field: Field
    start: int
    stop: int


class Marks:
    """Marks of all memories of one core and of GM; ``gm`` is uint8, one item per byte."""

    def __init__(self, machine: Soc, gm: np.ndarray) -> None:
        self.memory: dict[Space, np.ndarray] = {
            space: np.full(machine.capacity[space], POISON, np.uint8) for space in LOCAL_SPACES
        }
        self.memory[Space.GM] = gm

    def step(self, row: Instruction, fields: Any, operands: list[Operand]) -> list[UnsetRead]:
        """Follow one instruction; what it uses although nothing has written it."""
        unset = [o for o in operands if self._is_used(o.field, fields) and self._poisoned(o)]
        if row.pipe is Pipe.M:
            return self._multiply(row, fields, operands, unset)
        written = [o for o in operands if "w" in o.field.role]
        if unset and row.family.name in COMPARISONS:
            self._compare(row, operands, written[0])
            return []
        carries = row.family.name in CARRIERS or row.op_name == "vcopy"
        if unset and carries and not getattr(fields, "atomic", 0):
            plain = fields._replace(pad_value=0) if "pad_value" in fields._fields else fields
            row.meaning(self.memory, plain, row)
            return []
        complaints = [self._complaint(operand) for operand in unset]
        self._fill(written, CLEAN)
        return complaints

    def _is_used(self, field: Field, fields: Any) -> bool:
        """Whether the old value of the bytes matters."""
        combines = field.space is Space.GM and bool(getattr(fields, "atomic", 0))
        return "r" in field.role or combines

    def _poisoned(self, operand: Operand) -> bool:
        memory = self._of(operand)
        return any(view(memory, box).any() for box in operand.where)

    def _of(self, operand: Operand) -> np.ndarray:
        assert operand.field.space is not None
        return self.memory[operand.field.space]

    def _fill(self, operands: list[Operand], mark: int) -> None:
        for operand in operands:
            for box in operand.where:
                view(self._of(operand), box)[...] = mark

    def _complaint(self, operand: Operand) -> UnsetRead:
        memory = self._of(operand)
        box = next(box for box in operand.where if view(memory, box).any())
        marks = Touched(0, 0, 0, box, view(memory, box), CLEAN)
        return UnsetRead(operand.field, *marks.addresses(POISON))

    def _compare(self, row: Instruction, operands: list[Operand], result: Operand) -> None:
        """All lanes are compared; a byte of bits is poisoned when its eight lanes all are."""
        lanes = None
        for operand in operands:
            if "r" in operand.field.role:
                read = [view(self._of(operand), box).reshape(-1) for box in operand.where]
                marks = np.concatenate(read).reshape(-1, row.source_dtype.bytes).max(axis=1)
                lanes = marks if lanes is None else np.maximum(lanes, marks)
        if lanes is not None:
            view(self._of(result), result.where[0])[...] = lanes.reshape(-1, 8).min(axis=1)

    def _multiply(
        self, row: Instruction, fields: Any, operands: list[Operand], unset: list[Operand]
    ) -> list[UnsetRead]:
        """Only the valid rows and columns of the fractals are used and written."""
        (c,) = [operand for operand in operands if operand.field.name == "c"]
        if not unset and fields.m % EDGE == 0 and fields.n % EDGE == 0:
            self._fill([c], CLEAN)
            return []
        valid = places(fields, row)
        complaints: list[UnsetRead] = []
        if unset and self._reaches_the_product(valid, fields, row):
            first = next((o for o in unset if o.field.name != "c"), c)
            complaints.append(self._complaint(first))
        self._fill([c], POISON)
        self.memory[Space.L0C][spread(valid.c, row.dtype)] = CLEAN
        return complaints

    def _reaches_the_product(self, valid: Places, fields: Any, row: Instruction) -> bool:
        """Whether an element that a valid one is computed from is poisoned."""
        used = [(Space.L0A, valid.a, row.source_dtype), (Space.L0B, valid.b, row.source_dtype)]
        if "bias" in fields._fields:
            bias = fields.bias + np.arange(fields.n) * row.dtype.bytes
            used.append((Space.BT, bias, row.dtype))
        elif not fields.c_init:
            used.append((Space.L0C, valid.c, row.dtype))
        return any(self.memory[space][spread(at, dtype)].any() for space, at, dtype in used)
