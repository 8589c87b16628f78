"""At least one call of every row of the catalogue, as functions of element type and size."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pypto.ops import ROWS, Operator
from pypto.target.dtypes import F32, I1, I32, DType

SIZES = ("normal", "empty", "rank0")
SHAPES = {"normal": (5, 33), "empty": (0, 33), "rank0": ()}


@dataclass(frozen=True)
class Array:
    """An operand to be drawn: its shape per size, its range, its element type if it is fixed."""

    shapes: dict[str, tuple[int, ...]] = field(default_factory=lambda: SHAPES)
    low: float = -3.0
    high: float = 3.0
    dtype: DType | None = None

    def draw(self, dtype: DType, size: str, random: np.random.Generator) -> np.ndarray:
        """An array of the case's element type."""
        dtype = self.dtype or dtype
        shape = self.shapes[size]
        if dtype == I1:
            return random.integers(0, 2, shape).astype(bool)
        if not dtype.is_float:
            low = 0 if dtype.kind == "u" else int(np.floor(self.low))
            return random.integers(low, int(self.high) + 1, shape).astype(dtype.numpy)
        return random.uniform(self.low, self.high, shape).astype(dtype.numpy)


@dataclass(frozen=True)
class Case:
    """One call: arguments (``Array`` where an operand is drawn), keywords, the sizes it allows."""

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    sizes: tuple[str, ...]

    def draw(
        self, dtype: DType, size: str, random: np.random.Generator
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with arrays in place."""
        arguments = tuple(_drawn(a, dtype, size, random) for a in self.arguments)
        return arguments, {k: _drawn(v, dtype, size, random) for k, v in self.keywords.items()}


def _drawn(argument: Any, dtype: DType, size: str, random: np.random.Generator) -> Any:
    if isinstance(argument, Array):
        return argument.draw(dtype, size, random)
    if isinstance(argument, list):
        return [_drawn(item, dtype, size, random) for item in argument]
    return argument


def call(*arguments: Any, sizes: tuple[str, ...] = SIZES, **keywords: Any) -> Case:
    return Case(arguments, keywords, sizes)


def shaped(normal: tuple[int, ...], empty: tuple[int, ...] | None = None, **rest: Any) -> Array:
    empty = (0, *normal[1:]) if empty is None else empty
    return Array({"normal": normal, "empty": empty, "rank0": ()}, **rest)


ANY = Array()
POSITIVE = Array(low=0.1)
ROW = Array({"normal": (33,), "empty": (33,), "rank0": ()})
COLUMN = Array({"normal": (5, 1), "empty": (0, 1), "rank0": ()})
CONDITION = Array(dtype=I1)
RANKED = ("normal", "empty")
NORMAL = ("normal",)

BINARY = [call(ANY, ANY), call(ANY, ROW), call(COLUMN, ROW), call(ANY, 2), call(2, ANY)]
UNARY = [call(ANY)]
REDUCTION = [
    call(ANY),
    call(ANY, 0, True, sizes=RANKED),
    call(ANY, dim=-1, sizes=RANKED),
    call(ANY, axis=(0, 1), keepdims=True, sizes=RANKED),
]
NOT_EMPTY = [Case(c.arguments, c.keywords, tuple({*c.sizes} - {"empty"})) for c in REDUCTION]
LIKE = [call(ANY), call(ANY, dtype=I32)]

# Elementwise rows of one or two operands need no entry below.
CASES: dict[str, list[Case]] = {
    **{
        name: (UNARY, BINARY)[len(row.operands) - 1]
        for name, row in ROWS.items()
        if row.elementwise and len(row.operands) in (1, 2)
    },
    **{key: [call(POSITIVE)] for key in ("log", "sqrt", "rsqrt", "reciprocal")},
    "div": [call(ANY, POSITIVE), call(ANY, 3), call(1, POSITIVE)],
    "pow": [
        call(ANY, 3),
        call(ANY, 0),
        call(POSITIVE, -2),
        call(POSITIVE, 0.3),
        call(ANY, ANY),
        call(2.5, ANY),
        call(-2.0, ANY),
    ],
    "clip": [call(ANY, -1, 1), call(ANY, max=1), call(ANY, ROW)],
    "cast": [call(ANY, dtype) for dtype in ("f16", "bf16", "f32", "i32", "i1", "i8")]
    + [call(ANY, I32, round=mode) for mode in ("rint", "floor", "ceil", "away")],
    "select": [
        call(CONDITION, ANY, ROW),
        call(CONDITION, ANY, 1),
        call(CONDITION, 0, 1),
    ],
    **{key: [call(ANY, ANY), call(ANY, ROW)] for key in ("and", "or", "xor")},
    **{key: [call(ANY, ROW)] for key in ("logical_and", "logical_or", "logical_xor")},
    "logical_not": UNARY,
    "gelu": [call(ANY), call(ANY, approximate="tanh")],
    "reduce": [call(ANY, kind) for kind in ("sum", "max", "min")]
    + [call(ANY, kind, -1, keepdim=True, sizes=RANKED) for kind in ("sum", "max", "min")],
    "sum": REDUCTION,
    "amax": NOT_EMPTY,
    "amin": NOT_EMPTY,
    "mean": REDUCTION,
    "var": [*REDUCTION[1:], call(ANY, correction=0)],
    "reshape": [
        call(ANY, (33, -1), sizes=NORMAL),
        call(ANY, 3, 11, 5, sizes=NORMAL),
        call(shaped((), ()), (1, 1)),
        call(shaped((0, 3)), (3, 0), sizes=("empty",)),
    ],
    "permute": [call(shaped((2, 3, 4)), 2, 0, 1, sizes=RANKED), call(ANY, (-1, 0), sizes=RANKED)],
    "broadcast": [
        call(COLUMN, (5, 7), sizes=NORMAL),
        call(ROW, 2, -1, sizes=NORMAL),
        call(Array(), (2, 3), sizes=("rank0",)),
    ],
    "slice": [
        call(ANY, (1, 2), (4, -1), sizes=NORMAL),
        call(ANY, (0, 0), (5, 33), (2, 5), sizes=RANKED),
    ],
    "concat": [call([ANY, shaped((5, 2))], 1, sizes=RANKED), call([ANY], dim=0, sizes=RANKED)],
    "stack": [call([ANY, ANY]), call([ANY, ANY], -1)],
    "split": [call(ANY, 3, -1, sizes=RANKED), call(ANY, [30, 3], axis=1, sizes=RANKED)],
    "transpose": [call(shaped((2, 3, 4)), sizes=RANKED), call(ANY, 0, 1, sizes=RANKED)],
    "t": UNARY,
    "squeeze": [call(shaped((1, 3, 1))), call(shaped((1, 3, 1)), 0, sizes=RANKED)],
    "unsqueeze": [call(ANY, 0), call(ANY, -1)],
    "flatten": [
        call(shaped((2, 3, 4)), sizes=RANKED),
        call(shaped((2, 3, 4)), 1, 2, sizes=RANKED),
    ],
    "full": [call((2, 3), 1.5), call((), 2), call((0, 3), True), call(2, 7, dtype="f16")],
    "iota": [call((2, 3), 1), call((4,))],
    "arange": [call(5), call(2, 11, 3), call(1, 0, -0.25), call(3, dtype="bf16"), call(3, 1)],
    "zeros": [call(2, 3), call((0,), I1)],
    "ones": [call(2, 3), call((), I32)],
    "full_like": [call(ANY, 2), call(ANY, 2.5, F32)],
    "zeros_like": LIKE,
    "ones_like": LIKE,
    "softmax": [call(ANY, sizes=RANKED), call(ANY, 0, sizes=NORMAL)],
    "standardize": [
        call(ANY, -1, sizes=RANKED),
        call(shaped((2, 3, 4)), (1, 2), 1e-3, False, sizes=NORMAL),
    ],
    "layer_norm": [
        call(ANY, sizes=RANKED),
        call(ANY, ROW, ROW, sizes=RANKED),
        call(ANY, bias=ROW, eps=1e-6, sizes=NORMAL),
        call(shaped((2, 3, 4)), shaped((3, 4)), begin=1, sizes=NORMAL),
    ],
    "rms_norm": [call(ANY, sizes=RANKED), call(ANY, ROW, sizes=RANKED)],
    "matmul": [
        call(shaped((5, 33)), shaped((33, 7), (33, 7)), sizes=RANKED),
        call(shaped((33, 5)), shaped((7, 33)), True, tb=True, sizes=NORMAL),
        call(shaped((2, 1, 5, 3)), shaped((4, 3, 6)), sizes=NORMAL),
        call(shaped((5, 0), (5, 0)), shaped((0, 7), (0, 7)), sizes=RANKED),
    ],
    "linear": [
        call(ANY, shaped((7, 33), (7, 33)), sizes=RANKED),
        call(ANY, shaped((7, 33), (7, 33)), shaped((7,), (7,)), sizes=RANKED),
    ],
}


def scalar_fits(case: Case, dtype: DType) -> bool:
    """Whether the case's Python numbers may meet tensors of this element type."""
    numbers = [a for a in case.arguments if isinstance(a, (int, float))]
    return dtype.is_float or not any(isinstance(number, float) for number in numbers)


def all_calls() -> Iterator[tuple[Operator[..., Any], Case, DType, str]]:
    """Every case with every element type its row takes and every size it allows."""
    for name, cases in CASES.items():
        row = ROWS[name]
        dtypes = row.dtypes if row.operands else row.dtypes[:1]
        for case in cases:
            for dtype in dtypes:
                if _allows(row, case, dtype):
                    for size in case.sizes if row.operands else NORMAL:
                        yield row, case, dtype, size


def _allows(row: Operator[..., Any], case: Case, dtype: DType) -> bool:
    if row.name == "pow" and not dtype.is_float:
        return isinstance(case.arguments[1], int) and case.arguments[1] >= 0
    if row.name == "cast" and "round" in case.keywords:
        return dtype.is_float
    return scalar_fits(case, dtype)


def label(entry: tuple[Operator[..., Any], Case, DType, str]) -> str:
    row, case, dtype, size = entry
    return f"{row.name}{CASES[row.name].index(case)}-{dtype}-{size}"


def apply(
    evaluate: Callable[..., Any], row: Operator[..., Any], case: Case, dtype: DType, size: str
) -> Any:
    """Draw the operands of a call (the same for every evaluator) and apply its row."""
    random = np.random.default_rng(zlib.crc32(f"{row.name} {size}".encode()))
    arguments, keywords = case.draw(dtype, size, random)
    return evaluate(row, *row.bind(arguments, keywords))
