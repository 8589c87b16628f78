"""Multiplications bit for bit against one k after the other, in exact arithmetic rounded once.

The reference knows no instruction: it packs whole matrices by reshaping, multiplies and adds in
float64 or in whole numbers of any size, and rounds or wraps each step to the type of the sum.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

from pypto.target.instructions import BY_MNEMONIC
from pypto.target.memory import SPACES, Space
from tests.emulator.test_bodies import run_body

BFLOAT = np.dtype(ml_dtypes.bfloat16)
MEMORY = 1 << 16
OPERAND = 4096  # an address with other bytes on both sides


class Kind(NamedTuple):
    """A row: types of A, B and the sum, and the mode that rounds f32 factors."""

    row: str
    a: np.dtype
    b: np.dtype
    total: np.dtype
    hf32: int = 0


def kind(row: str, a: object, b: object, total: object, hf32: int = 0) -> Kind:
    return Kind(row, np.dtype(a), np.dtype(b), np.dtype(total), hf32)


KINDS = [
    kind("f16", "f2", "f2", "f4"),
    kind("bf16", BFLOAT, BFLOAT, "f4"),
    kind("f32", "f4", "f4", "f4"),
    kind("f32", "f4", "f4", "f4", hf32=1),
    kind("f32", "f4", "f4", "f4", hf32=3),
    kind("f32", "f4", "f4", "f4", hf32=2),  # the rounding mode alone does nothing
    kind("i8", "i1", "i1", "i4"),
    kind("u8", "u1", "u1", "u4"),
    kind("u8i8", "u1", "i1", "i4"),
    kind("f16f16", "f2", "f2", "f2"),
]
NAMES = [f"{k.row}-{k.hf32}" for k in KINDS]


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, wild: bool):
    """Numbers of every size with ``wild`` (every bit pattern), else ones near 1."""
    if wild or dtype.kind in "iu":
        count = int(np.prod(shape))
        return rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype).reshape(shape)
    return rng.normal(size=shape).astype(dtype)


def rounded(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return values.astype(dtype).astype(np.float64)


def hf32(values: np.ndarray, mode: int) -> np.ndarray:
    """f32 with 10 fraction bits, of the exponent its number has, to nearest even or towards 0."""
    exact = values.astype(np.float64)
    _, exponent = np.frexp(exact)
    unit = np.ldexp(1.0, np.maximum(exponent - 1, -126) - 10)
    whole = (np.trunc if mode & 2 else np.rint)(exact / unit) * unit
    return np.where(np.isfinite(exact), whole, exact).astype(np.float32)


@np.errstate(all="ignore")
def product(k: Kind, a: np.ndarray, b: np.ndarray, start: np.ndarray) -> np.ndarray:
    """start + a @ b, a step for each k."""
    if k.hf32 & 1:
        a, b = hf32(a, k.hf32), hf32(b, k.hf32)
    if k.total.kind in "iu":
        whole = start.astype(object) + a.astype(object) @ b.astype(object)
        return (whole & 0xFFFFFFFF).astype(np.uint32).view(k.total)
    total = start.astype(np.float64)
    a, b = a.astype(np.float64), b.astype(np.float64)
    for i in range(a.shape[1]):
        total = rounded(total + rounded(a[:, i : i + 1] * b[i], k.total), k.total)
    return total.astype(k.total)


def padded(matrix: np.ndarray, rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """The matrix in a larger one that holds other numbers."""
    height, width = -(-matrix.shape[0] // rows) * rows, -(-matrix.shape[1] // columns) * columns
    whole = drawn(rng, (height, width), matrix.dtype, wild=True).copy()
    whole[: matrix.shape[0], : matrix.shape[1]] = matrix
    return whole


def fractals(whole: np.ndarray, rows: int, columns: int, order: tuple[int, ...]) -> np.ndarray:
    """Axes 0 and 2: blocks of rows and of columns; 1 and 3: inside a block."""
    height, width = whole.shape
    return whole.reshape(height // rows, rows, width // columns, columns).transpose(order).ravel()


def left(a: np.ndarray, align: bool, rng: np.random.Generator) -> np.ndarray:
    """A as it lies in L0A: a plain row, or zZ with a pitch of K that may be a multiple of 16."""
    if a.shape[0] == 1:
        return a.ravel()
    depth = 32 // a.dtype.itemsize
    return fractals(padded(a, 16, 16 if align else depth, rng), 16, depth, (0, 2, 1, 3))


def right(b: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    depth = 32 // b.dtype.itemsize
    return fractals(padded(b, depth, 16, rng), depth, 16, (0, 2, 3, 1))


def put(memory: np.ndarray, at: int, values: np.ndarray) -> None:
    data = np.ascontiguousarray(values).view(np.uint8)
    memory[at : at + data.size] = data


class Case(NamedTuple):
    m: int
    k: int
    n: int
    start: str = "zero"  # or "c", or "bias"
    align: bool = False
    wild: bool = False


def check(k: Kind, case: Case) -> None:
    """The body and the meaning of the row give what the reference does, and touch nothing else."""
    rng = np.random.default_rng([case.m, case.k, case.n, case.wild])
    a = drawn(rng, (case.m, case.k), k.a, case.wild)
    b = drawn(rng, (case.k, case.n), k.b, case.wild)
    c = drawn(rng, (case.m, case.n), k.total, case.wild)
    bias = drawn(rng, (1, case.n), k.total, case.wild)
    memories = {space: rng.integers(0, 256, MEMORY, np.uint8) for space in SPACES}
    put(memories[Space.L0A], OPERAND, left(a, case.align, rng))
    put(memories[Space.L0B], OPERAND, right(b, rng))
    whole = padded(c, 16, 16, rng)
    put(memories[Space.L0C], OPERAND, fractals(whole, 16, 16, (2, 0, 1, 3)))
    put(memories[Space.BT], OPERAND, bias.ravel())
    start = {"zero": np.zeros_like(c), "c": c, "bias": np.broadcast_to(bias, c.shape)}[case.start]
    whole[: case.m, : case.n] = product(k, a, b, start)
    expected = fractals(whole, 16, 16, (2, 0, 1, 3))
    name = "mad_bias" if case.start == "bias" else "mad"
    row = BY_MNEMONIC[f"{name}.{k.row}"]
    values = {"m": case.m, "k": case.k, "n": case.n, "k_align": int(case.align)}
    values |= dict.fromkeys("cab", OPERAND)
    values |= {"bias": OPERAND} if case.start == "bias" else {"c_init": int(case.start == "zero")}
    values |= {"hf32": k.hf32} if k.row == "f32" else {}
    fields = row.family.make(**values)
    by_meaning = {space: memory.copy() for space, memory in memories.items()}
    row.meaning(by_meaning, fields, row)
    before = memories[Space.L0C].copy()
    assert run_body(row, fields, memories) == 0
    for memory in (memories[Space.L0C], by_meaning[Space.L0C]):
        stop = OPERAND + expected.nbytes
        got = memory[OPERAND:stop].view(k.total)
        same = got == expected
        if k.total.kind == "f":
            bits = f"u{k.total.itemsize}"
            same = (got.view(bits) == expected.view(bits)) | (np.isnan(got) & np.isnan(expected))
        assert same.all(), (k, case)
        memory[OPERAND:stop] = before[OPERAND:stop]
        assert np.array_equal(memory, before)


AWKWARD = [
    (1, 1, 1), (1, 33, 17), (1, 16, 16), (1, 100, 1), (2, 1, 3), (15, 17, 16), (16, 16, 16),
    (16, 32, 48), (17, 15, 33), (31, 8, 7), (32, 64, 32), (33, 33, 33), (48, 5, 20), (3, 70, 65),
]  # fmt: skip


@pytest.mark.parametrize("shape", AWKWARD)
@pytest.mark.parametrize("k", KINDS, ids=NAMES)
def test_products_of_awkward_tiles(k: Kind, shape: tuple[int, int, int]) -> None:
    for start, wild in itertools.product(starts(k), (False, True)):
        check(k, Case(*shape, start, wild=wild))


def starts(k: Kind) -> tuple[str, ...]:
    return ("zero", "c", "bias") if f"mad_bias.{k.row}" in BY_MNEMONIC else ("zero", "c")


@pytest.mark.parametrize("shape", [(2, 8, 16), (17, 9, 5), (33, 24, 16), (20, 40, 33), (1, 20, 4)])
@pytest.mark.parametrize("mode", [0, 1, 3])
def test_a_pitch_of_k_that_is_a_multiple_of_16(mode: int, shape: tuple[int, int, int]) -> None:
    for start in ("zero", "c", "bias"):
        check(kind("f32", "f4", "f4", "f4", mode), Case(*shape, start, align=True))


def test_integers_wrap_beyond_32_bits() -> None:
    """Sums that leave the range on either side come in again on the other."""
    k = kind("i8", "i1", "i1", "i4")
    ones = np.full((1, 64), -128, np.int8)
    for start, step in ((2**31 - 5, ones), (-(2**31) + 5, -(ones + 1))):
        total = product(k, ones, step.T, np.array([[start]], np.int32))
        assert total[0, 0] != np.clip(
            start + int((ones.astype(int) @ step.T)[0, 0]), -(2**31), 2**31 - 1
        )
        memories = {space: np.zeros(MEMORY, np.uint8) for space in SPACES}
        put(memories[Space.L0A], 0, ones)
        put(memories[Space.L0B], 0, right(np.ascontiguousarray(step.T), np.random.default_rng(0)))
        put(memories[Space.L0C], 0, np.array([start], np.int32))
        row = BY_MNEMONIC["mad.i8"]
        assert run_body(row, row.family.make(c=0, a=0, b=0, m=1, k=64, n=1), memories) == 0
        assert memories[Space.L0C][:4].view(np.int32)[0] == total[0, 0]


@pytest.mark.full
@pytest.mark.parametrize("m", range(1, 34))
@pytest.mark.parametrize("k", KINDS, ids=NAMES)
def test_products_of_every_small_tile(k: Kind, m: int) -> None:
    """All m, k and n from 1 to 33, the way to start and the kind of numbers in turn."""
    turns = itertools.cycle(itertools.product(starts(k), (False, True, False)))
    for depth, n in itertools.product(range(1, 34), range(1, 34)):
        start, wild = next(turns)
        check(k, Case(m, depth, n, start, wild=wild))
