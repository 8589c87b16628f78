"""GELU of a product, tile by tile by the vector cores beside the cube core that made it.

The schedule is that of 03_fusion_compute/matmul_gelu_high_performance of asc-devkit: the cube core
stores a tile of f32 and tells its two vector cores, each of which loads half of its rows, computes
x / (1 + exp(-1.595769 (x + 0.044715 x^3))) and stores them in their place. Its flags between the
store of a tile and the next load are left to chance there; here they stand.
"""

from __future__ import annotations

import numpy as np

from benchmarks.silicon.matmul_schedule import TILE_READY, MatmulSchedule
from pypto.errors import CompileError
from pypto.target.dtypes import F32
from pypto.target.expressions import Operand
from pypto.target.memory import CoreKind, Pipe, Space
from pypto.target.program import Program
from pypto.target.structured import StructuredBuilder

VECTORS = 2
CUBIC, LINEAR = 0.044715, -1.595769


def bits(number: float) -> int:
    """The bits of an f32."""
    return int(np.float32(number).view(np.uint32))


def gelu_program(schedule: MatmulSchedule) -> Program:
    """What the vector cores of every group run."""
    s = schedule
    share = s.grid_m * s.panel_m, s.grid_n * s.panel_n
    if s.m % share[0] or s.panel_m % s.base_m or s.panel_n % s.base_n or s.n % s.base_n:
        raise CompileError(
            "SCHEDULE",
            f"gelu schedule: {s.m} x {s.n} is not cut into whole tiles of {s.base_m} x {s.base_n}",
        )
    b = StructuredBuilder("gelu", CoreKind.VECTOR)
    c = b.buffer("c", F32, writes=True)
    rows, pitch = s.base_m // VECTORS, s.n * F32.bytes
    count = rows * s.base_n
    x = b.local("x", Space.UB, count * F32.bytes)
    y = b.local("y", Space.UB, count * F32.bytes)
    gap = pitch - s.base_n * F32.bytes
    b.issue("set_mask_count")
    b.issue("set_vector_mask", high=0, low=count)
    n_first = b.value(b.block // s.grid_m * s.panel_n, "first column")
    n_end = b.value(n_first + s.panel_n, "last column")
    with b.when(n_end > s.n):
        b.set(n_end, s.n)
    with b.loop(b.block % s.grid_m * s.panel_m, s.m, share[0], "panel") as m_first:
        m_end = b.value(m_first + s.panel_m, "last row")
        outer, inner = (n_first, n_end, s.base_n), (m_first, m_end, s.base_m)
        if not s.columns_outside:
            outer, inner = inner, outer
        with b.loop(*outer, "outer") as i, b.loop(*inner, "inner") as j:
            row, column = (j, i) if s.columns_outside else (i, j)
            place = b.value(
                c + (row + b.sub_block * rows) * pitch + column * F32.bytes, "half of a tile"
            )
            b.cross_wait(TILE_READY)
            b.issue(
                "copy_gm_to_ubuf_align.b32",
                dst=x, src=place, bursts=rows, length=s.base_n * F32.bytes, src_gap=gap,
            )  # fmt: skip
            b.sync(Pipe.MTE2, Pipe.V)
            _gelu(b, x, y)
            b.sync(Pipe.V, Pipe.MTE3)
            b.issue(
                "copy_ubuf_to_gm_align.b32",
                dst=place, src=y, bursts=rows, length=s.base_n * F32.bytes, dst_gap=gap,
            )  # fmt: skip
            b.sync(Pipe.V, Pipe.MTE2)
            b.sync(Pipe.MTE3, Pipe.V)
    b.barrier(Pipe.ALL)
    return b.build()


def _gelu(b: StructuredBuilder, x: int, y: int) -> None:
    """y = GELU(x), as many elements as the mask counts."""
    steps: tuple[tuple[str, dict[str, Operand]], ...] = (
        ("vmul.f32", {"src0": x, "src1": x}),
        ("vmul.f32", {"src0": y, "src1": x}),
        ("vmuls.f32", {"src": y, "scalar": bits(CUBIC)}),
        ("vadd.f32", {"src0": x, "src1": y}),
        ("vmuls.f32", {"src": y, "scalar": bits(LINEAR)}),
        ("vexp.f32", {"src": y}),
        ("vadds.f32", {"src": y, "scalar": bits(1.0)}),
        ("vdiv.f32", {"src0": x, "src1": y}),
    )
    for mnemonic, operands in steps:
        b.issue(mnemonic, dst=y, repeat=1, **operands)
        b.barrier(Pipe.V)
