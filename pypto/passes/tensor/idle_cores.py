"""What it costs that one core walks a reduced axis while others have nothing to do."""

from __future__ import annotations

from dataclasses import dataclass

from pypto.passes.core_kinds import cores_for
from pypto.target.soc import Soc

# The narrowest tile beside a walk down rows, in elements: a 32-byte block of f16.
COLUMN_TILE = 16


@dataclass(frozen=True)
class Walk:
    """``outer`` x ``inner`` reductions of ``length`` elements; ``inner`` ones lie side by side."""

    outer: int
    length: int
    inner: int = 1

    @property
    def elements(self) -> int:
        return self.outer * self.length * self.inner

    @property
    def tasks(self) -> int:
        """Pieces of work that cores can share out: rows, or groups of columns."""
        return self.outer * (1 if self.inner == 1 else -(-self.inner // COLUMN_TILE))

    def split(self, parts: int) -> Walk:
        """The same elements, every reduction in equal parts."""
        return Walk(self.outer * parts, self.length // parts, self.inner)


def cycles_lost(walk: Walk, work: int, soc: Soc) -> int:
    """Cycles beyond ``work`` / cores, where ``work`` is what one core needs for all tasks."""
    cores = cores_for(soc, multiplies=False)
    turns = -(-walk.tasks // cores)
    return work * turns // max(1, walk.tasks) - work // cores
