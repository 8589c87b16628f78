"""Matrix multiplication schedules of the silicon comparison multiply, and race nowhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.silicon.gelu_program import gelu_program
from benchmarks.silicon.matmul_program import matmul_program
from benchmarks.silicon.matmul_schedule import Ahead, Layout, MatmulSchedule
from pypto.emulator.hazards import check_executable
from pypto.emulator.run import run
from pypto.errors import CompileError
from pypto.target.dtypes import F16
from pypto.target.one_launch import one_launch

BASE = MatmulSchedule(
    m=128, n=256, k=512, grid_m=2, grid_n=2, panel_m=64, panel_n=128,
    base_m=64, base_n=64, base_k=32, step_a=4, step_b=4,
)  # fmt: skip
SCHEDULES = {
    "large packets": BASE,
    "rows outside, f16": replace(BASE, columns_outside=False, out=F16),
    "packets of two sizes": replace(BASE, step_a=2),
    "unit flag": replace(BASE, unit_flag=True, out=F16),
    "one packet": replace(BASE, depth=1, step_a=1, step_b=1),
    "behind their use": replace(BASE, ahead=Ahead.BEHIND_USE, step_a=8, unit_flag=True),
    "rounds of panels": replace(BASE, grid_n=1, panel_m=32, panel_n=64),
    "rows of n, staggered": replace(BASE, layout=Layout.ROWS_OF_N, stagger=True),
    "two sizes, staggered": replace(BASE, step_a=2, stagger=True),
    "panels with edges": replace(BASE, n=348, panel_n=176, depth=1, step_a=1, step_b=1),
    "few rows, fractals": replace(
        BASE, m=20, n=160, grid_m=1, panel_m=32, base_m=32, panel_n=80, base_n=80,
        layout=Layout.FRACTALS, ahead=Ahead.ONE, stagger=True, unit_flag=True,
    ),
}  # fmt: skip


def laid_out(b: np.ndarray, layout: Layout) -> np.ndarray:
    """B [k, n] as it lies in global memory."""
    k, n = b.shape
    turned = {
        Layout.ROWS_OF_K: lambda: b.T,
        Layout.ROWS_OF_N: lambda: b,
        Layout.FRACTALS: lambda: b.reshape(k, n // 16, 16).transpose(1, 0, 2),
    }
    return np.ascontiguousarray(turned[layout]())


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_products_are_exact(schedule: MatmulSchedule) -> None:
    """Integers whose sums f32 holds; every core, edge and buffer is used twice or more."""
    draw = np.random.default_rng(1)
    a = draw.integers(-4, 5, (schedule.m, schedule.k)).astype(np.float16)
    b = draw.integers(-4, 5, (schedule.k, schedule.n)).astype(np.float16)
    inputs = [a, laid_out(b, schedule.layout)]
    executable = one_launch(
        "ascend910b1", [matmul_program(schedule)], schedule.cores, schedule.shapes()
    )
    (result,) = run(executable, inputs).results
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(schedule.out.numpy)
    np.testing.assert_array_equal(result, expected)
    assert check_executable(executable, [x.shape for x in inputs]) == []


@pytest.mark.parametrize("columns_outside", [True, False])
def test_vector_cores_take_the_tiles_of_their_group(columns_outside: bool) -> None:
    schedule = replace(
        BASE, base_n=128, unit_flag=True, tells=True, columns_outside=columns_outside, m=256
    )
    draw = np.random.default_rng(5)
    a = (draw.integers(-4, 5, (schedule.m, schedule.k)) / 32).astype(np.float16)
    b = (draw.integers(-4, 5, (schedule.k, schedule.n)) / 32).astype(np.float16)
    inputs = [a, laid_out(b, schedule.layout)]
    programs = [matmul_program(schedule), gelu_program(schedule)]
    executable = one_launch("ascend910b1", programs, schedule.cores, schedule.shapes())
    (result,) = run(executable, inputs).results
    x = a.astype(np.float64) @ b.astype(np.float64)
    expected = x / (1 + np.exp(-1.595769 * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-6)
    assert check_executable(executable, [x.shape for x in inputs]) == []


def test_gelu_refuses_tiles_with_edges() -> None:
    with pytest.raises(CompileError, match="128 x 348 is not cut into whole tiles of 64 x 64"):
        gelu_program(replace(BASE, n=348, panel_n=176))


def test_refusals() -> None:
    with pytest.raises(CompileError, match=r"k is 320, not a multiple of base_k \* 8 steps = 256"):
        matmul_program(replace(BASE, k=320))
    with pytest.raises(CompileError, match="base_m, base_n and base_k must be multiples of 16"):
        matmul_program(replace(BASE, base_k=8))
    with pytest.raises(CompileError, match="base_k = 512 is larger than half of L0A or L0B, 32768"):
        matmul_program(replace(BASE, k=4096, base_k=512))
