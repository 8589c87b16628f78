"""Floating point in Python integers: what casts must give, from the formats' definitions alone.

A finite number is (sign, magnitude, exponent): magnitude * 2**exponent, negative where sign is 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

INFINITE, NAN = "infinite", "nan"


class Format(NamedTuple):
    """A binary interchange format of IEEE 754, or bfloat16, which has the same form."""

    width: int
    fraction_bits: int

    @property
    def exponent_bits(self) -> int:
        return self.width - 1 - self.fraction_bits

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def least(self) -> int:
        """The exponent of the last bit of the smallest numbers."""
        return 1 - self.bias - self.fraction_bits

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits


FORMATS = {"f16": Format(16, 10), "bf16": Format(16, 7), "f32": Format(32, 23)}


def decoded(bits: int, form: Format) -> tuple[int, int, int] | tuple[int, str]:
    """The number, or (sign, INFINITE or NAN)."""
    sign = bits >> (form.width - 1)
    magnitude = bits & ((1 << (form.width - 1)) - 1)
    if magnitude >= form.infinity:
        return sign, INFINITE if magnitude == form.infinity else NAN
    exponent, fraction = magnitude >> form.fraction_bits, magnitude % (1 << form.fraction_bits)
    if exponent == 0:
        return sign, fraction, form.least
    return sign, fraction | 1 << form.fraction_bits, form.least + exponent - 1


def whole(sign: int, magnitude: int, drop: int, mode: str) -> int:
    """A magnitude over 2**drop rounded to an integer; directions are those of the number."""
    if drop <= 0:
        return magnitude << -drop
    quotient, rest = magnitude >> drop, magnitude & ((1 << drop) - 1)
    half = 1 << (drop - 1)
    match mode:
        case "z":
            up = False
        case "f":
            up = rest > 0 and sign == 1
        case "c":
            up = rest > 0 and sign == 0
        case "a":
            up = rest >= half
        case "o":
            return quotient | (rest > 0)
        case _:
            up = rest > half or (rest == half and quotient & 1 == 1)
    return quotient + up


def encoded(sign: int, magnitude: int, exponent: int, form: Format, mode: str) -> int:
    """The bits of a number in a format; beyond the largest as the rounding direction says."""
    top = form.fraction_bits + 1
    drop = max(magnitude.bit_length() - top, form.least - exponent)
    kept = whole(sign, magnitude, drop, mode)
    place = exponent + drop - form.least  # of the kept integer's last bit, 0 for subnormals
    if kept >> top:
        kept, place = kept >> 1, place + 1
    bits = kept + (place << form.fraction_bits) if kept >> (top - 1) else kept
    if bits >= form.infinity:
        inward = mode in ("z", "o") or (mode == "f" and sign == 0) or (mode == "c" and sign == 1)
        bits = form.infinity - 1 if inward else form.infinity
    return sign << (form.width - 1) | bits


def clip(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def cast(bits: int, source: str, target: str, mode: str) -> int | None:
    """The result of a cast as bits or as an integer; None stands for any NaN."""
    is_float = source in FORMATS
    number = decoded(bits, FORMATS[source]) if is_float else (int(bits < 0), abs(bits), 0)
    if target in FORMATS:
        form = FORMATS[target]
        if source == target:
            return integral(number, form, mode)
        if len(number) == 2:
            return None if number[1] == NAN else number[0] << (form.width - 1) | form.infinity
        return encoded(*number, form, mode)
    limits = np.iinfo({"u": "uint", "i": "int"}[target[0]] + target[1:])
    low, high = int(limits.min), int(limits.max)
    if len(number) == 2:
        return 0 if number[1] == NAN else (low if number[0] else high)
    sign, magnitude, exponent = number
    value = whole(sign, magnitude, -exponent, mode)
    return clip(-value if sign else value, low, high)


def integral(number: tuple, form: Format, mode: str) -> int | None:
    """A float rounded to a whole float; the sign of zero is dropped."""
    if len(number) == 2:
        return None if number[1] == NAN else number[0] << (form.width - 1) | form.infinity
    sign, magnitude, exponent = number
    value = whole(sign, magnitude, -exponent, mode)
    return encoded(sign, value, 0, form, mode) if value else 0
