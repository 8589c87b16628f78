"""Rows of the vector pipe on long operands: one instruction over as many lanes as there are."""

from __future__ import annotations

import numpy as np

from pypto.emulator.native import callable_at
from pypto.emulator.prepare import BODY_ARGUMENTS, prepare
from pypto.emulator.state import MEMORY_LIMITS, MEMORY_SCRATCH, MEMORY_TABLE_WIDTH
from pypto.emulator.tables import tables
from pypto.target.dtypes import DType
from pypto.target.instruction import Instruction
from pypto.target.instructions import BY_MNEMONIC, OPCODES
from pypto.target.memory import SPACES, Space

CODES = np.arange(65536, dtype=np.uint16)
SCRATCH = np.zeros(2**20, np.uint8)


def call_body(row: Instruction, fields: tuple[int, ...], ub: np.ndarray) -> None:
    """Run the compiled body of a row on bytes of UB, of any size."""
    opcode = OPCODES[row.mnemonic]
    prepare([opcode], functional=True)
    values = np.array(fields, np.int64)
    table = np.zeros(MEMORY_TABLE_WIDTH, np.int64)
    position = SPACES.index(Space.UB)
    table[position], table[MEMORY_LIMITS + position] = ub.ctypes.data, ub.size
    table[MEMORY_SCRATCH] = SCRATCH.ctypes.data
    body = callable_at(int(tables().body[opcode]), BODY_ARGUMENTS)
    assert body(values.ctypes.data, table.ctypes.data) == 0


def padded(size: int) -> int:
    return -(-size // 256) * 256 + 256


def compute(
    mnemonic: str,
    *operands: np.ndarray,
    old: np.ndarray | None = None,
    scalar: int | None = None,
    saturation: int = 0,
    **rest: int,
) -> np.ndarray:
    """What a row makes of dense operands.

    ``old``: what the destination holds before; ``rest``: further fields.
    """
    row = BY_MNEMONIC[mnemonic]
    count = len(operands[0])
    wide = max(row.dtype.bytes, row.source_dtype.bytes)
    names = ("src",) if len(operands) == 1 else ("src0", "src1")
    values = {"mask_mode": 1, "mask_low": count, "mask_high": 0, "saturation": saturation} | rest
    values |= {"dst_repeat": 8 * row.dtype.bytes // wide}
    pieces = [np.zeros(count, row.dtype.numpy) if old is None else old, *operands]
    start, places = 0, []
    for piece in pieces:
        places.append(start)
        start += padded(piece.nbytes)
    ub = np.zeros(start, np.uint8)
    for place, piece in zip(places, pieces, strict=True):
        ub[place : place + piece.nbytes] = np.ascontiguousarray(piece).view(np.uint8)
    for name, place in zip(names, places[1:], strict=True):
        values |= {name: place, f"{name}_repeat": 8 * row.source_dtype.bytes // wide}
    if scalar is not None:
        values["scalar"] = scalar
    known = {field.name for field in row.fields}
    fields = row.family.make(dst=0, **{k: v for k, v in values.items() if k in known})
    call_body(row, fields, ub)
    return ub[: count * row.dtype.bytes].view(row.dtype.numpy).copy()


def bits_of(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def differences(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Positions where bits differ; any NaN equals any other."""
    unequal = bits_of(actual) != bits_of(expected)
    if actual.dtype.kind not in "iu":
        with np.errstate(all="ignore"):
            nan = [np.isnan(x.astype(np.float32)) for x in (actual, expected)]
        unequal &= ~(nan[0] & nan[1])
    return np.flatnonzero(unequal)


def drawn(dtype: DType, count: int, random: np.random.Generator) -> np.ndarray:
    """Random elements: for floats half of any bits, half of exponents near one another."""
    size = dtype.bytes
    any_bits = random.integers(0, 256, count * size, np.uint8).view(dtype.numpy)
    if not dtype.is_float:
        return any_bits
    near = random.normal(size=count) * 2.0 ** random.integers(-6, 7, count)
    return np.where(random.random(count) < 0.5, any_bits, near.astype(dtype.numpy))


def limited(values: np.ndarray) -> np.ndarray:
    """Halves as the saturation mode stores them."""
    largest = np.float16(65504)
    finite = np.where(np.isnan(values), np.float16(0), values)
    return np.where(finite > largest, largest, np.where(finite < -largest, -largest, finite))
