"""The cores of one launch and what each of them runs.

The programs of a launch of two stand behind one another in one array of rows, and so do their
parameters, so that the engine need not know which core runs which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pypto.target.groups import GROUP_VECTORS
from pypto.target.memory import CoreKind
from pypto.target.program import Program
from pypto.target.rows import OPCODE_COLUMN, OPERAND_COLUMN, Use, forms_by_opcode


@dataclass(frozen=True)
class Member:
    """A program on ``cores`` cores; ``core``, ``row`` and ``parameter`` are its first ones."""

    program: Program
    cores: int
    core: int = 0
    row: int = 0
    parameter: int = 0

    @property
    def last_core(self) -> int:
        return self.core + self.cores - 1

    def rows(self) -> np.ndarray:
        """Its rows as they stand in the launch: jumps and parameters moved."""
        rows = np.array(self.program.rows)
        for moved, use in ((self.row, Use.LABEL), (self.parameter, Use.PARAMETER)):
            for opcode in set(rows[:, OPCODE_COLUMN].tolist()) if moved else ():
                for j, operand in enumerate(forms_by_opcode()[opcode].operands):
                    if operand.use is use:
                        rows[rows[:, OPCODE_COLUMN] == opcode, OPERAND_COLUMN + j] += moved
        return rows


@dataclass(frozen=True)
class Crew:
    """One program on ``grid`` cores, or on ``grid`` groups one for each kind of core."""

    grid: int
    members: tuple[Member, ...]

    @classmethod
    def of(cls, programs: Sequence[Program], grid: int) -> Crew:
        """The cores of a launch, cube cores first."""
        first = Member(programs[0], grid)
        if len(programs) == 1:
            return cls(grid, (first,))
        row, parameter = len(first.program.rows), len(first.program.parameters)
        return cls(grid, (first, Member(programs[1], GROUP_VECTORS * grid, grid, row, parameter)))

    @property
    def name(self) -> str:
        return " + ".join(member.program.name for member in self.members)

    @property
    def is_mixed(self) -> bool:
        return len(self.members) > 1

    @cached_property
    def kinds(self) -> list[CoreKind]:
        """The kind of each core."""
        return [member.program.core for member in self.members for _ in range(member.cores)]

    @property
    def first_vector(self) -> int:
        """The number of the first vector core."""
        return len(self.kinds) - Counter(self.kinds)[CoreKind.VECTOR]

    def of_core(self, core: int) -> Member:
        """What a core is part of."""
        return next(member for member in self.members if core <= member.last_core)

    def block(self, core: int) -> tuple[int, int]:
        """Block index and number within the block of a core."""
        member = self.of_core(core)
        return divmod(core - member.core, member.cores // self.grid)

    def core_name(self, core: int) -> str:
        """``core 3``; with its kind where there are two."""
        if not self.is_mixed:
            return f"core {core}"
        member = self.of_core(core)
        return f"{member.program.core} core {core - member.core}"
