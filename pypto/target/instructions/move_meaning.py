"""What the moving instructions do, on NumPy bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target import numerics
from pypto.target.dtypes import BF16, F16, F32, I8, I16, I32, DType
from pypto.target.instruction import Instruction, byte_ranges
from pypto.target.instructions.bytes import element
from pypto.target.memory import BLOCK_BYTES, Space

Memories = dict[Space, np.ndarray]

# The atomic mode register: operation + 4 * element type; 0 overwrites.
ATOMIC_OPERATIONS = ("none", "add", "max", "min")
ATOMIC_TYPES: tuple[DType, ...] = (F32, F16, BF16, I32, I16, I8)


def atomic_mode(operation: str, dtype: DType) -> int:
    """The number of an atomic mode."""
    return ATOMIC_OPERATIONS.index(operation) + 4 * ATOMIC_TYPES.index(dtype)


def store(gm: np.ndarray, start: int, data: np.ndarray, atomic: int) -> None:
    """Bytes to GM, combined with what is there when ``atomic`` says so."""
    stop = start + len(data)
    if atomic % 4 == 0:
        gm[start:stop] = data
        return
    dtype = ATOMIC_TYPES[atomic // 4]
    old, new = gm[start:stop].view(dtype.numpy), data.view(dtype.numpy)
    function = (np.add, np.maximum, np.minimum)[atomic % 4 - 1]
    with np.errstate(all="ignore"):
        if dtype.is_float:
            result = numerics.nearest(
                function(old.astype(np.float32), new.astype(np.float32)), dtype
            )
        else:
            result = function(old, new)
    gm[start:stop] = result.view(np.uint8)


def rows_of(f: Any, row: Instruction) -> tuple[list[slice], list[slice]]:
    """Destination and source byte ranges of every burst, in order."""
    target, source = row.family.footprint(f, row.facts)
    return (
        [slice(*span) for span in byte_ranges(target)],
        [slice(*span) for span in byte_ranges(source)],
    )


def copy_in(memory: Memories, f: Any, row: Instruction) -> None:
    filler = np.ascontiguousarray(element(f.pad_value, row.dtype)).view(np.uint8)
    left = f.left * row.dtype.bytes
    for target, source in zip(*rows_of(f, row), strict=True):
        if f.left + f.right == 0:
            filler = memory[Space.GM][source.start : source.start + row.dtype.bytes]
        line = np.tile(filler, (target.stop - target.start) // len(filler))
        line[left : left + f.length] = memory[Space.GM][source]
        memory[Space.UB][target] = line


def copy_out(memory: Memories, f: Any, row: Instruction) -> None:
    for target, source in zip(*rows_of(f, row), strict=True):
        store(memory[Space.GM], target.start, memory[Space.UB][source], f.atomic)


def nd2nz(memory: Memories, f: Any, row: Instruction) -> None:
    size = row.dtype.bytes
    length = f.columns * size
    for matrix, r in np.ndindex(f.nd_count, f.rows if length else 0):
        start = f.src + (matrix * f.src_nd_stride + r * f.src_row_stride) * size
        origin = f.dst + matrix * f.dst_nd_stride * size + r * f.dst_row_stride * BLOCK_BYTES
        for block in range(0, length, BLOCK_BYTES):
            piece = memory[Space.GM][start + block : start + min(block + BLOCK_BYTES, length)]
            target = origin + block * f.dst_column_stride
            line = np.zeros(BLOCK_BYTES, np.uint8)
            line[: len(piece)] = piece
            memory[Space.L1][target : target + BLOCK_BYTES] = line
