"""Every unary instruction on all 65,536 halves, or on random f32, against wider arithmetic.

Results are rounded to half by searching among all halves, not by a conversion.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pypto.target.dtypes import DType
from pypto.target.instruction import Instruction
from pypto.target.instructions import INSTRUCTIONS
from tests.emulator.arithmetic import CODES, bits_of, compute, differences, drawn, limited

UNARY = [
    row
    for row in INSTRUCTIONS
    if row.family.name == "unary" and not row.mnemonic.startswith("vconv_")
]
SCALARS = [row for row in INSTRUCTIONS if row.family.name in ("scalar_binary", "shift_right")]
SHIFTS = [row for row in SCALARS if row.op_name == "vshr"]
MANY, MORE = 100_000, 10_000_000
Wide = np.ndarray  # long double

HALVES = CODES.view(np.float16)
FINITE = np.unique(HALVES[np.isfinite(HALVES)])  # one zero
OVERFLOW = np.longdouble(65520)  # half way between the largest half and the next power


def to_half(values: Wide) -> np.ndarray:
    """The nearest halves, ties to the even one, by looking them up."""
    with np.errstate(all="ignore"):
        table = FINITE.astype(np.longdouble)
        inside = np.clip(np.nan_to_num(values, nan=0.0), -65504, 65504)
        above = np.clip(np.searchsorted(table, inside), 1, len(table) - 1)
        down, up = inside - table[above - 1], table[above] - inside
        odd = bits_of(FINITE[above - 1]) & 1 == 1
        chosen = np.where((up < down) | ((up == down) & odd), above, above - 1)
        result = FINITE[chosen].copy()
        result[values >= OVERFLOW], result[values <= -OVERFLOW] = np.inf, -np.inf
        result = np.copysign(result, np.where(np.signbit(values), -1, 1).astype(np.float16))
        result[np.isnan(values)] = np.nan
    return result.astype(np.float16)


def rounded(values: Wide, dtype: DType) -> np.ndarray:
    if dtype.name == "f16":
        return to_half(values)
    with np.errstate(all="ignore"):
        return values.astype(dtype.numpy)


def coarse(values: Wide, dtype: DType) -> np.ndarray:
    """The approximation of vrec and vrsqrt: f32 cut to eight fraction bits."""
    with np.errstate(all="ignore"):
        single = values.astype(np.float32)
    cut = (bits_of(single) & np.uint32(0xFFFF8000)).view(np.float32)
    return rounded(cut.astype(np.longdouble), dtype)


def invert(a: np.ndarray) -> np.ndarray:
    return (-1 - a.astype(np.int64)).astype(a.dtype)


def relu(a: np.ndarray) -> np.ndarray:
    result = a.copy()
    result[a <= 0] = 0
    return result


def magnitude(a: np.ndarray) -> np.ndarray:
    sign = 1 << (8 * a.dtype.itemsize - 1)
    return (bits_of(a) & (sign - 1)).astype(bits_of(a).dtype).view(a.dtype)


EXACT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "vabs": magnitude,
    "vrelu": relu,
    "vnot": invert,
    "vcopy": np.copy,
}
REAL: dict[str, Callable[[Wide], Wide]] = {"vexp": np.exp, "vln": np.log, "vsqrt": np.sqrt}
COARSE: dict[str, Callable[[Wide], Wide]] = {
    "vrec": lambda x: 1 / x,
    "vrsqrt": lambda x: 1 / np.sqrt(x),
}


def expected(row: Instruction, values: np.ndarray) -> np.ndarray:
    name = row.op_name
    if name in EXACT:
        return EXACT[name](values)
    wide = values.astype(np.longdouble)
    if name in COARSE:
        return coarse(COARSE[name](wide), row.dtype)
    return rounded(REAL[name](wide), row.dtype)


def operands(dtype: DType, count: int) -> np.ndarray:
    """All elements of a 16-bit type, random ones of a wider type."""
    if dtype.bytes == 2:
        return CODES.view(dtype.numpy)
    special = np.array([0, 0x80000000, 0x7F800000, 0xFF800000, 1], np.uint32).view(dtype.numpy)
    return np.concatenate([special, drawn(dtype, count, np.random.default_rng(23))])


@np.errstate(all="ignore")
def check(row: Instruction, count: int) -> None:
    values = operands(row.dtype, count)
    actual, wanted = compute(row.mnemonic, values), expected(row, values)
    wrong = differences(actual, wanted)
    assert wrong.size == 0, (values[wrong[:5]], actual[wrong[:5]], wanted[wrong[:5]])
    if row.dtype.name == "f16":
        saturated = compute(row.mnemonic, values, saturation=1)
        assert differences(saturated, limited(wanted)).size == 0


@pytest.mark.parametrize("row", UNARY, ids=lambda row: row.mnemonic)
def test_unary_instructions_are_exact(row: Instruction) -> None:
    check(row, MANY)


@pytest.mark.full
@pytest.mark.parametrize("row", [r for r in UNARY if r.dtype.bytes > 2], ids=lambda r: r.mnemonic)
def test_unary_instructions_are_exact_on_many_words(row: Instruction) -> None:
    check(row, MORE // 10)


# With a scalar.


def wrapped(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Integers (int64) modulo the range of a type."""
    width = 8 * dtype.bytes
    low = values & ((1 << width) - 1)
    if dtype.kind == "i":
        low = low - ((low >> (width - 1)) << width)
    return low.astype(dtype.numpy)


