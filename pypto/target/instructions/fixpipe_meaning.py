"""What the drain of the accumulator does, on NumPy bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target import layouts, quantisation
from pypto.target.dtypes import I64
from pypto.target.instruction import Instruction
from pypto.target.instructions.bytes import read
from pypto.target.instructions.move_meaning import store
from pypto.target.memory import BLOCK_BYTES, Space

Memories = dict[Space, np.ndarray]


def drained(memory: Memories, f: Any, row: Instruction) -> np.ndarray:
    """The m x n elements as they leave the accumulator."""
    i, j = np.indices((f.m, f.n))
    block = (j // layouts.EDGE * f.src_stride + i) * layouts.EDGE + j % layouts.EDGE
    source = row.source_dtype
    values = read(memory[Space.L0C], f.src + block * source.bytes, source)
    words = np.zeros(1, np.int64)
    if "quant_pre" in f._fields:
        words = np.array([f.quant_pre], np.int64)
    elif "words" in f._fields:
        words = read(memory[Space.FB], f.words + np.arange(f.n) * I64.bytes, I64)
    return quantisation.convert(values, row.dtype, row.facts.variant, words, bool(f.relu))


def fixpipe(memory: Memories, f: Any, row: Instruction) -> None:
    if f.m * f.n == 0:
        return
    target = memory[row.spaces()[0]]
    atomic = getattr(f, "atomic", 0)
    for start, line in lines(f, row, drained(memory, f, row)):
        store(target, start, np.ascontiguousarray(line).view(np.uint8), atomic)


def lines(f: Any, row: Instruction, data: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """The runs to store: whole rows (``nz2nd``), or the columns of a fractal of a row."""
    size = row.dtype.bytes
    if getattr(f, "nz2nd", 0):
        return [(f.dst + r * f.dst_stride * size, line) for r, line in enumerate(data)]
    width = max(layouts.EDGE, layouts.c0(size))
    if getattr(f, "channel_split", 0):
        width = layouts.EDGE // 2
    return [
        (
            f.dst + column // width * f.dst_stride * BLOCK_BYTES + r * width * size,
            line[column : column + width],
        )
        for column in range(0, f.n, width)
        for r, line in enumerate(data)
    ]
