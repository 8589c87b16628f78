"""What the drain of the accumulator to L1 does, on NumPy bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target import layouts, quantisation
from pypto.target.dtypes import I64
from pypto.target.instruction import Instruction
from pypto.target.instructions.bytes import read, write
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
    data = drained(memory, f, row)
    i, j = np.indices((f.m, f.n))
    depth = layouts.c0(row.dtype.bytes)
    start = f.dst + (j // depth * f.dst_stride + i) * BLOCK_BYTES
    write(memory[Space.L1], start + j % depth * row.dtype.bytes, data, row.dtype)
