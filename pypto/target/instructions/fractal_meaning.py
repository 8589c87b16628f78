"""What the loads and fills of fractals do, on NumPy bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.target.instruction import Instruction, byte_ranges
from pypto.target.instructions.bytes import element
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, Space

Memories = dict[Space, np.ndarray]
EDGE = 16


def load2d(memory: Memories, f: Any, row: Instruction) -> None:
    target_space, source_space = row.spaces()
    sign = -1 if getattr(f, "descending", 0) else 1
    for i in range(f.repeat):
        source = f.src + (f.index + sign * i * f.src_stride) * FRACTAL_BYTES
        fractal = memory[source_space][source : source + FRACTAL_BYTES]
        if getattr(f, "transpose", 0):
            square = fractal.view(row.dtype.numpy).reshape(EDGE, EDGE)
            fractal = np.ascontiguousarray(square.T).view(np.uint8).ravel()
        target = f.dst + i * (f.dst_gap + 1) * FRACTAL_BYTES
        memory[target_space][target : target + FRACTAL_BYTES] = fractal


def load2d_transpose(memory: Memories, f: Any, row: Instruction) -> None:
    size = row.dtype.bytes
    depth = BLOCK_BYTES // size
    fractals = 1 if size == 2 else 2
    square_bytes = fractals * FRACTAL_BYTES
    for i in range(f.repeat):
        start = f.src + (f.index + i * f.src_stride) * square_bytes
        data = memory[Space.L1][start : start + square_bytes].view(row.dtype.numpy)
        pieces = list(data.reshape(fractals, EDGE, depth))
        turned = (np.hstack(pieces) if size == 4 else np.vstack(pieces)).T
        for j in range(fractals):
            piece = turned[:, j * depth : (j + 1) * depth]
            if size == 1:
                piece = turned[j * EDGE : (j + 1) * EDGE]
            offset = i * (f.dst_gap + 1) + j * (f.dst_fractal_gap + 1)
            target = f.dst + offset * FRACTAL_BYTES
            line = np.ascontiguousarray(piece).view(np.uint8).ravel()
            memory[row.spaces()[0]][target : target + FRACTAL_BYTES] = line


def fill(memory: Memories, f: Any, row: Instruction) -> None:
    filler = np.ascontiguousarray(element(f.scalar, row.dtype)).view(np.uint8)
    (access,) = row.family.footprint(f, row.facts)
    for start, stop in byte_ranges(access):
        memory[row.spaces()[0]][start:stop] = np.tile(filler, (stop - start) // len(filler))
