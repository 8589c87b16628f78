"""The convolution of the silicon comparison convolves, and races nowhere."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.silicon.conv_program import SIDE, ConvSchedule, conv_program
from pypto.emulator.hazards import check_executable
from pypto.emulator.run import run
from pypto.errors import CompileError
from pypto.target.one_launch import one_launch

SCHEDULES = {
    "tiles across rows": ConvSchedule(
        images=2, channel_blocks=2, height=8, width=24, filters=128, shares=2, base_m=64, base_n=64
    ),
    "a tile is a row": ConvSchedule(
        images=1, channel_blocks=4, height=5, width=48, filters=64, shares=1, base_m=48, base_n=64
    ),
    "a small last tile": ConvSchedule(
        images=1, channel_blocks=2, height=4, width=32, filters=128, shares=1, base_m=48, base_n=128
    ),
}


def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Y [images, filters / 16, height, width, 16] by shifted products."""
    images, blocks, height, width, c0 = x.shape
    pixels = x.transpose(0, 2, 3, 1, 4).reshape(images, height, width, blocks * c0)
    padded = np.pad(pixels.astype(np.float32), ((0, 0), (1, 1), (1, 1), (0, 0)))
    filters = w.shape[1] * 16
    taps = w.reshape(blocks, SIDE, SIDE, filters, c0).transpose(1, 2, 0, 4, 3)
    taps = taps.reshape(SIDE, SIDE, blocks * c0, filters).astype(np.float32)
    y = sum(
        padded[:, i : i + height, j : j + width] @ taps[i, j]
        for i in range(SIDE)
        for j in range(SIDE)
    )
    return np.asarray(y).reshape(images, height, width, filters // 16, 16).transpose(0, 3, 1, 2, 4)


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_results_are_exact(schedule: ConvSchedule) -> None:
    draw = np.random.default_rng(2)
    shapes = schedule.shapes()
    x, w = (draw.integers(-2, 3, shapes[name]).astype(np.float16) for name in "xw")
    executable = one_launch("ascend910b1", [conv_program(schedule)], schedule.cores, shapes)
    (result,) = run(executable, [x, w]).results
    np.testing.assert_array_equal(result, convolved(x, w).astype(np.float16))
    assert check_executable(executable, [x.shape, w.shape]) == []


def test_refusal() -> None:
    uneven = ConvSchedule(images=1, channel_blocks=3, height=8, width=16, filters=256, shares=1)
    with pytest.raises(CompileError, match="256 filters in 1 shares of tiles of 256, 3 channel"):
        conv_program(uneven)
