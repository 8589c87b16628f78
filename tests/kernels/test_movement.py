"""Moves are exact for every element type: permutations, slices with steps, concatenations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pypto
from pypto.errors import CompileError
from pypto.runtime.kernel import Kernel, Options
from pypto.target.dtypes import BF16, DTYPES
from pypto.target.soc import DEFAULT_SOC

COUPLED = "ascend910a"
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


def check(function, arguments, expected, level=2, soc=DEFAULT_SOC):
    kernel = Kernel(function, Options(soc=soc, opt_level=level, use_cache=False))
    (result,) = kernel.run(arguments, check_hazards=soc == COUPLED).results
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    assert result.tobytes() == expected.tobytes()


def on_both(split, coupled):
    pairs = [(DEFAULT_SOC, DTYPES[name]) for name in split]
    return pytest.mark.parametrize(
        ("soc", "dtype"), [*pairs, *((COUPLED, DTYPES[name]) for name in coupled)], ids=str
    )


ALL = on_both(DTYPES, [name for name in DTYPES if name != "bf16"])
# One of each size in bytes; bytes are moved through halves.
SIZES = on_both(("u8", "bf16", "i32", "i64"), ("u8", "f16", "f32", "i64"))
# Pairs of words move one by one where nothing gathers, and the checker follows each.
FAST = on_both(("u8", "bf16", "i32", "i64"), ("u8", "f16", "f32"))
BOTH = pytest.mark.parametrize("soc", [DEFAULT_SOC, COUPLED])


@SIZES
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_permute(soc, dtype, order):
    is_slow = soc == COUPLED and dtype.bytes == 8
    x = draw(dtype, *(min(n, 7) if is_slow else n for n in SHAPES[len(order)]))
    check(permute, (x, order), x.transpose(order), soc=soc)


@SIZES
@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_slice(soc, dtype, cuts):
    x = draw(dtype, 37, 741)
    rows, columns = cuts
    check(cut, (x, *cuts), x[slice(*rows), slice(*columns)], soc=soc)


@ALL
def test_one_row_and_one_column(soc, dtype):
    x = draw(dtype, 37, 741)
    check(one_row, (x,), x[3], soc=soc)
    check(one_column, (x,), x[..., 700], soc=soc)


@ALL
@pytest.mark.parametrize("shape", [(37, 1), (3, 5), (4, 741)], ids=str)
def test_concat_and_stack(soc, dtype, shape):
    x, y = draw(dtype, *shape), draw(dtype, *shape)[::-1].copy()
    for dim in (0, 1):
        check(join, (x, y, dim), np.concatenate([x, y], dim), level=dim * 2, soc=soc)
    check(stack_last, (x, y), np.stack([x, y], -1), soc=soc)


@BOTH
@pytest.mark.parametrize(("shape", "dim"), [((2, 3), 1), ((2, 3), 0), ((4, 5, 6), 1), ((741,), 0)])
def test_positions(soc, shape, dim):
    x = np.zeros(shape, np.int32)
    check(positions, (x, dim), np.indices(shape, np.int32)[dim], soc=soc)


def test_bits_survive():
    x = np.arange(2**16, dtype=np.uint16).reshape(256, 256).view(BF16.numpy)
    check(permute, (x, (1, 0)), x.T)


@FAST
@pytest.mark.parametrize("shape", [(104, 98), (152, 243), (127, 127), (65, 1000)], ids=str)
def test_transpose_with_tails(soc, dtype, shape):
    x = draw(dtype, *shape)
    check(permute, (x, (1, 0)), x.T, soc=soc)


SMALL_CUTS = [((0, 1, 2), (0, 5, 2)), ((0, 4, 3), (0, 5, 2)), ((0, 3, 1), (1, 2, 1))]


@SIZES
@pytest.mark.parametrize("cuts", SMALL_CUTS, ids=str)
def test_slices_that_leave_one_row_or_column(soc, dtype, cuts):
    x = draw(dtype, 3, 7)
    rows, columns = cuts
    check(cut, (x, *cuts), x[slice(*rows), slice(*columns)], soc=soc)
    check(cut, (x[:1], (0, 1, 1), (0, 7, 2)), x[:1, ::2], soc=soc)


def double(x):
    return x + x


def repeated(x):
    return pypto.broadcast_to(x, (5, *x.shape))


def flat(x):
    return (x.T + x.T).reshape(-1)


@BOTH
@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("shape", [(), (0,), (5, 0), (1, 7), (3, 7), (741,), (34, 130)], ids=str)
def test_shapes_that_fill_no_blocks(soc, level, shape):
    x = draw(DTYPES["f32"], *shape)
    check(double, (x,), x + x, level, soc)
    check(repeated, (x,), np.broadcast_to(x, (5, *shape)), level, soc)
    if x.ndim == 2:
        check(flat, (x,), (x.T + x.T).reshape(-1), level, soc)


def test_a_type_the_machine_lacks_is_refused():
    x = draw(BF16, 3, 7)
    with pytest.raises(CompileError, match="ascend910a has no bfloat16"):
        check(permute, (x, (1, 0)), x.T, soc=COUPLED)


def test_kernels_that_write_back_run_on_one_core():
    def tiles(*shape):
        kernel = Kernel(stack_last, Options(soc=COUPLED, use_cache=False))
        x = draw(DTYPES["f32"], *shape)
        return kernel.lower(x, x, level="tile")

    text = tiles(64, 64)
    assert 'grid = 1 : i64, order = "serial"' in text
    assert "merge" in text
