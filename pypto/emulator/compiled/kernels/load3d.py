"""Images of L1 unfolded while they move to L0: fractal after fractal, turned where asked."""

from __future__ import annotations

from pypto.emulator.compiled.kernels.tiles import move_block, turn_singles, turn_square
from pypto.emulator.compiled.raw import internal, pointer
from pypto.emulator.compiled.rebuild import jitted
from pypto.target import layouts
from pypto.target.instructions import load3d_meaning
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES

EDGE = 16
HALF_FRACTAL = FRACTAL_BYTES // 2

window_of = jitted(load3d_meaning.window_of)
image_to_columns = jitted(layouts.image_to_columns)


@internal
def load3d(f, l1, l0, scratch, kind, size, to_l0b):
    """The window of the unfolded image in fractals [16 m][32 bytes of k], or turned ones."""
    if f.step_m * f.step_k == 0:
        return 0
    depth = BLOCK_BYTES // size
    w = window_of(f)
    border = scratch
    fractal = scratch + BLOCK_BYTES
    turned = fractal + FRACTAL_BYTES
    b = pointer(border, kind)
    for i in range(depth):
        b[i] = f.padding
    rows, columns = f.step_m // EDGE, f.step_k // depth
    turns = to_l0b != 0 or f.transpose != 0
    for row in range(rows):
        for column in range(columns):
            target = l0 + f.dst + (row * columns + column) * FRACTAL_BYTES
            if turns:
                target = fractal
            for i in range(EDGE):
                m = f.pos_m + row * EDGE + i
                channel, y, x = image_to_columns(m, f.pos_k // depth + column, w)
                source = border
                if 0 <= y < w.height and 0 <= x < w.width:
                    pixel = (channel * w.height + y) * w.width + x
                    source = l1 + f.src + pixel * BLOCK_BYTES
                move_block(target + i * BLOCK_BYTES, source)
            if turns and size == 2:
                place = column * rows + row
                if to_l0b != 0:
                    place = row * columns + column
                turn_square(l0 + f.dst + place * FRACTAL_BYTES, fractal)
            elif turns:
                turn_singles(turned, fractal)
                store_singles(f, l0 + f.dst, turned, row, column, to_l0b)
    return 0


@internal
def store_singles(f, target, turned, row, column, to_l0b):
    """8x16 four-byte elements as the halves of two fractals of 16 rows of 8."""
    pair = column // 2
    for half in range(2):
        m = 2 * row + half
        place = pair * (f.step_m // 8) + m
        if to_l0b != 0:
            place = m * ((f.step_k + EDGE - 1) // EDGE) + pair
        start = target + place * FRACTAL_BYTES + column % 2 * HALF_FRACTAL
        for k in range(8):
            move_block(start + k * BLOCK_BYTES, turned + k * 2 * BLOCK_BYTES + half * BLOCK_BYTES)
