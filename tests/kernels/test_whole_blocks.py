"""Kernels whose rows end within a block, on the machine that copies whole ones only."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pypto
from pypto.runtime.kernel import Kernel, Options

SOC = "ascend910a"


Rows = pypto.Tensor[(pypto.DYNAMIC, 37), pypto.float32]
Matrix = pypto.Tensor[(pypto.DYNAMIC, pypto.DYNAMIC), pypto.float32]
Vector = pypto.Tensor[(pypto.DYNAMIC,), pypto.float32]


def any_rows(x: Rows, y: pypto.Tensor[(37,), pypto.float32]):
    return x * y


def any_shape(x: Matrix, y: Vector):
    return x > y


def softmax(x):
    return pypto.softmax(x, -1)


def kernel_of(function, level: int) -> Kernel:
    return Kernel(function, Options(soc=SOC, opt_level=level, use_cache=False))


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("function", [any_rows, any_shape])
def test_extents_known_at_launch(function, level):
    kernel = kernel_of(function, level)
    for rows in (1, 7, 300):
        x = np.random.default_rng(rows).standard_normal((rows, 37), np.float32)
        (got,) = kernel.run([x, x[0]], check_hazards=True).results
        np.testing.assert_array_equal(got, function(x, x[0]))


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize(
    ("shape", "grid"), [((64, 37), 32), ((1000, 10), 32), ((3, 7), 1), ((1, 7), 1)]
)
def test_rows_are_shared_out(shape, grid, dtype, level):
    kernel = kernel_of(softmax, level)
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    (got,) = kernel.run([x], check_hazards=True).results
    powers = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    wanted = powers / powers.sum(-1, keepdims=True)
    np.testing.assert_allclose(got, wanted, atol=1e-3 if dtype == np.float16 else 1e-6)
    if level == 2:
        assert re.findall(r"grid = (\d+) : i64", kernel.lower(x, level="tile")) == [str(grid)]
