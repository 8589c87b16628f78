"""Twelve kernels over awkward shapes, element types and levels, drawn pairwise."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pypto
from pypto.target.dtypes import BF16, F16, F32, I32, DType
from pypto.target.soc import SOC_NAMES, soc

FLOATS = (F32, F16, BF16)
WITH_INTEGERS = (*FLOATS, I32)
LEVELS = (0, 2)
SPLIT, COUPLED = "ascend910b1", "ascend910a"
SPLIT_SOCS = (SPLIT, *(name for name in SOC_NAMES if not soc(name).is_coupled and name != SPLIT))
COUPLED_SOCS = (COUPLED, *(name for name in SOC_NAMES if soc(name).is_coupled and name != COUPLED))

SHAPES = ((1, 7), (3, 7), (37, 741), (34, 130), (), (741,), (0, 7))
MATRICES = tuple(shape for shape in SHAPES if len(shape) == 2)
WITH_AXES = tuple(shape for shape in SHAPES if shape)
EXTENTS = (1, 7, 16, 200, 557)

Draw = Callable[[tuple[int, ...], float], np.ndarray]


def elementwise_chain(x, y):
    return abs(x * 2 + y) - pypto.maximum(x, y)


def residual_add(x, residual, bias):
    return x + residual + bias


def softmax(x):
    return pypto.softmax(x, dim=-1)


def layer_norm(x, weight, bias):
    return pypto.layer_norm(x, weight, bias)


def gelu(x):
    return pypto.gelu(x)


def swish(x):
    return pypto.swish(x)


def row_and_column_reduce(x):
    return pypto.sum(x, dim=-1), pypto.amax(x, dim=0) if x.shape[0] else pypto.sum(x, dim=0)


def transpose(x):
    return pypto.transpose(x, 0, 1)


def matmul(a, b):
    return a @ b


def transposed_matmul(a, b):
    return a @ b.T


def matmul_bias_relu(a, b, bias):
    return pypto.relu(a @ b + bias)


def mlp(x, w1, b1, w2, b2):
    return pypto.relu(x @ w1 + b1) @ w2 + b2


@dataclass(frozen=True)
class Family:
    """A kernel with the problems it is tried on: ``inputs(draw, problem)`` makes its arguments."""

    function: Callable[..., Any]
    problems: tuple[tuple[int, ...], ...]
    dtypes: tuple[DType, ...]
    inputs: Callable[[Draw, tuple[int, ...]], Sequence[np.ndarray]]

    @property
    def name(self) -> str:
        return self.function.__name__


def one(draw: Draw, shape: tuple[int, ...]) -> Sequence[np.ndarray]:
    return (draw(shape, 2),)


def norm_inputs(draw: Draw, shape: tuple[int, ...]) -> Sequence[np.ndarray]:
    return draw(shape, 2), draw(shape[-1:], 1), draw(shape[-1:], 1)


def bias_inputs(draw: Draw, shape: tuple[int, ...]) -> Sequence[np.ndarray]:
    m, n, k = shape
    return draw((m, k), 1), draw((k, n), k**-0.5), draw((n,), 1)


def mlp_inputs(draw: Draw, shape: tuple[int, ...]) -> Sequence[np.ndarray]:
    m, n, k = shape
    hidden = 33
    return (
        draw((m, k), 1),
        draw((k, hidden), k**-0.5),
        draw((hidden,), 1),
        draw((hidden, n), hidden**-0.5),
        draw((n,), 1),
    )


PRODUCTS = tuple(itertools.product(EXTENTS, repeat=3))

FAMILIES = (
    Family(elementwise_chain, SHAPES, WITH_INTEGERS, lambda d, s: (d(s, 2), d(s, 2))),
    Family(residual_add, WITH_AXES, WITH_INTEGERS, lambda d, s: (d(s, 2), d(s, 2), d(s[-1:], 2))),
    Family(softmax, WITH_AXES, FLOATS, one),
    Family(layer_norm, WITH_AXES, FLOATS, norm_inputs),
    Family(gelu, SHAPES, FLOATS, one),
    Family(swish, SHAPES, FLOATS, one),
    Family(row_and_column_reduce, MATRICES, FLOATS, one),
    Family(transpose, MATRICES, WITH_INTEGERS, one),
    Family(matmul, PRODUCTS, FLOATS, lambda d, s: (d((s[0], s[2]), 1), d((s[2], s[1]), 1))),
    Family(
        transposed_matmul, PRODUCTS, FLOATS, lambda d, s: (d((s[0], s[2]), 1), d((s[1], s[2]), 1))
    ),
    Family(matmul_bias_relu, PRODUCTS, FLOATS, bias_inputs),
    Family(mlp, PRODUCTS, FLOATS, mlp_inputs),
)


@dataclass(frozen=True)
class Case:
    """One kernel on one problem at one level."""

    family: Family
    problem: tuple[int, ...]
    dtype: DType
    level: int
    soc: str = SPLIT

    def __str__(self) -> str:
        extents = "x".join(map(str, self.problem)) or "rank0"
        machine = "" if self.soc == SPLIT else f"-{self.soc}"
        return f"{self.family.name}-{extents}-{self.dtype}-O{self.level}{machine}"

    def inputs(self, seed: int = 0) -> tuple[np.ndarray, ...]:
        """Arguments drawn with a seed; integers lie in -99..99."""
        generator = np.random.default_rng([seed, *map(ord, str(self))])

        def draw(shape: tuple[int, ...], scale: float) -> np.ndarray:
            if self.dtype.is_float:
                return np.asarray(generator.normal(0, scale, shape)).astype(self.dtype.numpy)
            return np.asarray(generator.integers(-99, 100, shape)).astype(self.dtype.numpy)

        return tuple(self.family.inputs(draw, self.problem))


def pairwise(factors: Sequence[Sequence[Any]], generator: np.random.Generator) -> Iterator[tuple]:
    """Rows in which every pair of values of two factors occurs at least once."""
    columns = range(len(factors))
    open_pairs = {
        (i, a, j, b)
        for i, j in itertools.combinations(columns, 2)
        for a in range(len(factors[i]))
        for b in range(len(factors[j]))
    }
    while open_pairs:
        i, a, j, b = sorted(open_pairs)[generator.integers(len(open_pairs))]
        best: tuple[int, ...] = ()
        most = -1
        for _ in range(20):
            row = [int(generator.integers(len(factor))) for factor in factors]
            row[i], row[j] = a, b
            covered = len(open_pairs & pairs_of(row))
            if covered > most:
                best, most = tuple(row), covered
        open_pairs -= pairs_of(best)
        yield tuple(factor[index] for factor, index in zip(factors, best, strict=True))


def pairs_of(row: Sequence[int]) -> set[tuple[int, int, int, int]]:
    return {(i, row[i], j, row[j]) for i, j in itertools.combinations(range(len(row)), 2)}


def drawn_cases(family: Family, seed: int, machine: str = SPLIT) -> list[Case]:
    """All pairs of extents, element types and levels; whole shapes where extents go together."""
    generator = np.random.default_rng([seed, *map(ord, family.name)])
    dtypes = [dtype for dtype in family.dtypes if is_known(family, dtype, machine)]
    if family.problems is PRODUCTS:
        rows = pairwise([EXTENTS, EXTENTS, EXTENTS, dtypes, LEVELS], generator)
        return [Case(family, row[:3], *row[3:], soc=machine) for row in rows]
    rows = pairwise([family.problems, dtypes, LEVELS], generator)
    return [Case(family, *row, soc=machine) for row in rows]


def is_known(family: Family, dtype: DType, machine: str) -> bool:
    """Whether a machine computes a kernel in an element type."""
    lacking = (F32, BF16) if family.problems is PRODUCTS else (BF16,)
    return machine not in COUPLED_SOCS or dtype not in lacking
