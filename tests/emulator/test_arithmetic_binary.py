"""Every binary and fused instruction on random pairs, against wider arithmetic.

Sums, products and quotients of f32 are exact or rounded far finer in long double, those of halves
in f64; rounding once more to the result then changes nothing that one rounding would not.
"""

from __future__ import annotations

import numpy as np
import pytest

from pypto.target.dtypes import F16, F32, I8, U8, DType
from pypto.target.instruction import Instruction
from pypto.target.instructions import INSTRUCTIONS
from tests.emulator.arithmetic import bits_of, compute, differences, drawn, limited

BINARY = [row for row in INSTRUCTIONS if row.family.name == "binary"]
FUSED = [row for row in INSTRUCTIONS if row.family.name == "fused"]
AXPY = [row for row in INSTRUCTIONS if row.family.name == "fused_scalar"]
PAIRS, ALL_PAIRS, AT_ONCE = 100_000, 10_000_000, 1_000_000


def to_type(values: np.ndarray, dtype: DType) -> np.ndarray:
    with np.errstate(all="ignore"):
        return values.astype(dtype.numpy)


def wrapped(values: np.ndarray, dtype: DType) -> np.ndarray:
    width = 8 * dtype.bytes
    low = values & ((1 << width) - 1)
    return (low - ((low >> (width - 1)) << width)).astype(dtype.numpy)


def wide(values: np.ndarray) -> np.ndarray:
    kinds = {"float16": np.float64, "float32": np.longdouble}
    return values.astype(kinds.get(values.dtype.name, np.int64))


def positive(values: np.ndarray) -> np.ndarray:
    """0 in place of what is not above it; NaN stays."""
    return np.where((values > 0) | (values != values), values, values.dtype.type(0))


def narrowed(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Numbers to eight bits: to nearest even, saturated; NaN is 0."""
    limits = np.iinfo(dtype.numpy)
    exact = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=1e9, neginf=-1e9)
    floor = np.floor(exact)
    up = (exact - floor > 0.5) | ((exact - floor == 0.5) & (floor % 2 == 1))
    return np.clip(floor + up, limits.min, limits.max).astype(dtype.numpy)


def combined(name: str, a: np.ndarray, b: np.ndarray, dtype: DType) -> np.ndarray:
    """An operation in the type of its operands."""
    if name == "vmax":
        return np.where((a >= b) | (a != a), a, b)
    if name == "vmin":
        return np.where((a <= b) | (a != a), a, b)
    if name == "vand":
        return (~(~bits_of(a) | ~bits_of(b))).view(a.dtype)
    if name == "vor":
        return (~(~bits_of(a) & ~bits_of(b))).view(a.dtype)
    x, y = wide(a), wide(b)
    relu = name.endswith("relu")
    operation = name.removesuffix("relu")
    value = {"vadd": lambda: x + y, "vsub": lambda: x - y, "vmul": lambda: x * y,
             "vdiv": lambda: x / y}[operation]()  # fmt: skip
    result = to_type(value, dtype) if dtype.is_float else wrapped(value, dtype)
    return positive(result) if relu else result


def expected(row: Instruction, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    name, source = row.op_name.split("_")[0], row.source_dtype
    result = combined(name.removesuffix("conv"), a, b, source)
    if row.dtype in (I8, U8):
        return narrowed(result, row.dtype)
    return to_type(result, row.dtype) if row.source is not None else result


@np.errstate(all="ignore")
def check(row: Instruction, count: int, seed: int) -> None:
    random = np.random.default_rng([seed, len(row.mnemonic)])
    a, b = (drawn(row.source_dtype, count, random) for _ in range(2))
    actual, wanted = compute(row.mnemonic, a, b), expected(row, a, b)
    wrong = differences(actual, wanted)[:5]
    assert wrong.size == 0, (a[wrong], b[wrong], actual[wrong], wanted[wrong])
    if row.dtype == F16 and seed == 0:
        assert differences(compute(row.mnemonic, a, b, saturation=1), limited(wanted)).size == 0


@pytest.mark.parametrize("row", BINARY, ids=lambda row: row.mnemonic)
def test_binary_instructions_are_exact(row: Instruction) -> None:
    check(row, PAIRS, 0)


@pytest.mark.full
@pytest.mark.parametrize("row", BINARY, ids=lambda row: row.mnemonic)
def test_binary_instructions_are_exact_on_ten_million_pairs(row: Instruction) -> None:
    for seed in range(1, 1 + ALL_PAIRS // AT_ONCE):
        check(row, AT_ONCE, seed)


# Fused: the product rounded to f32, then the sum; halves rounded once more, at the end.


def single(values: np.ndarray) -> np.ndarray:
    return to_type(values, F32)


def product_and_sum(x: np.ndarray, y: np.ndarray, z: np.ndarray, dtype: DType) -> np.ndarray:
    product = single(x.astype(np.float64) * y.astype(np.float64))
    return to_type(single(product.astype(np.float64) + z.astype(np.float64)), dtype)


@np.errstate(all="ignore")
def check_fused(row: Instruction, count: int, seed: int) -> None:
    random = np.random.default_rng([seed, 99])
    a, b = (drawn(row.source_dtype, count, random) for _ in range(2))
    old = drawn(row.dtype, count, random)
    if row.family.name == "fused_scalar":
        factor = np.array([0.37 + seed], row.source_dtype.numpy)
        wanted = product_and_sum(a, factor, old, row.dtype)
        actual = compute(row.mnemonic, a, old=old, scalar=int(bits_of(factor)[0]))
    else:
        first, second = (b, old) if row.op_name == "vmla" else (old, b)
        wanted = product_and_sum(a, first, second, row.dtype)
        wanted = positive(wanted) if row.op_name == "vmaddrelu" else wanted
        actual = compute(row.mnemonic, a, b, old=old)
    wrong = differences(actual, wanted)[:5]
    assert wrong.size == 0, (a[wrong], b[wrong], old[wrong], actual[wrong], wanted[wrong])


@pytest.mark.parametrize("row", [*FUSED, *AXPY], ids=lambda row: row.mnemonic)
def test_fused_instructions_are_exact(row: Instruction) -> None:
    check_fused(row, PAIRS, 0)


@pytest.mark.full
@pytest.mark.parametrize("row", [*FUSED, *AXPY], ids=lambda row: row.mnemonic)
def test_fused_instructions_are_exact_on_ten_million_operands(row: Instruction) -> None:
    for seed in range(1, 1 + ALL_PAIRS // AT_ONCE):
        check_fused(row, AT_ONCE, seed)
