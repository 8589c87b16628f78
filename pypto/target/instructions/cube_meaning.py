"""What mad and fixpipe compute, on NumPy bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target import layouts, numerics
from pypto.target.dtypes import F32
from pypto.target.instruction import Instruction
from pypto.target.instructions.bytes import read, write
from pypto.target.instructions.move_meaning import store
from pypto.target.memory import BLOCK_BYTES, Space

Memories = dict[Space, np.ndarray]


def mad(memory: Memories, f: Any, row: Instruction) -> None:
    """One k after the other: the product rounded to f32, then the sum rounded to f32."""
    if f.m * f.n * f.k == 0:
        return
    source = row.source_dtype
    depth = layouts.c0(source.bytes)
    pitch = layouts.round_up(f.k, layouts.EDGE) if f.k_align else f.k
    i, j = np.indices((f.m, f.k))
    offset = j if f.m == 1 else layouts.zz(i, j, pitch, depth)
    a = read(memory[Space.L0A], f.a + offset * source.bytes, source).astype(np.float32)
    i, j = np.indices((f.k, f.n))
    offset = layouts.nz_l0b(i, j, f.n, depth)
    b = read(memory[Space.L0B], f.b + offset * source.bytes, source).astype(np.float32)
    i, j = np.indices((f.m, f.n))
    c = f.c + layouts.l0c(i, j, f.m) * F32.bytes
    accumulator = memory[Space.L0C]
    total = np.zeros((f.m, f.n), np.float32) if f.c_init else read(accumulator, c, F32)
    write(accumulator, c, numerics.accumulate_products(total, a, b), F32)


def fixpipe(memory: Memories, f: Any, row: Instruction) -> None:
    if f.m * f.n == 0:
        return
    i, j = np.indices((f.m, f.n))
    unit = layouts.EDGE * F32.bytes
    source = f.src + j // layouts.EDGE * f.src_stride * unit + i * unit + j % layouts.EDGE * 4
    values = read(memory[Space.L0C], source, F32)
    if f.relu:
        values = numerics.relu(values)
    data = numerics.saturate_float(values, row.dtype)
    for start, line in lines(f, row, data):
        store(memory[Space.GM], start, np.ascontiguousarray(line).view(np.uint8), f.atomic)


def lines(f: Any, row: Instruction, data: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """The runs to store: whole rows (nz2nd), or 16 columns of a row."""
    size = row.dtype.bytes
    if f.nz2nd:
        return [(f.dst + r * f.dst_stride * size, line) for r, line in enumerate(data)]
    return [
        (
            f.dst + column // layouts.EDGE * f.dst_stride * BLOCK_BYTES + r * layouts.EDGE * size,
            line[column : column + layouts.EDGE],
        )
        for column in range(0, f.n, layouts.EDGE)
        for r, line in enumerate(data)
    ]
