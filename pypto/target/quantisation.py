"""What the drain of the accumulator makes of its numbers: scale, shift, offset, saturation.

A scale is a 64-bit word: bits 31 to 13 the multiplier as f32 without its low 13 bits, 35 to 32 the
shift less one, 36 whether to shift, 45 to 37 the signed offset, 46 whether the result is signed
[V asc-devkit fixpipe quantisation; that the offset is signed and the shift counts from one follows
the documents where a script of theirs differs].
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from pypto.target import numerics
from pypto.target.dtypes import F16, I16, DType

MULTIPLIER_MASK = 0xFFFFE000
SHIFT_AT, SHIFTS_AT, OFFSET_AT, SIGNED_AT = 32, 36, 37, 46
OFFSET_SIGN = 256  # the highest of the nine bits of an offset
WIDE_LOW, WIDE_HIGH = -256, 255  # saturation before the offset is added


class Quantisation(IntEnum):
    """How a row converts; the names in the comments are those of the vendor's modes."""

    PLAIN = 0  # NoQuant, F322F16, F322BF16: rounds and saturates
    FLOAT_TO_BYTE = 1  # QF322B8, VQF322B8
    INTEGER_TO_BYTE = 2  # REQ8, VREQ8
    INTEGER_TO_HALF = 3  # DEQF16, VDEQF16


def scale_word(
    multiplier: float, offset: int = 0, signed: bool = True, shift: int | None = None
) -> int:
    """The word of a scale; ``shift`` None does not shift."""
    word = int(np.float32(multiplier).view(np.uint32)) & MULTIPLIER_MASK
    word |= (offset & (2 * OFFSET_SIGN - 1)) << OFFSET_AT | int(signed) << SIGNED_AT
    if shift is not None:
        word |= 1 << SHIFTS_AT | (shift - 1) << SHIFT_AT
    return word


def plain(values: np.ndarray, dtype: DType, relu: bool) -> np.ndarray:
    """Rounded to nearest even and saturated, zeros in place of negative numbers with ``relu``."""
    if relu:
        values = numerics.relu(values)
    return numerics.saturate_float(values, dtype) if dtype.is_float else values


@np.errstate(all="ignore")
def scaled(values: np.ndarray, words: np.ndarray, relu: bool) -> np.ndarray:
    """The product of f32 with the multipliers; ``relu`` multiplies negative numbers with 0."""
    multiplier = (words & MULTIPLIER_MASK).astype(np.uint32).view(np.float32)
    single = values.astype(np.float32)
    negative = np.float32(0) if relu else multiplier
    return single * np.where(single >= 0, multiplier, negative)


def to_bytes(values: np.ndarray, words: np.ndarray, relu: bool) -> np.ndarray:
    """f32 or i32 to eight bits: shifted (i32), scaled, rounded, saturated, moved by the offset."""
    if values.dtype == np.int32:
        shift = (words >> SHIFT_AT & 15) + 1
        shifted = numerics.narrow_integer(values >> shift, I16).astype(np.int32)
        values = np.where(words >> SHIFTS_AT & 1, shifted, values)
    whole = np.rint(scaled(values, words, relu))
    wide = np.clip(np.nan_to_num(whole, nan=0.0), WIDE_LOW, WIDE_HIGH).astype(np.int64)
    offset = words >> OFFSET_AT & (2 * OFFSET_SIGN - 1)
    moved = wide + offset - 2 * (offset & OFFSET_SIGN)
    signed = np.clip(moved, -128, 127) & 0xFF
    return np.where(words >> SIGNED_AT & 1, signed, np.clip(moved, 0, 255)).astype(np.uint8)


def convert(
    values: np.ndarray, dtype: DType, mode: int, words: np.ndarray, relu: bool
) -> np.ndarray:
    """Numbers of the accumulator in the type they leave it; ``words`` (int64) broadcasts."""
    if mode == Quantisation.PLAIN:
        return plain(values, dtype, relu)
    if mode == Quantisation.INTEGER_TO_HALF:
        return numerics.saturate_float(scaled(values, words, relu), F16)
    return to_bytes(values, words, relu)
