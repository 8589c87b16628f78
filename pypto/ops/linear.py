"""Products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.bounds import matmul_bound
from pypto.ops.core import composite, primitive
from pypto.ops.types import TensorType, broadcast_shapes, shape_text
from pypto.ops.value import Tensor
from pypto.target.dtypes import FLOATS


def _matrix(shape: tuple[int, ...], transposed: bool) -> tuple[int, int]:
    return (shape[-1], shape[-2]) if transposed else (shape[-2], shape[-1])


def _matmul_type(a: TensorType, b: TensorType, ta: bool, tb: bool) -> TensorType:
    if a.rank < 2 or b.rank < 2:
        raise CompileError(
            "SHAPE_MISMATCH",
            f"{shape_text(a.shape)} @ {shape_text(b.shape)}: operands need rank 2 or more",
            fix="add an axis with unsqueeze(dim)",
        )
    (m, k), (other_k, n) = _matrix(a.shape, ta), _matrix(b.shape, tb)
    if k != other_k:
        flags = "".join(f", {name}=True" for name, on in (("ta", ta), ("tb", tb)) if on)
        raise CompileError(
            "SHAPE_MISMATCH",
            f"{shape_text(a.shape)} @ {shape_text(b.shape)}{flags}: "
            f"inner extents differ: {k} and {other_k}",
            fix="transpose an operand, or check its shape",
        )
    return TensorType((*broadcast_shapes(a.shape[:-2], b.shape[:-2]), m, n), a.dtype)


def _matmul_numpy(a: np.ndarray, b: np.ndarray, ta: bool, tb: bool) -> np.ndarray:
    left, right = a.astype(np.float64), b.astype(np.float64)
    return (np.swapaxes(left, -1, -2) if ta else left) @ (
        np.swapaxes(right, -1, -2) if tb else right
    )


def _matmul_gradient(
    g: Tensor, r: Tensor, a: Tensor, b: Tensor, ta: bool, tb: bool
) -> tuple[Tensor, Tensor]:
    of_a = matmul(b, g, tb, True) if ta else matmul(g, b, False, not tb)
    of_b = matmul(g, a, True, ta) if tb else matmul(a, g, not ta, False)
    return of_a, of_b


@primitive(
    types=_matmul_type,
    reference=_matmul_numpy,
    dtypes=FLOATS,
    error=matmul_bound,
    promotes=("a", "b"),
    saturates=True,
    gradient=_matmul_gradient,
    aliases=("mm", "bmm"),
)
def matmul(a: Tensor, b: Tensor, ta: bool = False, tb: bool = False) -> Tensor:
    """a @ b over the last two axes, either transposed first; leading axes broadcast.

    Products are accumulated in f32 and rounded once to the operands' element type.
    """
    ...


def _linear_numpy(x: np.ndarray, weight: np.ndarray, bias: Any) -> np.ndarray:
    y = _matmul_numpy(x, weight, False, True)
    return y if bias is None else y + bias


@composite(reference=_linear_numpy, dtypes=FLOATS)
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight^T + bias, weight of shape (outputs, inputs), as in torch."""
    y = matmul(x, weight, tb=True)
    return y if bias is None else y + bias
