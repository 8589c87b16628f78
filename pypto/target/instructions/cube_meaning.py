"""What mad computes, on NumPy bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pypto.target import layouts, numerics
from pypto.target.dtypes import F32, I8
from pypto.target.instruction import Instruction
from pypto.target.instructions.bytes import read, write
from pypto.target.memory import Space

Memories = dict[Space, np.ndarray]


class Places(NamedTuple):
    """Byte addresses of the elements of A [m, k], B [k, n] and C [m, n]."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


def places(f: Any, row: Instruction) -> Places:
    """Where the elements of a multiplication lie, each matrix in its own memory."""
    size = row.source_dtype.bytes
    depth = layouts.c0(size)
    pitch = layouts.round_up(f.k, layouts.EDGE) if f.k_align else f.k
    i, j = np.indices((f.m, f.k))
    a = f.a + (j if f.m == 1 else layouts.zz(i, j, pitch, depth)) * size
    i, j = np.indices((f.k, f.n))
    b = f.b + layouts.nz_l0b(i, j, f.n, depth) * size
    i, j = np.indices((f.m, f.n))
    return Places(a, b, f.c + layouts.l0c(i, j, f.m) * row.dtype.bytes)


def mad(memory: Memories, f: Any, row: Instruction) -> None:
    """One k after the other: the product rounded to the type of C, then the sum; integers wrap."""
    if f.m * f.n * f.k == 0:
        return
    where = places(f, row)
    total = np.zeros((f.m, f.n), row.dtype.numpy)
    if not f.c_init:
        total = read(memory[Space.L0C], where.c, row.dtype)
    multiply(memory, f, row, where, total)


def mad_bias(memory: Memories, f: Any, row: Instruction) -> None:
    """As mad, with every row of C starting from the elements of the bias."""
    if f.m * f.n * f.k == 0:
        return
    bias = read(memory[Space.BT], f.bias + np.arange(f.n) * row.dtype.bytes, row.dtype)
    multiply(memory, f, row, places(f, row), np.tile(bias, (f.m, 1)))


def multiply(memory: Memories, f: Any, row: Instruction, where: Places, total: np.ndarray) -> None:
    """Stores ``total`` and the products of all k."""
    source = row.source_dtype
    a = read(memory[Space.L0A], where.a, source)
    b = read(memory[Space.L0B], where.b, I8 if row.facts.variant else source)
    mode = f.hf32 if source == F32 else 0
    if mode & 1:
        a, b = (numerics.to_hf32(x, truncate=bool(mode & 2)) for x in (a, b))
    a, b = (x.astype(row.dtype.numpy) for x in (a, b))
    write(memory[Space.L0C], where.c, numerics.accumulate_products(total, a, b), row.dtype)
