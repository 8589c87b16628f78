"""What load3d does, on NumPy bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target import layouts
from pypto.target.instruction import Instruction
from pypto.target.instructions.bytes import element, read, write
from pypto.target.layouts import Window
from pypto.target.memory import Space

Memories = dict[Space, np.ndarray]


def window_of(f: Any) -> Window:
    """The image of the mode register and the filter of the fields."""
    word = f.fmatrix
    if f.second != 0:
        word = f.fmatrix_b
    return Window(
        word & 0xFFFF,
        word >> 16 & 0xFFFF,
        word >> 32 & 0xFF,
        word >> 40 & 0xFF,
        word >> 48 & 0xFF,
        word >> 56 & 0xFF,
        f.filter_w,
        f.filter_h,
        f.stride_w,
        f.stride_h,
        f.dilation_w,
        f.dilation_h,
    )


def load3d(memory: Memories, f: Any, row: Instruction) -> None:
    """The window [step_m, step_k] of the unfolded image, in the layout of its destination."""
    if f.step_m * f.step_k == 0:
        return
    size = row.dtype.bytes
    depth = layouts.c0(size)
    w = window_of(f)
    i, j = np.indices((f.step_m, f.step_k))
    m, k = f.pos_m + i, f.pos_k + j
    channel, y, x = layouts.image_to_columns(m, k // depth, w)
    inside = (y >= 0) & (y < w.height) & (x >= 0) & (x < w.width)
    pixel = np.where(inside, (channel * w.height + y) * w.width + x, 0)
    data = np.full(m.shape, element(f.padding, row.dtype)[0])
    if inside.any():
        places = f.src + (pixel * depth + k % depth) * size
        data[inside] = read(memory[Space.L1], places[inside], row.dtype)
    target = row.spaces()[0]
    if target is Space.L0B:
        offset = layouts.nz_l0b(i, j, f.step_k, depth)
    elif f.transpose:
        offset = layouts.zz(j, i, f.step_m, depth)
    else:
        offset = layouts.zz(i, j, f.step_k, depth)
    write(memory[target], f.dst + offset * size, data, row.dtype)
