"""Layouts: the index functions against reshapes of NumPy, and their inverses."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.target import layouts
from pypto.target.layouts import ceil_div, round_up

SHAPES = [(1, 1), (16, 16), (7, 41), (33, 16), (48, 72)]


def padded(matrix: np.ndarray, row: int, column: int) -> np.ndarray:
    rows, columns = matrix.shape
    return np.pad(matrix, ((0, -rows % row), (0, -columns % column)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("depth", [8, 16, 32])
def test_fractal_layouts_are_transposed_blocks(shape: tuple[int, int], depth: int) -> None:
    rows, columns = shape
    matrix = np.arange(1, rows * columns + 1).reshape(shape)
    whole = padded(matrix, 16, depth)
    blocks = whole.reshape(-1, 16, whole.shape[1] // depth, depth)
    nz = layouts.pack(matrix, lambda r, c: layouts.nz(r, c, rows, depth), whole.size)
    zz = layouts.pack(matrix, lambda r, c: layouts.zz(r, c, columns, depth), whole.size)
    assert np.array_equal(nz, blocks.transpose(2, 0, 1, 3).ravel())
    assert np.array_equal(zz, blocks.transpose(0, 2, 1, 3).ravel())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("depth", [8, 16, 32])
def test_l0b_holds_columns_inside_fractals(shape: tuple[int, int], depth: int) -> None:
    columns = shape[1]
    matrix = np.arange(1, shape[0] * columns + 1).reshape(shape)
    whole = padded(matrix, depth, 16)
    blocks = whole.reshape(-1, depth, whole.shape[1] // 16, 16)
    flat = layouts.pack(matrix, lambda r, c: layouts.nz_l0b(r, c, columns, depth), whole.size)
    assert np.array_equal(flat, blocks.transpose(0, 2, 3, 1).ravel())


@pytest.mark.parametrize("shape", SHAPES)
def test_unpack_undoes_pack(shape: tuple[int, int]) -> None:
    rows, columns = shape
    matrix = np.random.default_rng(3).normal(size=shape)
    for offset, size in (
        (lambda r, c: layouts.nd(r, c, columns), rows * columns),
        (lambda r, c: layouts.l0c(r, c, rows), round_up(rows, 16) * round_up(columns, 16)),
    ):
        flat = layouts.pack(matrix, offset, size)
        assert np.array_equal(layouts.unpack(flat, shape, offset), matrix)


def test_the_accumulator_is_nz_with_square_fractals() -> None:
    assert layouts.l0c(3, 21, 40) == layouts.nz(3, 21, 40, 16) == (48 + 3) * 16 + 5


def unfolded(image: np.ndarray, w: layouts.Window, pad: int) -> np.ndarray:
    """The im2col matrix [positions, channel blocks x filter x C0] of an image [C1, H, W, C0]."""
    borders = ((0, 0), (w.top, w.bottom), (w.left, w.right), (0, 0))
    whole = np.pad(image, borders, constant_values=pad)
    rows = range(0, whole.shape[1] - w.dilation_h * (w.filter_h - 1), w.stride_h)
    columns = range(0, whole.shape[2] - w.dilation_w * (w.filter_w - 1), w.stride_w)
    lines = []
    for y in rows:
        for x in columns:
            pieces = [
                whole[c, y + i * w.dilation_h, x + j * w.dilation_w]
                for c in range(image.shape[0])
                for i in range(w.filter_h)
                for j in range(w.filter_w)
            ]
            lines.append(np.concatenate(pieces))
    return np.array(lines)


WINDOWS = [
    layouts.Window(5, 4, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1),
    layouts.Window(7, 6, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1),
    layouts.Window(9, 8, 2, 1, 0, 3, 2, 3, 2, 3, 3, 2),
]


@pytest.mark.parametrize("w", WINDOWS)
def test_an_unfolded_image_has_a_row_for_each_position_of_the_filter(w: layouts.Window) -> None:
    blocks, depth, pad = 2, 4, -1
    image = np.arange(blocks * w.height * w.width * depth)
    image = image.reshape(blocks, w.height, w.width, depth)
    expected = unfolded(image, w, pad)
    count = layouts.output_width(w) * layouts.output_height(w)
    m, k = np.indices((count, blocks * w.filter_h * w.filter_w * depth))
    c, y, x = layouts.image_to_columns(m, k // depth, w)
    inside = (y >= 0) & (y < w.height) & (x >= 0) & (x < w.width)
    got = image[c, np.clip(y, 0, w.height - 1), np.clip(x, 0, w.width - 1), k % depth]
    assert np.array_equal(np.where(inside, got, pad), expected)


def test_sizes() -> None:
    assert [layouts.c0(size) for size in (1, 2, 4)] == [32, 16, 8]
    assert (ceil_div(17, 16), round_up(17, 16), round_up(0, 16)) == (2, 32, 0)
