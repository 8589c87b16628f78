"""The smallest kernels: a chain of elementwise operators, for one shape and for any length."""

from __future__ import annotations

import numpy as np

import pypto


@pypto.kernel
def scale_add(x: pypto.Tensor, y: pypto.Tensor) -> pypto.Tensor:
    return x * 2 + y


Vector = pypto.Tensor[(pypto.DYNAMIC,), pypto.float16]


@pypto.kernel
def scale_add_any_length(x: Vector, y: Vector) -> pypto.Tensor:  # compiled once for all lengths
    return x * 2 + y


def example_inputs_scale_add() -> tuple[np.ndarray, ...]:
    draw = np.random.default_rng(0)
    return tuple(draw.normal(0, 1, (37, 741)).astype(np.float32) for _ in range(2))


def example_inputs_scale_add_any_length() -> tuple[np.ndarray, ...]:
    draw = np.random.default_rng(1)
    return tuple(draw.normal(0, 1, 27_417).astype(np.float16) for _ in range(2))


def reference_scale_add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x * 2 + y
