"""A ring of slots in local memory between the pipe that fills them and the one that drains them.

Each slot has a flag that says it is full and one that says it is free, so filler and drainer run
up to ``slots`` turns apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pypto.target.expressions import Operand
from pypto.target.memory import Pipe

if TYPE_CHECKING:
    from pypto.target.structured import StructuredBuilder


@dataclass(frozen=True)
class Ring:
    """``slots`` slots of ``size`` bytes from ``address``; made by ``StructuredBuilder.ring``.

    ``full`` and ``free`` are the first of ``slots`` event ids from filler to drainer and back.
    """

    builder: StructuredBuilder
    name: str
    address: int
    size: int
    slots: int
    filler: Pipe
    drainer: Pipe
    full: int
    free: int

    def place(self, turn: Operand) -> Operand:
        """The address of the slot of a turn."""
        return self.address + self._slot(turn) * self.size

    @contextmanager
    def cycle(self) -> Iterator[None]:
        """A block at whose beginning and end all slots are free."""
        for slot in range(self.slots):
            self.builder.set_flag(self.drainer, self.filler, self.free + slot)
        yield
        for slot in range(self.slots):
            self.builder.wait_flag(self.drainer, self.filler, self.free + slot)

    @contextmanager
    def filling(self, turn: Operand) -> Iterator[Operand]:
        """The address of the slot while the filler writes it."""
        slot = self._slot(turn)
        self.builder.wait_flag(self.drainer, self.filler, self.free + slot)
        yield self.address + slot * self.size
        self.builder.set_flag(self.filler, self.drainer, self.full + slot)

    @contextmanager
    def draining(self, turn: Operand) -> Iterator[Operand]:
        """The address of the slot while the drainer reads it."""
        slot = self._slot(turn)
        self.builder.wait_flag(self.filler, self.drainer, self.full + slot)
        yield self.address + slot * self.size
        self.builder.set_flag(self.drainer, self.filler, self.free + slot)

    def _slot(self, turn: Operand) -> Operand:
        return 0 if self.slots == 1 else turn % self.slots
