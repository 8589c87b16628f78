"""Every cast in every rounding mode, against floating point in Python integers.

All 65,536 halves, bfloat16s and 16-bit integers; of wider types, numbers on, between and beside
those of the target, and random ones.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pypto.target.dtypes import DType
from pypto.target.instruction import Instruction
from pypto.target.instructions import INSTRUCTIONS
from pypto.target.numerics import MODES
from tests.emulator.arithmetic import CODES, bits_of, compute, differences, limited
from tests.emulator.exact import FORMATS, cast

CASTS = [r for r in INSTRUCTIONS if r.mnemonic.startswith("vconv_") and r.family.name == "unary"]
MANY, MORE = 20_000, 300_000


@cache
def samples(source: DType, count: int) -> np.ndarray:
    """Elements of a type: all of them up to two bytes, else the hard ones and random ones."""
    if source.bytes <= 2:
        return CODES[: 256**source.bytes].astype(f"u{source.bytes}").view(source.numpy)
    random = np.random.default_rng(17)
    bits = random.integers(0, 256, count * source.bytes, np.uint8).view(source.numpy)
    if source.is_float:
        halves = CODES.view(np.float16)[np.isfinite(CODES.view(np.float16))].astype(np.float32)
        steps = bits_of(halves).astype(np.int64)
        ties = np.concatenate([steps + step for step in (-1, 1, 0x0FFF, 0x1000, 0x1001, 0x8000)])
        wholes = (np.arange(-1025, 1026) / 2).astype(np.float32)
        edges = np.float32(2) ** np.arange(-40, 128).astype(np.float32)
        hard = random.choice(ties, count).astype(np.uint32).view(np.float32)
        return np.concatenate([bits, hard, wholes, edges, -edges, np.float32([np.inf, np.nan])])
    powers = 1 << random.integers(0, 8 * source.bytes - 1, count).astype(object)
    near = [int(p) + int(d) for p, d in zip(powers, random.integers(-3, 4, count), strict=True)]
    ties = [int(p) + (int(p) >> 24) for p in powers]
    limits = np.iinfo(source.numpy)
    hard = [min(max(v, int(limits.min)), int(limits.max)) for v in near + ties]
    hard += [-v for v in hard if -v >= limits.min]
    return np.concatenate([bits, np.array(hard, source.numpy), [limits.min, limits.max]]).astype(
        source.numpy
    )


def expected(row: Instruction, values: np.ndarray) -> np.ndarray:
    """The results, from the integers of ``exact``."""
    source, target = row.source_dtype, row.dtype
    mode = MODES[row.facts.variant]
    stored = bits_of(values) if source.is_float else values
    known: dict[int, int | None] = {}
    nan = FORMATS[target.name].infinity + 1 if target.is_float else 0
    results = []
    for number in stored.tolist():
        if number not in known:
            known[number] = cast(number, source.name, target.name, mode)
        results.append(nan if known[number] is None else known[number])
    kind = np.dtype(f"u{target.bytes}") if target.is_float else target.numpy
    return np.array(results, kind).view(target.numpy)


def check(row: Instruction, count: int) -> None:
    values = samples(row.source_dtype, count)
    actual, wanted = compute(row.mnemonic, values), expected(row, values)
    wrong = differences(actual, wanted)
    assert wrong.size == 0, (values[wrong[:5]], actual[wrong[:5]], wanted[wrong[:5]])


@pytest.mark.parametrize("row", CASTS, ids=lambda row: row.mnemonic)
def test_casts_are_exact(row: Instruction) -> None:
    check(row, MANY)


WIDE = [row for row in CASTS if row.source_dtype.bytes > 2]


@pytest.mark.full
@pytest.mark.parametrize("row", WIDE, ids=lambda row: row.mnemonic)
def test_casts_of_many_wide_numbers_are_exact(row: Instruction) -> None:
    check(row, MORE)


@pytest.mark.parametrize("mode", ["", "r", "f", "c", "a", "z", "o"])
def test_casts_to_half_saturate_where_the_mode_says_so(mode: str) -> None:
    row = next(row for row in CASTS if row.mnemonic == f"vconv_f322f16{mode}")
    values = samples(row.source_dtype, MANY)
    actual = compute(row.mnemonic, values, saturation=1)
    assert differences(actual, limited(expected(row, values))).size == 0


def test_casts_to_bfloat_saturate_where_the_mode_says_so() -> None:
    values = np.array([3.4e38, -3.4e38, np.inf, -np.inf, np.nan, 1.5], np.float32)
    largest = float(np.uint16(0x7F7F).view(BFLOAT).astype(np.float32))
    got = compute("vconv_f322bf16r", values, saturation=1).astype(np.float32)
    assert got.tolist() == [largest, -largest, largest, -largest, 0.0, 1.5]


BFLOAT = next(row.dtype.numpy for row in CASTS if row.dtype.name == "bf16")


def test_every_documented_cast_of_a2_is_here() -> None:
    """The table of the vendor's Cast page; 4-bit integers are not modelled."""
    five = "r f c a z"
    table = {
        "i82f16 u82f16 f162f32 bf162f32 i162f32 i322i16 i322i64 i642i32": "-",
        "i162f16 f162i8 f162u8 i322f32": f"- {five}",
        "f162i16 f162i32 bf162i32 f322bf16 f322i16 f322i32 f322i64 f322f32 i642f32": five,
        "f322f16": f"- {five} o",
    }
    wanted = {
        f"vconv_{pair}{mode.strip('-')}"
        for pairs, modes in table.items()
        for pair in pairs.split()
        for mode in modes.split()
    }
    assert {row.mnemonic for row in CASTS} == wanted
