"""Program: the frozen instruction rows of one kernel, and the builder that makes them.

A row is ``ROW_WIDTH`` int64 columns: opcode, pipe (position in ``PIPES``), register mask, source
line (position in ``Program.lines``, -1 for none), then the fields in table order. Bit j of the
mask says that field j is *read from* the register it names; a destination (``rd``) is always a
register number and never has its bit set. A jump target is the absolute index of a row. Columns
of state fields stay 0: the machine fills them from the mode registers at dispatch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pypto.target.dtypes import DType
from pypto.target.memory import CoreKind, Space

ROW_WIDTH = 24
OPCODE_COLUMN, PIPE_COLUMN, MASK_COLUMN, LINE_COLUMN, FIELD_COLUMN = range(5)
FIELD_LIMIT = ROW_WIDTH - FIELD_COLUMN
REGISTER_COUNT = 32
BLOCK_INDEX_REGISTER, BLOCK_COUNT_REGISTER = 0, 1


@dataclass(frozen=True)
class Register:
    """A scalar register; ``r0`` starts as the block index, ``r1`` as the number of blocks."""

    number: int

    def __str__(self) -> str:
        return f"r{self.number}"


@dataclass(frozen=True)
class Parameter:
    """A launch argument, read by ``ldp``: a ``buffer`` (its address) or a ``scalar``.

    ``writes`` says that the kernel may write the buffer.
    """

    name: str
    kind: str
    dtype: DType | None = None
    writes: bool = False


@dataclass(frozen=True)
class LocalBuffer:
    """A named range of local memory: ``slots`` equal slots in ``bytes`` bytes at ``address``."""

    name: str
    space: Space
    address: int
    bytes: int
    slots: int = 1


@dataclass(frozen=True, eq=False)
class Program:
    """One kernel as the machine runs it; ``rows`` is int64 of shape (count, ROW_WIDTH)."""

    name: str
    core: CoreKind
    rows: np.ndarray
    lines: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    buffers: tuple[LocalBuffer, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self._plain() == other._plain() and np.array_equal(self.rows, other.rows)

    def __hash__(self) -> int:
        return hash((self._plain(), self.rows.tobytes()))

    def _plain(self) -> tuple[object, ...]:
        return (self.name, self.core, self.lines, self.parameters, self.buffers)
