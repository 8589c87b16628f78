"""Squares turned over in UB, whole or by lists of rows."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.kernels.tiles import move_block, turn_singles, turn_square
from pypto.emulator.compiled.raw import internal, move_bytes, pointer
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES

EDGE = 16


@internal
def turn_shorts(target, source):
    """16x16 elements of two bytes."""
    turn_square(target, source)


@internal
def turn_words(target, source):
    """16x8 elements of four bytes to 8x16."""
    turn_singles(target, source)


@internal
def transpose(f, ub, scratch, turn):
    """Squares gathered from the blocks of a list, turned, and scattered to another list."""
    turned = scratch + FRACTAL_BYTES
    for r in range(f.repeat):
        for i in range(EDGE):
            place = (i // 2) * f.src_step + (i % 2) * f.src_pair + r * f.src_repeat
            move_block(scratch + i * BLOCK_BYTES, ub + f.src + place * BLOCK_BYTES)
        turn(turned, scratch)
        for j in range(EDGE):
            place = (j // 2) * f.dst_step + (j % 2) * f.dst_pair + r * f.dst_repeat
            move_block(ub + f.dst + place * BLOCK_BYTES, turned + j * BLOCK_BYTES)
    return 0


@internal
def transpose_halves(f, ub, scratch):
    """16x16 bytes from halves of the blocks of a list to halves of those of another."""
    half = BLOCK_BYTES // 2
    square = pointer(scratch, np.uint8)
    for r in range(f.repeat):
        for i in range(EDGE):
            place = (i // 2) * f.src_step + (i % 2) * f.src_pair + r * f.src_repeat
            row = pointer(ub + f.src + place * BLOCK_BYTES + f.src_high * half, np.uint8)
            for j in range(EDGE):
                square[j * EDGE + i] = row[j]
        for j in range(EDGE):
            place = (j // 2) * f.dst_step + (j % 2) * f.dst_pair + r * f.dst_repeat
            target = ub + f.dst + place * BLOCK_BYTES + f.dst_high * half
            move_bytes(target, scratch + j * EDGE, EDGE)
    return 0


@internal
def transpose_square(f, ub, scratch):
    """16x16 elements of two bytes that lie row after row."""
    turn_square(scratch, ub + f.src)
    move_bytes(ub + f.dst, scratch, FRACTAL_BYTES)
    return 0
