"""Results in the Python form the kernel's text gives them, whichever way the program was found."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import pypto
from pypto.errors import CompileError

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)


class Extremes(NamedTuple):
    low: Any
    high: Any


@dataclass(frozen=True)
class Summary:
    total: Any
    extremes: Extremes
    rows: int
    note: str = "sums"
    parts: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Pair:
    first: Any
    second: Any


@dataclass
class Checked:
    value: Any

    def __post_init__(self) -> None:
        self.value = self.value + 1


def extremes(x) -> Extremes:
    return Extremes(pypto.min(x, dim=-1), high=pypto.max(x, dim=-1))


@pypto.kernel
def named_tuple(x):
    low, high = extremes(x)
    swapped = Extremes(low=high, high=low)
    return swapped._replace(low=low, high=high)


@pypto.kernel
def nested(x):
    found = extremes(x)
    assert found.low.shape == (4,)
    return Summary(pypto.sum(x, dim=-1), found, x.shape[0], parts=[x + 1, x + 2])


@pypto.kernel
def slotted(x):
    return Pair(x * 2, second=x * 3)


@pypto.kernel
def listed(x):
    return [x + 1, x + 2]


@pypto.kernel
def one_in_a_tuple(x):
    return (x + 1,)


@pypto.kernel
def dictionary(x):
    return {"sum": x + x, "inner": (x - 1, [x * x]), "name": "both"}


@pypto.kernel
def the_same_twice(x):
    y = x + 1
    return y, y, x


def test_named_tuple() -> None:
    result = named_tuple(X)
    assert type(result) is Extremes
    np.testing.assert_array_equal(result.low, X.min(axis=-1))
    np.testing.assert_array_equal(result.high, X.max(axis=-1))


def test_dataclass_with_records_lists_and_static_fields() -> None:
    result = nested(X)
    assert type(result) is Summary
    np.testing.assert_allclose(result.total, X.sum(axis=-1), atol=1e-6)
    assert type(result.extremes) is Extremes
    np.testing.assert_array_equal(result.extremes.high, X.max(axis=-1))
    assert (result.rows, result.note) == (4, "sums")
    np.testing.assert_array_equal(result.parts[1], X + 2)


def test_two_calls_share_no_part() -> None:
    first, second = nested(X), nested(X)
    first.parts.clear()
    assert len(second.parts) == 2
    assert len(nested(X).parts) == 2


def test_dataclass_with_slots() -> None:
    result = slotted(X)
    assert type(result) is Pair
    np.testing.assert_array_equal(result.first, X * 2)
    np.testing.assert_array_equal(result.second, X * 3)


def test_lists_dictionaries_and_tuples_of_one() -> None:
    assert type(listed(X)) is list
    np.testing.assert_array_equal(listed(X)[1], X + 2)
    (only,) = one_in_a_tuple(X)
    np.testing.assert_array_equal(only, X + 1)
    result = dictionary(X)
    assert list(result) == ["sum", "inner", "name"]
    np.testing.assert_array_equal(result["inner"][1][0], X * X)
    assert result["name"] == "both"


def test_results_that_are_one_tensor_or_an_argument() -> None:
    first, second, third = the_same_twice(X)
    np.testing.assert_array_equal(first, X + 1)
    np.testing.assert_array_equal(second, X + 1)
    np.testing.assert_array_equal(third, X)


def test_lazy_tensors_fill_the_same_form() -> None:
    result = named_tuple(pypto.Tensor(X))
    assert type(result) is Extremes
    assert isinstance(result.low, pypto.Tensor)
    np.testing.assert_array_equal(np.asarray(result.low), X.min(axis=-1))


def test_a_record_is_taken_apart_in_another_kernel() -> None:
    @pypto.kernel
    def spread(x):
        summary = nested(x)
        return summary.extremes.high - summary.extremes.low + float(summary.rows)

    np.testing.assert_array_equal(spread(X), X.max(axis=-1) - X.min(axis=-1) + 4)


STORED = """\
import sys
from dataclasses import dataclass
import numpy as np
import pypto


@dataclass
class Stats:
    {fields}


@pypto.kernel
def stats(x):
    return Stats(x + 1, x * 5, x.shape[0])


found = stats(np.ones(2, np.float32))
print(type(found).__name__, found.mean, found.scale, found.rows, "xdsl" in sys.modules)
"""


def test_the_form_is_found_without_the_compiler(tmp_path: Path) -> None:
    def run(fields: str) -> str:
        path = tmp_path / "stored.py"
        path.write_text(STORED.format(fields=fields))
        return subprocess.run(
            [sys.executable, str(path)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONPATH": str(Path(pypto.__file__).parents[1])},
        ).stdout

    in_order = "mean: object; scale: object; rows: int"
    assert run(in_order) == "Stats [2. 2.] [5. 5.] 2 True\n"
    assert run(in_order) == "Stats [2. 2.] [5. 5.] 2 False\n"
    assert run("scale: object; mean: object; rows: int").startswith("Stats [5. 5.] [2. 2.] 2")


def refused(function, *arguments: Any) -> CompileError:
    with pytest.raises(CompileError) as caught:
        pypto.kernel(function)(*arguments)
    assert caught.value.location is not None
    assert caught.value.location.file.endswith("test_results.py")
    return caught.value


def test_numbers_beside_tensors_need_a_record() -> None:
    def kernel(x):
        return x, [x, 3]

    error = refused(kernel, X)
    assert error.code == "BAD_RETURN"
    assert error.message == "'kernel' returns int 3 as result[1][1], not a tensor"
    assert error.fix == ("return a tensor or a tuple of tensors; pypto.full makes one of a number")


def test_records_without_a_tensor() -> None:
    def kernel(x):
        return {"rows": x.shape[0]}

    error = refused(kernel, X)
    assert error.message == "'kernel' returns dict {'rows': 4} without a tensor in it"

    def empty(x):
        return []

    assert refused(empty, X).message == "'empty' returns an empty list"


def test_classes_that_run_code() -> None:
    def kernel(x):
        return Checked(x)

    error = refused(kernel, X)
    assert error.code == "UNSUPPORTED_CALL"
    assert error.message == "Checked runs code of its own when it is made"
    assert error.fix == "leave out __post_init__ and __init__; compute the fields in the kernel"


def test_wrong_fields() -> None:
    def kernel(x):
        return Extremes(x, x, lo=x)

    error = refused(kernel, X)
    assert error.code == "BAD_ARGUMENTS"
    assert "got an unexpected keyword argument 'lo'" in error.message
    assert error.fix == "call it as Extremes(low, high)"


def test_extents_known_at_launch_only() -> None:
    vector = pypto.Tensor[(pypto.DYNAMIC,), pypto.float16]

    def kernel(x):
        return {"y": x + 1, "count": x.shape[0]}

    kernel.__annotations__ = {"x": vector}
    error = refused(kernel, np.ones(3, np.float16))
    assert error.code == "DYNAMIC_SHAPE"
    assert error.message == (
        "'kernel' returns an extent that is known at launch only as result['count']"
    )