def chosen(a: np.ndarray, b: np.ndarray, keeps_first: np.ndarray) -> np.ndarray:
    """The first where it wins or is NaN, else the second: NaN wins, equal ones give the first."""
    return np.where(keeps_first | (a != a), a, b)


def with_scalar(row: Instruction, a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """The result of an instruction with a scalar, computed wider."""
    name, dtype = row.op_name, row.dtype
    if name == "vmaxs":
        return chosen(a, b, a >= b)
    if name == "vmins":
        return chosen(a, b, a <= b)
    if name in ("vshl", "vshr"):
        whole = a.astype(np.int64)
        amount = min(bits, 8 * dtype.bytes)
        shifted = whole * (1 << amount) if name == "vshl" else whole // (1 << amount)
        return wrapped(shifted, dtype)
    kind = np.longdouble if dtype.is_float else np.int64
    x, y = a.astype(kind), b.astype(kind)
    value = {"vadds": x + y, "vmuls": x * y, "vlrelu": np.where(x >= 0, x, x * y)}[name]
    return rounded(value, dtype) if dtype.is_float else wrapped(value, dtype)


@pytest.mark.parametrize("row", SCALARS, ids=lambda row: row.mnemonic)
@np.errstate(all="ignore")
def test_instructions_with_a_scalar_are_exact(row: Instruction) -> None:
    random, dtype = np.random.default_rng(29), row.dtype
    values = operands(dtype, MANY)
    scalars = [int(bits) for bits in bits_of(drawn(dtype, 6, random))]
    if row.op_name in ("vshl", "vshr"):
        scalars = [0, 1, 7, 15, 16, 31, 32, 40]
    elif dtype.is_float:
        ones = np.array([-0.0, 0.0, 1.0, -2.5, np.inf, np.nan], dtype.numpy)
        scalars += [int(bits) for bits in bits_of(ones)]
    for bits in scalars:
        b = np.array([bits], f"u{dtype.bytes}").view(dtype.numpy)
        actual = compute(row.mnemonic, values, scalar=bits)
        wanted = with_scalar(row, values, b, bits)
        wrong = differences(actual, wanted)
        assert wrong.size == 0, (b, values[wrong[:5]], actual[wrong[:5]], wanted[wrong[:5]])
        if dtype.name == "f16":
            saturated = compute(row.mnemonic, values, scalar=bits, saturation=1)
            assert differences(saturated, limited(wanted)).size == 0


@pytest.mark.parametrize("amount", [0, 1, 5, 15, 16, 31, 40])
@pytest.mark.parametrize("row", SHIFTS, ids=lambda row: row.mnemonic)
def test_shifts_round_half_up_where_told(row: Instruction, amount: int) -> None:
    values = operands(row.dtype, MANY)
    power = 1 << min(amount, 8 * row.dtype.bytes)
    doubled = 2 * values.astype(np.int64) + power
    wanted = wrapped(doubled // (2 * power) if amount else values.astype(np.int64), row.dtype)
    assert differences(compute(row.mnemonic, values, scalar=amount, round=1), wanted).size == 0
