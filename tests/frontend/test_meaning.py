"""A kernel's text means what Python makes of it: both run on NumPy's evaluator, and agree."""

# ruff: noqa: B023 - what users may write

from __future__ import annotations

import functools
import itertools
import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

import numpy as np
import pytest

import pypto
from pypto.frontend.door import Computing
from pypto.frontend.form import evaluate
from pypto.frontend.structure import map_leaves
from pypto.ops.numpy_evaluator import NumpyEvaluator
from pypto.ops.types import tensor_type_of
from pypto.ops.value import using

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
WEIGHTS = np.linspace(0, 1, 6, dtype=np.float32)


class Pair(NamedTuple):
    first: Any
    second: Any = 1.0

    def total(self):
        return self.first + self.second


@dataclass
class Late:
    value: Any
    unset: Any = field(init=False)


class Typed(TypedDict):
    value: Any


def list_grows_under_another_name(x):
    parts = []
    same = parts
    parts += (x,)
    parts *= 2
    return same


def dictionary_grows_under_another_name(x):
    table = {"a": x}
    same = table
    table |= {"b": x + 1}
    return same


def set_grows_under_another_name(x):
    numbers = {1, 2}
    same = numbers
    numbers |= {3}
    numbers -= {1}
    return x * sum(same)


def entry_changes_once(x):
    places, values = [0, 1, 2], [10, 20, 30]
    values[places.pop()] += 1
    return x * values[0], x * values[1], x * values[2], [x for _ in places]


def entry_of_a_list_of_tensors(x):
    parts = [x, x]
    parts[0] += 1
    return parts


def lists_inside_lists_stay_themselves(x):
    inner = [x]
    outer = [inner] + [[x * 2]] * 2
    inner.append(x + 1)
    outer[2].append(x + 2)
    return outer


def record_of_a_list_that_grows(x):
    parts = [x]
    pair = Pair(parts)
    parts.append(x + 1)
    return pair


def functions_see_the_last_value(x):
    i = 10
    functions = [lambda: x * i for i in range(3)]
    return [function() for function in functions], x * i


def functions_keep_their_defaults(x):
    functions = [lambda i=i: x * i for i in range(3)]
    return [function() for function in functions]


def generators_end(x):
    numbers = (i for i in range(3))
    return x * sum(numbers), x + sum(numbers)


def generators_are_late(x):
    by = 1.0
    parts = (x * by * i for i in (1, 2))
    by = 5.0
    return list(parts)


def generators_of_generators(x):
    return [x * (i + j) for i in range(3) if i != 1 for j in range(i)], [
        [x * (i - j) for j in range(2)] for i in range(2)
    ]


def assignment_in_a_comprehension(x):
    parts = [last := x * i for i in range(3)]
    return last, parts


def list_grows_under_a_loop(x):
    parts = [x]
    for part in parts:
        if len(parts) < 4:
            parts.append(part + 1)
    return parts


def endless_iterables(x):
    for i in itertools.count():
        if i == 3:
            break
        x = x + i
    return [a * b for a, b in zip((x, x), itertools.count(1), strict=False)]


def fresh_containers(x):
    parts = [x, x + 1, x + 2][1:]
    parts.append(x)
    words = " ".join(("a", "b")).split()
    words.append("c")
    table = {"a": x} | {"b": x + 1}
    table["c"] = x * len(words)
    numbers = {1, 2} | {3}
    numbers.add(4)
    return parts, table, x * sum(numbers)


def ordered(x):
    table = OrderedDict(b=x)
    table["a"] = x + 1
    counts = defaultdict(int)
    counts["a"] += 2
    return table, Typed(value=x * counts["a"])


def functions_in_dictionaries(x):
    table = dict([("length", len)], double=lambda y: y * 2)
    return table["double"](x) * table["length"]([1])


def fields_without_a_value(x):
    return Late(x)


def methods_of_records(x):
    return Pair(x).total(), Pair(x)._replace(second=x + 1).total()


def functions_of_libraries(x):
    total = functools.reduce(lambda a, b: a + b, [x, x, x])
    mean = functools.partial(pypto.mean, dim=-1)
    chained = [a + 1 for a in itertools.chain([x], (x,))]
    return operator.add(total, x), mean(x), chained, [*itertools.accumulate([x, x])]


def numpy_of_arrays(x):
    mask = np.tril(np.ones((4, 6), np.float32))
    return x * mask + np.exp(WEIGHTS)


def inside():
    def texts_at_the_margin(x):
        text = """
at the margin
"""
        return x * len(text)

    return texts_at_the_margin


texts_at_the_margin = inside()


CASES: list[Callable[..., Any]] = [
    value
    for value in list(globals().values())
    if getattr(value, "__code__", None) and value.__code__.co_varnames[:1] == ("x",)
]


def arrays(value: Any) -> Any:
    return map_leaves(value, lambda leaf: np.asarray(leaf) if hasattr(leaf, "evaluator") else leaf)


def check_equal(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs)
    if isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    elif isinstance(theirs, Late):
        assert not hasattr(ours, "unset")
        check_equal(ours.value, theirs.value)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        check_equal([*ours.values()], [*theirs.values()])
    elif isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            check_equal(one, other)
    else:
        assert ours == theirs


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_a_kernel_means_what_python_makes_of_it(function: Callable[..., Any]) -> None:
    evaluator = NumpyEvaluator()
    x = evaluator.lift(X)
    with using(evaluator):
        theirs = arrays(function(x))
    ours = evaluate(function, [tensor_type_of(X)], Computing(evaluator), lambda *_: x)
    check_equal(arrays(ours), theirs)


def test_the_cases_are_found() -> None:
    assert len(CASES) == 23
