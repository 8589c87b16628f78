"""Moves are exact for every element type: permutations, slices with steps, concatenations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pypto
from pypto.runtime.kernel import Kernel, Options
from pypto.target.dtypes import BF16, DTYPES

ORDERS = [*itertools.permutations(range(3)), (0, 3, 2, 1), (3, 2, 1, 0), (0, 2, 3, 1), (1, 0, 3, 2)]
SHAPES = {3: (3, 5, 7), 4: (2, 70, 3, 37)}


def permute(x, dims):
    return x.permute(dims)


def cut(x, rows, columns):
    return x[rows[0] : rows[1] : rows[2], columns[0] : columns[1] : columns[2]]


def one_row(x):
    return x[3]


def one_column(x):
    return x[..., 700]


def join(x, y, dim):
    return pypto.concat([x, y], dim)


def stack_last(x, y):
    return pypto.stack([x, y], -1)


def positions(x, dim):
    return pypto.ops.ROWS["iota"](x.shape, dim) + x


CUTS = [
    ((1, 30, 3), (5, 700, 2)),
    ((0, 37, 1), (0, 741, 7)),
    ((0, 37, 1), (3, 4, 1)),
    ((0, 37, 5), (0, 741, 1)),
    ((0, 37, 1), (0, 741, 100)),
]


def draw(dtype, *shape):
    numbers = np.random.default_rng(0).integers(0, 2 if dtype.kind == "b" else 100, shape)
    return numbers.astype(dtype.numpy)


def check(function, arguments, expected, level=2):
    kernel = Kernel(function, Options(opt_level=level, use_cache=False))
    result = kernel(*arguments)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(
        result.view(np.uint8), np.ascontiguousarray(expected).view(np.uint8)
    )


ALL = pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
# One of each size in bytes; bytes are moved through halves.
SIZES = pytest.mark.parametrize(
    "dtype", [d for d in DTYPES.values() if d.name in ("u8", "bf16", "i32", "i64")], ids=str
)


@SIZES
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_permute(dtype, order):
    x = draw(dtype, *SHAPES[len(order)])
    check(permute, (x, order), x.transpose(order))


@SIZES
@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_slice(dtype, cuts):
    x = draw(dtype, 37, 741)
    rows, columns = cuts
    check(cut, (x, *cuts), x[slice(*rows), slice(*columns)])


@ALL
def test_one_row_and_one_column(dtype):
    x = draw(dtype, 37, 741)
    check(one_row, (x,), x[3])
    check(one_column, (x,), x[..., 700])


@ALL
@pytest.mark.parametrize("shape", [(37, 1), (3, 5), (4, 741)], ids=str)
def test_concat_and_stack(dtype, shape):
    x, y = draw(dtype, *shape), draw(dtype, *shape)[::-1].copy()
    for dim in (0, 1):
        check(join, (x, y, dim), np.concatenate([x, y], dim), level=dim * 2)
    check(stack_last, (x, y), np.stack([x, y], -1))


@pytest.mark.parametrize(("shape", "dim"), [((2, 3), 1), ((2, 3), 0), ((4, 5, 6), 1), ((741,), 0)])
def test_positions(shape, dim):
    x = np.zeros(shape, np.int32)
    check(positions, (x, dim), np.indices(shape, np.int32)[dim])


def test_bits_survive():
    x = np.arange(2**16, dtype=np.uint16).reshape(256, 256).view(BF16.numpy)
    check(permute, (x, (1, 0)), x.T)


@SIZES
@pytest.mark.parametrize("shape", [(104, 98), (152, 243), (127, 127), (65, 1000)], ids=str)
def test_transpose_with_tails(dtype, shape):
    x = draw(dtype, *shape)
    check(permute, (x, (1, 0)), x.T)


SMALL_CUTS = [((0, 1, 2), (0, 5, 2)), ((0, 4, 3), (0, 5, 2)), ((0, 3, 1), (1, 2, 1))]


@SIZES
@pytest.mark.parametrize("cuts", SMALL_CUTS, ids=str)
def test_slices_that_leave_one_row_or_column(dtype, cuts):
    x = draw(dtype, 3, 7)
    rows, columns = cuts
    check(cut, (x, *cuts), x[slice(*rows), slice(*columns)])
    check(cut, (x[:1], (0, 1, 1), (0, 7, 2)), x[:1, ::2])
