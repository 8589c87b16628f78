"""Where element (row, column) of a matrix lies in each layout: pure index functions.

All offsets are in elements and take integers or NumPy integer arrays. C0 is the number of
elements in 32 bytes; a fractal is 16 rows of C0 elements, 512 bytes. Lower-case z: row-major
inside a fractal, n: column-major; the capital says the same of the order between fractals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from pypto.target.memory import BLOCK_BYTES

if TYPE_CHECKING:
    import numpy as np

EDGE = 16  # rows of a fractal


def ceil_div(a: int, b: int) -> int:
    return (a + b - 1) // b


def round_up(a: int, b: int) -> int:
    return ceil_div(a, b) * b


def c0(element_bytes: int) -> int:
    """Elements in 32 bytes."""
    return BLOCK_BYTES // element_bytes


def nd(row: Any, column: Any, columns: int) -> Any:
    """Row-major, the layout of GM."""
    return row * columns + column


def nz(row: Any, column: Any, rows: int, depth: int) -> Any:
    """zN (FRACTAL_NZ), the layout of L1: columns of fractals of ``depth`` = C0 columns."""
    fractal = column // depth * ceil_div(rows, EDGE) + row // EDGE
    return (fractal * EDGE + row % EDGE) * depth + column % depth


def zz(row: Any, column: Any, columns: int, depth: int) -> Any:
    """zZ, the layout of A in L0A: rows of fractals of ``depth`` = C0 columns."""
    fractal = row // EDGE * ceil_div(columns, depth) + column // depth
    return (fractal * EDGE + row % EDGE) * depth + column % depth


def nz_l0b(row: Any, column: Any, columns: int, depth: int) -> Any:
    """nZ (FRACTAL_ZN), the layout of B in L0B: ``depth`` = C0 rows of k by 16 columns."""
    fractal = row // depth * ceil_div(columns, EDGE) + column // EDGE
    return (fractal * EDGE + column % EDGE) * depth + row % depth


def l0c(row: Any, column: Any, rows: int) -> Any:
    """The accumulator: NZ with fractals of 16x16 elements, whatever their type."""
    return nz(row, column, rows, EDGE)


class Window(NamedTuple):
    """An image of pixels of C0 elements, its borders, and the filter that slides over it."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    filter_w: int
    filter_h: int
    stride_w: int
    stride_h: int
    dilation_w: int
    dilation_h: int


def output_width(w: Window) -> int:
    """Positions of the filter in a row, less than 1 where the filter is too wide."""
    return (w.left + w.width + w.right - w.dilation_w * (w.filter_w - 1) - 1) // w.stride_w + 1


def output_height(w: Window) -> int:
    """Rows of positions of the filter, less than 1 where the filter is too high."""
    return (w.top + w.height + w.bottom - w.dilation_h * (w.filter_h - 1) - 1) // w.stride_h + 1


def image_to_columns(m: Any, block: Any, w: Window) -> tuple[Any, Any, Any]:
    """Channel block, row and column of the pixel at row m of im2col [V asc-devkit LoadData_3D].

    A row is a position of the filter; its columns are blocks of C0 elements in the order
    (channel block, filter row, filter column). Rows and columns of the borders lie outside of
    0..height and 0..width.
    """
    across = output_width(w)
    channel = block // (w.filter_h * w.filter_w)
    row = m // across * w.stride_h - w.top + block // w.filter_w % w.filter_h * w.dilation_h
    column = m % across * w.stride_w - w.left + block % w.filter_w * w.dilation_w
    return channel, row, column


def pack(matrix: np.ndarray, offset: Callable[[Any, Any], Any], elements: int) -> np.ndarray:
    """The matrix laid out flat by ``offset(row, column)``, zeros elsewhere."""
    import numpy as np

    flat = np.zeros(elements, matrix.dtype)
    row, column = np.indices(matrix.shape)
    flat[offset(row, column)] = matrix
    return flat


def unpack(flat: np.ndarray, shape: tuple[int, int], offset: Callable[[Any, Any], Any]) -> Any:
    """The matrix of ``shape`` that ``offset(row, column)`` finds in ``flat``."""
    import numpy as np

    row, column = np.indices(shape)
    return flat[offset(row, column)]
