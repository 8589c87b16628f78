"""What copies of L1 to tables and GM do, on NumPy bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target.instruction import Instruction
from pypto.target.instructions.move_meaning import rows_of, store
from pypto.target.memory import Space

Memories = dict[Space, np.ndarray]


def to_table(memory: Memories, f: Any, row: Instruction) -> None:
    for target, source in zip(*rows_of(f, row), strict=True):
        data = memory[Space.L1][source].view(row.source_dtype.numpy)
        memory[row.spaces()[0]][target] = data.astype(row.dtype.numpy).view(np.uint8)


def to_gm(memory: Memories, f: Any, row: Instruction) -> None:
    for target, source in zip(*rows_of(f, row), strict=True):
        store(memory[Space.GM], target.start, memory[Space.L1][source], f.atomic)
