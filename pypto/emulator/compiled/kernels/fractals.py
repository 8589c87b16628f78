"""Whole fractals moved, turned and filled."""

from __future__ import annotations

from pypto.emulator.compiled.kernels.tiles import turn_square
from pypto.emulator.compiled.raw import internal, move_bytes, pointer
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES

EDGE = 16
BYTE_EDGE = 32  # of a square of one-byte elements


@internal
def load2d(f, source_memory, target_memory, transpose, descending):
    """Fractals in order; ``transpose`` turns each 16x16 fractal of two-byte elements."""
    step = f.src_stride * FRACTAL_BYTES
    if descending != 0:
        step = -step
    for i in range(f.repeat):
        target = target_memory + f.dst + i * (f.dst_gap + 1) * FRACTAL_BYTES
        source = source_memory + f.src + f.index * FRACTAL_BYTES + i * step
        if transpose != 0:
            turn_square(target, source)
        else:
            move_bytes(target, source, FRACTAL_BYTES)
    return 0


@internal
def load2d_transpose(f, l1, l0, kind, size):
    """Squares of 16x16 elements, of 32x32 bytes, turned; a square is one or two fractals."""
    square_bytes = FRACTAL_BYTES if size == 2 else 2 * FRACTAL_BYTES
    step = (f.dst_fractal_gap + 1) * FRACTAL_BYTES
    for i in range(f.repeat):
        square = l1 + f.src + (f.index + i * f.src_stride) * square_bytes
        target = l0 + f.dst + i * (f.dst_gap + 1) * FRACTAL_BYTES
        if size == 2:
            turn_square(target, square)
        elif size == 1:
            turn_bytes(target, square, step, kind)
        else:
            turn_words(target, square, step, kind)
    return 0


@internal
def turn_bytes(target, square, step, kind):
    """32 rows of 32 bytes to columns; the upper 16 columns lie ``step`` bytes on."""
    s = pointer(square, kind)
    for row in range(BYTE_EDGE):
        d = pointer(target + row // EDGE * step + row % EDGE * BLOCK_BYTES, kind)
        for column in range(BYTE_EDGE):
            d[column] = s[column * BYTE_EDGE + row]


@internal
def turn_words(target, square, step, kind):
    """16x16 elements of four bytes in two fractals of 16x8, the second ``step`` bytes on."""
    depth = EDGE // 2
    s = pointer(square, kind)
    for j in range(2):
        d = pointer(target + j * step, kind)
        for row in range(EDGE):
            for column in range(depth):
                at = (row // depth * EDGE + j * depth + column) * depth + row % depth
                d[row * depth + column] = s[at]


@internal
def fill(f, memory, kind, size, unit, value):
    """Runs of one value."""
    count = f.length * unit // size
    for i in range(f.repeat):
        d = pointer(memory + f.dst + i * (f.length + f.gap) * unit, kind)
        for k in range(count):
            d[k] = value
    return 0
