"""The cube: matrices multiplied fractal by fractal."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels.elements import from_half, to_half
from pypto.emulator.compiled.kernels.tiles import (
    multiply_fractals,
    multiply_integers,
    turn_singles,
    turn_square,
)
from pypto.emulator.compiled.raw import (
    float_bits,
    float_of_bits,
    internal,
    load_apart,
    pointer,
    store_apart,
)
from pypto.target.memory import ACCUMULATOR_FRACTAL_BYTES, BLOCK_BYTES, FRACTAL_BYTES
from pypto.target.numerics import HF32_DROPPED

EDGE = 16
BLOCK_ELEMENTS = EDGE * EDGE
WORD_BYTES = 4
HF32_HALF = (1 << (HF32_DROPPED - 1)) - 1
HF32_KEPT = 0xFFFFFFFF - (1 << HF32_DROPPED) + 1


@internal
def multiply_floats(c, a, b, steps, a_step, b_step, depth, last, zero):
    multiply_fractals(c, a, b, steps, a_step, b_step, depth, last, zero)


@internal
def multiply_words(c, a, b, steps, a_step, b_step, depth, last, zero):
    multiply_integers(c, a, b, steps, a_step, b_step, depth, last, zero)


@internal
def to_word(value):
    return np.int32(value)


@internal
def widen(target, source, count, kind, decode, total):
    """``count`` elements to the type of the sum."""
    d, s = pointer(target, total), pointer(source, kind)
    for k in range(count):
        store_apart(d, k, decode(load_apart(s, k)))


@internal
def widen_turned(target, source, work, kind, decode, size, total):
    """A fractal of B, [16 n][depth k], to [depth k][16 n] in the type of the sum."""
    if size == 4:
        turn_singles(target, source)
    elif size == 2:
        turn_square(work, source)
        widen(target, work, BLOCK_ELEMENTS, kind, decode, total)
    else:
        d, s = pointer(target, total), pointer(source, kind)
        for n in range(EDGE):
            for k in range(BLOCK_BYTES):
                d[k * EDGE + n] = decode(s[n * BLOCK_BYTES + k])


@internal
def widen_row(target, source, k, depth, kind, decode, total):
    """A plain row of A (m = 1) as the first rows of its fractals."""
    d, s = pointer(target, total), pointer(source, kind)
    for i in range(k):
        d[i // depth * EDGE * depth + i % depth] = decode(s[i])


@internal
def round_to_hf32(target, count, mode):
    """f32 rounded in place to nearest even, or towards zero where the mode says so."""
    d = pointer(target, np.float32)
    for i in range(count):
        code = float_bits(d[i])
        if mode & 2 == 0:
            code += np.uint32(HF32_HALF) + ((code >> np.uint32(HF32_DROPPED)) & np.uint32(1))
        if d[i] == d[i]:
            d[i] = float_of_bits(code & np.uint32(HF32_KEPT))


@internal
def spread_bias(f, c, bias):
    """Every row of the accumulator from the bias, element for element of four bytes."""
    rows = (f.m + EDGE - 1) // EDGE
    s = pointer(bias, np.uint32)
    for j in range(f.n):
        d = pointer(c + (j // EDGE * rows * BLOCK_ELEMENTS + j % EDGE) * WORD_BYTES, np.uint32)
        for i in range(f.m):
            d[i * EDGE] = s[j]


@internal
def mad(
    f, l0a, l0b, l0c, bias, scratch, a_kind, b_kind, size, a_decode, b_decode, total, multiply,
    init, hf32,
):  # fmt: skip
    """C = A x B, + C or + bias, in four-byte sums, one k after the other.

    ``bias`` is an address or 0; ``init`` starts from zero; ``hf32`` is the mode of f32 factors.
    """
    if f.m * f.n * f.k == 0:
        return 0
    depth = BLOCK_BYTES // size
    rows, columns = (f.m + EDGE - 1) // EDGE, (f.n + EDGE - 1) // EDGE
    steps = (f.k + depth - 1) // depth
    last = f.k - (steps - 1) * depth
    pitch = (f.k + EDGE - 1) // EDGE * EDGE // depth if f.k_align != 0 else steps
    work = scratch
    spare = scratch + FRACTAL_BYTES
    wide_b = spare + ACCUMULATOR_FRACTAL_BYTES
    elements = EDGE * depth
    fractal = elements * WORD_BYTES
    for i in range(steps * columns):
        source = l0b + f.b + i * FRACTAL_BYTES
        widen_turned(wide_b + i * fractal, source, work, b_kind, b_decode, size, total)
    wide_a = wide_b + steps * columns * fractal
    a_elements = ((rows - 1) * pitch + steps) * elements
    rounds = hf32 & 1 != 0
    if f.m == 1:
        widen_row(wide_a, l0a + f.a, f.k, depth, a_kind, a_decode, total)
    elif size == WORD_BYTES and not rounds:
        wide_a = l0a + f.a
    else:
        widen(wide_a, l0a + f.a, a_elements, a_kind, a_decode, total)
    if rounds:
        round_to_hf32(wide_a, a_elements, hf32)
        round_to_hf32(wide_b, steps * columns * elements, hf32)
    if bias != 0:
        spread_bias(f, l0c + f.c, bias)
    for j in range(columns):
        wide = min(EDGE, f.n - j * EDGE)
        for i in range(rows):
            high = min(EDGE, f.m - i * EDGE)
            c = l0c + f.c + (j * rows + i) * ACCUMULATOR_FRACTAL_BYTES
            a = wide_a + i * pitch * fractal
            b = wide_b + j * fractal
            whole = wide == EDGE and high == EDGE
            target = c
            if not whole:
                target = spare
                move_corner(spare, c, EDGE, EDGE)
            multiply(target, a, b, steps, fractal, columns * fractal, depth, last, init)
            if not whole:
                move_corner(c, spare, high, wide)
    return 0


@internal
def mad_halves(f, l0a, l0b, l0c):
    """C (+)= A x B of halves with sums of halves, product and sum each rounded."""
    rows, columns = (f.m + EDGE - 1) // EDGE, (f.n + EDGE - 1) // EDGE
    steps = (f.k + EDGE - 1) // EDGE
    a, b = pointer(l0a + f.a, np.uint16), pointer(l0b + f.b, np.uint16)
    c = pointer(l0c + f.c, np.uint16)
    for i in range(f.m if f.k > 0 else 0):
        for j in range(f.n):
            at = (j // EDGE * rows + i // EDGE) * BLOCK_ELEMENTS + i % EDGE * EDGE + j % EDGE
            total = np.float32(0)
            if f.c_init == 0:
                total = from_half(c[at])
            for k in range(f.k):
                row = k
                if f.m > 1:
                    row = (i // EDGE * steps + k // EDGE) * BLOCK_ELEMENTS + i % EDGE * EDGE
                    row += k % EDGE
                column = (k // EDGE * columns + j // EDGE) * BLOCK_ELEMENTS + j % EDGE * EDGE
                product = from_half(a[row]) * from_half(b[column + k % EDGE])
                total = from_half(to_half(total + from_half(to_half(product))))
            c[at] = to_half(total)
    return 0


@internal
def move_corner(target, source, rows, columns):
    """The upper left corner of a 16x16 block of four-byte elements."""
    d, s = pointer(target, np.uint32), pointer(source, np.uint32)
    for r in range(rows):
        for k in range(columns):
            d[r * EDGE + k] = s[r * EDGE + k]
