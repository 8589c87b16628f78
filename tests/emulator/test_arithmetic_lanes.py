"""Comparisons and reductions, bit for bit, against integers and sums of f64."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.target.dtypes import DType
from pypto.target.instruction import Instruction
from pypto.target.instructions import INSTRUCTIONS
from pypto.target.instructions.vector_footprint import lanes_per_repeat
from tests.emulator.arithmetic import (
    CODES,
    bits_of,
    call_body,
    differences,
    drawn,
    limited,
    padded,
)

COMPARISONS = [row for row in INSTRUCTIONS if row.family.name in ("compare", "compare_scalar")]
REDUCTIONS = [row for row in INSTRUCTIONS if row.family.name == "reduce"]
PLACES = [row for row in INSTRUCTIONS if row.family.name == "reduce_place"]
REPEATS = 255
LANES = {2: 128, 4: 64}


def order_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers that order numbers as they are (both zeros alike), and which are no numbers."""
    if values.dtype.kind in "iu":
        return values.astype(np.int64), np.zeros(values.shape, bool)
    width = 8 * values.dtype.itemsize
    bits = bits_of(values).astype(np.int64)
    magnitude = bits & ((1 << (width - 1)) - 1)
    infinity = {2: 0x7C00, 4: 0x7F800000}[values.dtype.itemsize]
    return np.where(bits >> (width - 1), -magnitude, magnitude), magnitude > infinity


def holds(kind: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A comparison of the integers; only `ne` holds where one is no number."""
    (x, no_x), (y, no_y) = order_of(a), order_of(b)
    if kind == "ne":
        return (x != y) | no_x | no_y
    below, above = x < y, x > y
    result = {"eq": ~below & ~above, "lt": below, "le": ~above, "gt": above, "ge": ~below}[kind]
    return result & ~no_x & ~no_y


@pytest.mark.parametrize("row", COMPARISONS, ids=lambda row: row.mnemonic)
def test_comparisons_are_exact(row: Instruction) -> None:
    random = np.random.default_rng(31)
    count = REPEATS * LANES[row.dtype.bytes]
    for turn in range(4):
        a, b = (drawn(row.dtype, count, random) for _ in range(2))
        alike = random.random(count) < 0.3
        b = np.where(alike, a, b)
        a[:2], b[:2] = 0, np.array([-0.0, 0.0])  # zeros of both signs are equal
        size = padded(a.nbytes)
        ub = np.zeros(3 * size, np.uint8)
        values: dict[str, int] = {"repeat": REPEATS, "dst": 0}
        if row.family.name == "compare":
            values |= {"src0": size, "src1": 2 * size}
            ub[2 * size : 2 * size + b.nbytes] = b.view(np.uint8)
        else:
            b = b[turn : turn + 1]
            values |= {"src": size, "scalar": int(bits_of(b)[0])}
        ub[size : size + a.nbytes] = a.view(np.uint8)
        call_body(row, row.family.make(**values), ub)
        actual = np.unpackbits(ub[: count // 8], bitorder="little").astype(bool)
        kind = row.op_name.split("_")[1]
        assert np.array_equal(actual, holds(kind, a, np.broadcast_to(b, a.shape)))


def reduced(name: str, values: np.ndarray, saturates: bool) -> np.ndarray:
    """Rows [groups, lanes] to one each: neighbours first; every sum rounded by itself."""
    dtype = values.dtype
    if not name.endswith("add"):
        key, is_nan = order_of(values)
        key = np.where(is_nan, np.iinfo(np.int64).max, key if name.endswith("max") else -key)
        best = values[np.arange(len(values)), np.argmax(key, axis=1)]
        return limited(best) if saturates else best
    while values.shape[1] > 1:
        with np.errstate(all="ignore"):
            total = values[:, 0::2].astype(np.float64) + values[:, 1::2].astype(np.float64)
            values = total.astype(dtype)
        values = limited(values) if saturates else values
    return values[:, 0]


def sources(dtype: DType, count: int) -> np.ndarray:
    """Numbers whose sums stay finite, then any bits."""
    random = np.random.default_rng(37)
    tame = random.normal(size=count // 2).astype(dtype.numpy)
    return np.concatenate([tame, drawn(dtype, count - count // 2, random)])


@pytest.mark.parametrize("saturation", [0, 1])
@pytest.mark.parametrize("row", REDUCTIONS, ids=lambda row: row.mnemonic)
def test_reductions_are_exact(row: Instruction, saturation: int) -> None:
    lanes = lanes_per_repeat(row.facts)
    results = row.facts.variant
    for values in (sources(row.dtype, REPEATS * lanes), all_codes(row.dtype)):
        repeats = len(values) // lanes
        size = padded(values.nbytes)
        ub = np.zeros(2 * size, np.uint8)
        ub[size : size + values.nbytes] = values.view(np.uint8)
        counted = {"mask_mode": 1, "mask_high": 0, "mask_low": len(values)}
        fields = row.family.make(dst=0, src=size, saturation=saturation, **counted)
        call_body(row, fields, ub)
        actual = ub[: repeats * results * row.dtype.bytes].view(row.dtype.numpy)
        saturates = bool(saturation) and row.dtype.bytes == 2
        wanted = reduced(row.op_name, values.reshape(repeats * results, -1), saturates)
        assert differences(actual, wanted).size == 0


def all_codes(dtype: DType) -> np.ndarray:
    """All halves beside one another, or a few f32."""
    if dtype.bytes == 2:
        return np.random.default_rng(41).permutation(CODES).view(dtype.numpy)
    return sources(dtype, 8 * LANES[dtype.bytes])


@pytest.mark.parametrize("row", PLACES, ids=lambda row: row.mnemonic)
def test_places_of_extremes_are_exact(row: Instruction) -> None:
    lanes, size = LANES[row.dtype.bytes], row.dtype.bytes
    values = sources(row.dtype, REPEATS * lanes)
    values[: 3 * lanes] = np.round(np.nan_to_num(values[: 3 * lanes].astype(np.float32)))
    start = padded(values.nbytes)
    ub = np.zeros(2 * start, np.uint8)
    ub[start : start + values.nbytes] = values.view(np.uint8)
    call_body(row, row.family.make(dst=0, src=start, repeat=REPEATS), ub)
    key, is_nan = order_of(values.reshape(REPEATS, lanes))
    key = np.where(is_nan, np.iinfo(np.int64).max, key if "vcmax" in row.mnemonic else -key)
    place = np.argmax(key, axis=1)
    best = values.reshape(REPEATS, lanes)[np.arange(REPEATS), place]
    kind = row.op_name.split("_", 1)[1]
    if kind == "only_index":
        assert np.array_equal(ub[: 4 * REPEATS].view(np.uint32), place)
        return
    pairs = ub[: 2 * size * REPEATS].view(f"u{size}").reshape(REPEATS, 2)
    value, index = (0, 1) if kind == "value_index" else (1, 0)
    assert np.array_equal(pairs[:, index], place)
    assert np.array_equal(pairs[:, value], bits_of(best))
