"""Kernels that the planted bugs break, with arguments of odd shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr

import pypto
from pypto.dialects.constants import ConstantStore
from pypto.dialects.host import SOC
from pypto.frontend.module import build_module
from pypto.ops.types import tensor_type_of
from pypto.target.soc import DEFAULT_SOC


def chain(x, y):
    return abs(x * 2 + y) - pypto.maximum(x, y)


def softmax(x):
    return pypto.softmax(x, dim=-1) + 1.0


def layer_norm(x, weight, bias):
    return pypto.layer_norm(x, weight, bias)


def column_sums(x, y):
    return pypto.sum(pypto.exp(x) * y, dim=0)


def row_sums(x):
    return pypto.sum(x * 3, dim=-1)


def product(a, b):
    return a @ b


def dense_layer(a, b, bias):
    return pypto.relu(a @ b.T + bias)


def integers(x):
    return (x * 10).cast(pypto.int32)


def quantised(x):
    return (x * 10 + 0.25).cast(pypto.int8)


@dataclass(frozen=True)
class Subject:
    """A kernel on arguments of the given shapes, all float32."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        return self.function.__name__

    def inputs(self) -> list[np.ndarray]:
        generator = np.random.default_rng(1)
        return [generator.normal(0, 1, shape).astype(np.float32) for shape in self.shapes]

    def module(self) -> tuple[ModuleOp, ConstantStore]:
        types = [tensor_type_of(array) for array in self.inputs()]
        module, constants = build_module(self.function, types, name=str(self))
        module.attributes[SOC] = StringAttr(DEFAULT_SOC)
        return module, constants


CHAIN = Subject(chain, ((5, 137), (5, 137)))
SOFTMAX = Subject(softmax, ((5, 137),))
LAYER_NORM = Subject(layer_norm, ((5, 37), (37,), (37,)))
COLUMN_SUMS = Subject(column_sums, ((1030, 3), (1030, 3)))
ROW_SUMS = Subject(row_sums, ((5, 37),))
PRODUCT = Subject(product, ((3, 201), (201, 5)))
DENSE_LAYER = Subject(dense_layer, ((19, 201), (33, 201), (33,)))
INTEGERS = Subject(integers, ((5, 37),))
QUANTISED = Subject(quantised, ((5, 37),))

# By the name of a bug.
BROKEN: dict[str, tuple[Subject, ...]] = {
    "off-by-one tile": (CHAIN, SOFTMAX),
    "wrong axis": (SOFTMAX, LAYER_NORM),
    "dropped flag": (CHAIN, PRODUCT),
    "swapped operands": (CHAIN, SOFTMAX),
    "lost tail": (CHAIN, DENSE_LAYER),
    "overlapping buffers": (CHAIN, COLUMN_SUMS),
    "wrong cast": (INTEGERS, QUANTISED),
    "wrong valid shape": (SOFTMAX, ROW_SUMS),
    "wrong trip count": (COLUMN_SUMS, PRODUCT),
    "stale double buffer": (PRODUCT, DENSE_LAYER),
}
