"""What block copies and the drain of the accumulator do, on NumPy bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target import numerics
from pypto.target.dtypes import F32
from pypto.target.instruction import Instruction
from pypto.target.instructions.move_meaning import rows_of, store
from pypto.target.memory import Space

Memories = dict[Space, np.ndarray]


def copy_blocks(memory: Memories, f: Any, row: Instruction) -> None:
    target_space, source_space = row.spaces()
    for target, source in zip(*rows_of(f, row), strict=True):
        memory[target_space][target] = memory[source_space][source].copy()


def store_blocks(memory: Memories, f: Any, row: Instruction) -> None:
    for target, source in zip(*rows_of(f, row), strict=True):
        store(memory[Space.GM], target.start, memory[Space.UB][source], f.atomic)


def drain(memory: Memories, f: Any, row: Instruction) -> None:
    """Rounded to nearest, ties to even; beyond the type's range infinite."""
    for target, source in zip(*rows_of(f, row), strict=True):
        values = memory[Space.L0C][source].view(F32.numpy)
        if f.relu:
            values = np.where((values > 0) | (values != values), values, np.float32(0))
        memory[Space.UB][target] = numerics.nearest(values, row.dtype).view(np.uint8)
