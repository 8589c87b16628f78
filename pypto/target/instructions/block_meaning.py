"""What block copies, the drain of the accumulator and vnchwconv do, on NumPy bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target import numerics
from pypto.target.dtypes import F32
from pypto.target.instruction import Instruction
from pypto.target.instructions.move_meaning import rows_of, store
from pypto.target.memory import BLOCK_BYTES, Space

Memories = dict[Space, np.ndarray]
EDGE = 16


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


def transpose(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    entry = np.arange(EDGE)
    lane = np.arange(BLOCK_BYTES)
    for r in range(f.repeat):
        source = entry // 2 * f.src_step + entry % 2 * f.src_pair + r * f.src_repeat
        target = entry // 2 * f.dst_step + entry % 2 * f.dst_pair + r * f.dst_repeat
        rows = ub[f.src + source[:, None] * BLOCK_BYTES + lane].view(np.uint16)
        turned = np.ascontiguousarray(rows.T).view(np.uint8)
        ub[f.dst + target[:, None] * BLOCK_BYTES + lane] = turned
