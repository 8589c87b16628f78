"""The cube: matrices multiplied fractal by fractal, and the accumulator drained to GM."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels.moves import store
from pypto.emulator.compiled.kernels.tiles import multiply_fractals, turn_singles, turn_square
from pypto.emulator.compiled.raw import internal, load_apart, pointer, store_apart
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES

EDGE = 16
BLOCK_FLOATS = EDGE * EDGE
BLOCK_BYTES_F32 = BLOCK_FLOATS * 4


@internal
def widen(target, source, count, kind, decode):
    """``count`` elements to f32."""
    d, s = pointer(target, np.float32), pointer(source, kind)
    for k in range(count):
        store_apart(d, k, decode(load_apart(s, k)))


@internal
def widen_turned(target, source, work, kind, decode, size):
    """A fractal of B, [16 n][depth k], to f32 [depth k][16 n]."""
    if size == 4:
        turn_singles(target, source)
    else:
        turn_square(work, source)
        widen(target, work, BLOCK_FLOATS, kind, decode)


@internal
def widen_row(target, source, steps, k, depth, kind, decode):
    """A plain row of A (m = 1) as the first rows of ``steps`` f32 fractals."""
    d, s = pointer(target, np.float32), pointer(source, kind)
    for i in range(k):
        d[i // depth * EDGE * depth + i % depth] = decode(s[i])


@internal
def mad(f, l0a, l0b, l0c, scratch, kind, size, decode):
    """C (+)= A x B in f32, one k after the other, product and sum each rounded."""
    if f.m * f.n * f.k == 0:
        return 0
    depth = BLOCK_BYTES // size
    rows, columns = (f.m + EDGE - 1) // EDGE, (f.n + EDGE - 1) // EDGE
    steps = (f.k + depth - 1) // depth
    last = f.k - (steps - 1) * depth
    pitch = (f.k + EDGE - 1) // EDGE * EDGE // depth if f.k_align != 0 else steps
    work = scratch
    spare = scratch + FRACTAL_BYTES
    b32 = spare + BLOCK_BYTES_F32
    fractal = EDGE * depth * 4
    for i in range(steps * columns):
        widen_turned(b32 + i * fractal, l0b + f.b + i * FRACTAL_BYTES, work, kind, decode, size)
    a32 = b32 + steps * columns * fractal
    if f.m == 1:
        widen_row(a32, l0a + f.a, steps, f.k, depth, kind, decode)
    elif size == 4:
        a32 = l0a + f.a
    else:
        widen(a32, l0a + f.a, rows * steps * EDGE * depth, kind, decode)
    for j in range(columns):
        wide = min(EDGE, f.n - j * EDGE)
        for i in range(rows):
            high = min(EDGE, f.m - i * EDGE)
            c = l0c + f.c + (j * rows + i) * BLOCK_BYTES_F32
            a = a32 + i * pitch * fractal
            b = b32 + j * fractal
            whole = wide == EDGE and high == EDGE
            target = c
            if not whole:
                target = spare
                move_floats(spare, c, EDGE, EDGE)
            step = columns * fractal
            multiply_fractals(target, a, b, steps, fractal, step, depth, last, f.c_init)
            if not whole:
                move_floats(c, spare, high, wide)
    return 0


@internal
def move_floats(target, source, rows, columns):
    """The upper left corner of a 16x16 block of floats."""
    d, s = pointer(target, np.float32), pointer(source, np.float32)
    for r in range(rows):
        for k in range(columns):
            d[r * EDGE + k] = s[r * EDGE + k]


@internal
def drain_row(target, source, count, relu, kind, encode):
    """Up to 16 floats of the accumulator, converted."""
    d, s = pointer(target, kind), pointer(source, np.float32)
    for k in range(count):
        value = load_apart(s, k)
        if relu != 0 and not (value > 0 or value != value):
            value = np.float32(0)
        store_apart(d, k, encode(value))


@internal
def fixpipe(f, gm, l0c, scratch, kind, size, encode):
    """m rows of n elements from L0C to GM; rows (nz2nd) or 16-column blocks."""
    for r in range(f.m):
        for j in range((f.n + EDGE - 1) // EDGE):
            count = min(EDGE, f.n - j * EDGE)
            source = l0c + f.src + (j * f.src_stride + r) * EDGE * 4
            target = gm + f.dst
            if f.nz2nd != 0:
                target += (r * f.dst_stride + j * EDGE) * size
            else:
                target += j * f.dst_stride * BLOCK_BYTES + r * EDGE * size
            if f.atomic == 0:
                drain_row(target, source, count, f.relu, kind, encode)
            else:
                drain_row(scratch, source, count, f.relu, kind, encode)
                store(target, scratch, count * size, f.atomic)
    return 0
