"""A kernel's digest follows its text, its helpers and what it captured, and nothing else."""

from __future__ import annotations

import enum
import functools
import math
import operator
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

import pypto
from pypto.ops.types import TensorType
from pypto.runtime.captures import captured_paths
from pypto.runtime.fingerprint import UnknownState, fingerprint
from pypto.target.dtypes import F16, F32

TABLE = np.arange(4.0, dtype=np.float32)
SETTINGS = SimpleNamespace(scale=2, unused=0)


def helper(x):
    return x * SETTINGS.scale


def uses_all(x):
    return helper(x) + TABLE


def make(value):
    def inner(x):
        return pypto.exp(x) + value

    return inner


def test_equal_functions_are_equal() -> None:
    assert fingerprint(make(1)) == fingerprint(make(1))


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Gains(NamedTuple):
    first: float = 1.0
    second: float = 2.0


@dataclass
class Config:
    width: int = 4
    scales: tuple[float, ...] = (1.0, 2.0)
    table: np.ndarray = field(default_factory=lambda: np.zeros(2))


@dataclass
class OtherConfig:
    width: int = 4


class Slotted:
    __slots__ = ("hidden",)

    def __init__(self, hidden: int) -> None:
        self.hidden = hidden


def test_captured_values_count_with_their_type() -> None:
    values = (
        1, 1.0, True, None, "1", b"1", 1j, 0.0, -0.0, math.nan, (1,), [1], {1}, {1: 2}, {2: 1},
        (1, (2, [3])), (1, (2, [4])), range(3), slice(1), ..., Fraction(1, 3),
        np.float32(1), np.float64(1), np.ones(1, np.float32), np.ones(1, np.int32),
        np.ones((1, 1), np.float32), np.ones(1, ml_dtypes.bfloat16), np.ones(1, np.float16),
        np.dtype("f4"), np.float32, float, F16, F32, TensorType((2,), F16), TensorType((2,), F32),
        Color.RED, Color.BLUE, Gains(), Gains(second=3.0), Config(), Config(5),
        Config(scales=(1.0,)), Config(table=np.ones(2)), OtherConfig(), Slotted(1), Slotted(2),
        SimpleNamespace(a=1), SimpleNamespace(a=2), math.sqrt, math.cos, np.add, np.concatenate,
        functools.partial(pow, 2), functools.partial(pow, 3), pypto.exp, pypto.softmax,
        [1, 2].count, [1, 3].count, {"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, operator.add,
        make, make(1), make(2), pypto.Tensor(np.ones(2, np.float16)),
        pypto.Tensor(np.zeros(2, np.float16)),
    )  # fmt: skip
    digests = [fingerprint(make(value)) for value in values]
    assert digests == [fingerprint(make(value)) for value in values]
    equal = [
        (values[i], values[j])
        for i in range(len(values))
        for j in range(i)
        if digests[i] == digests[j]
    ]
    assert not equal


def test_arguments_count() -> None:
    values = [(TensorType((2,), F16), 1), (TensorType((2,), F16), True), (TensorType((3,), F16), 1)]
    values += [(TensorType((2,), F32), 1), (TensorType((2,), F16), 1.0), ()]
    digests = {fingerprint(uses_all, value) for value in values}
    assert len(digests) == len(values)
    assert fingerprint(uses_all, (TensorType((2,), F16), 1)) in digests


def test_arrays_count_by_content() -> None:
    before = fingerprint(uses_all)
    TABLE[2] = 9
    try:
        assert fingerprint(uses_all) != before
    finally:
        TABLE[2] = 2
    assert fingerprint(uses_all) == before


def test_attributes_a_helper_uses_count_and_others_do_not() -> None:
    before = fingerprint(uses_all)
    SETTINGS.unused = 5
    assert fingerprint(uses_all) == before
    SETTINGS.scale = 3
    try:
        assert fingerprint(uses_all) != before
    finally:
        SETTINGS.scale = 2


def pass_on(x, settings):
    return x * settings.scale


def test_of_an_object_passed_to_a_helper_everything_counts() -> None:
    def build(settings):
        def kernel(x):
            return pass_on(x, settings)

        return kernel

    digests = {fingerprint(build(SimpleNamespace(scale=scale))) for scale in (2, 3)}
    assert len(digests) == 2


def test_methods_and_properties_count_with_all_they_can_see() -> None:
    class Model:
        def __init__(self, size: int) -> None:
            self.size = size

        def half(self) -> int:
            return self.size // 2

        @property
        def double(self) -> int:
            return self.size * 2

    def build(model):
        def by_method(x):
            return x * model.half()

        def by_property(x):
            return x * model.double

        def by_attribute(x):
            return x * model.size

        return by_method, by_property, by_attribute

    one, other = build(Model(4)), build(Model(6))
    for first, second in zip(one, other, strict=True):
        assert fingerprint(first) != fingerprint(second)
    by_method, _, by_attribute = build(Model(4))
    before = fingerprint(by_method), fingerprint(by_attribute)
    Model.half = lambda self: self.size // 3
    assert fingerprint(by_method) != before[0]
    assert fingerprint(by_attribute) == before[1]


def variant(text: str, path: Path, **captured: object) -> Callable[..., Any]:
    """The function ``f`` of a file with ``text``, as importing it makes it."""
    path.write_text(text)
    space: dict[str, Any] = {"pypto": pypto, **captured}
    exec(compile(text, str(path), "exec"), space)
    return space["f"]


def test_text_defaults_names_and_place_count(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    texts = [
        "def f(x, y=1):\n    return x + y\n",
        "def f(x, y=2):\n    return x + y\n",
        "def f(x, *, y=1):\n    return x + y\n",
        "def f(x, y=1):\n    return y + x\n",
        "def f(x, y=1):\n    return x  + y\n",
        "\ndef f(x, y=1):\n    return x + y\n",
        "def g(x):\n    return x\ndef f(x, y=1):\n    return g(x) + y\n",
        "def g(x):\n    return -x\ndef f(x, y=1):\n    return g(x) + y\n",
        "def g(x, z=1):\n    return -x\ndef f(x, y=1):\n    return g(x) + y\n",
        "def g(x, z=2):\n    return -x\ndef f(x, y=1):\n    return g(x) + y\n",
    ]
    digests = [fingerprint(variant(text, path)) for text in texts]
    assert len(set(digests)) == len(texts)
    assert fingerprint(variant(texts[0], path)) == digests[0]
    assert fingerprint(variant(texts[0], tmp_path / "other.py")) != digests[0]
    renamed = variant(texts[0], path)
    renamed.__name__ = "renamed"
    assert fingerprint(renamed) != digests[0]


def test_what_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    text = "def f(x):\n    return x + SCALE\n\n\n"
    before = fingerprint(variant(text, path, SCALE=2, other=1))
    assert fingerprint(variant(text, path, SCALE=2, other=5)) == before
    assert fingerprint(variant(text + "# more\ndef h(): ...\n", path, SCALE=2)) == before
    function = variant(text, path, SCALE=2)
    os.utime(path, (0, 0))
    assert fingerprint(function) == before
    assert fingerprint(pypto.kernel(function)) == before


def test_a_local_of_a_global_name_is_not_captured(tmp_path: Path) -> None:
    text = "def f(x):\n    out = x + 1\n    return out\n"
    first, second = (variant(text, tmp_path / "k.py", out=value, x=value) for value in (1, 2))
    assert fingerprint(first) == fingerprint(second)


def test_a_file_that_changes_under_a_loaded_function(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    function = variant("def f(x):\n    return x + 1\n", path)
    before = fingerprint(function)
    path.write_text("def f(x):\n    return x + 2\n")
    os.utime(path, (1, 1))
    assert fingerprint(function) != before


def test_a_kernel_counts_as_its_function() -> None:
    assert fingerprint(pypto.kernel(uses_all)) == fingerprint(uses_all)


def test_cached_functions_and_inner_kernels_count_by_their_text() -> None:
    def build(number):
        @pypto.kernel
        def inner(x):
            return x + number

        @functools.cache
        def size():
            return number

        def outer(x):
            return inner(x) * size()

        return outer

    assert fingerprint(build(1)) != fingerprint(build(2))
    assert fingerprint(build(1)) == fingerprint(build(1))


def test_recursion_ends() -> None:
    def loop(x):
        return loop(x)

    assert fingerprint(loop) == fingerprint(loop)
    ring = SimpleNamespace()
    ring.self = ring
    assert fingerprint(make(ring))


def test_of_modules_only_what_is_read_counts() -> None:
    def root(x):
        return x * math.sqrt(2.0) * np.float32(np.pi)

    assert fingerprint(root)


def reads_clock(x):
    return x + time.time()


def reads_random(x):
    return x + random.random()


def reads_numpy_random(x):
    return x + np.random.rand()


def reads_file(x):
    return x + np.load("weights.npy")


def opens_file(x):
    return x + len(open("weights").read())


def reads_environment(x):
    return x + len(os.environ["HOME"])


def imports(x):
    import json

    return x + json.loads("1")


class Clock:
    @property
    def now(self) -> float:
        return time.time()


class WithLock:
    def __init__(self) -> None:
        self.lock = threading.Lock()


class Secretive:
    def __reduce__(self):
        return Secretive, ()


def itself() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


UNKNOWN = {
    "a file": make(Path("weights")),
    "a generator": make(np.random.default_rng(0)),
    "an iterator": make(iter([1])),
    "a lock": make(WithLock()),
    "a property of the clock": make(Clock()),
    "own pickling": make(Secretive()),
    "a module": make(sys),
    "a method of a module's object": make(random.random),
    "a cycle": make(itself()),
    "depth": make(functools.reduce(lambda inner, _: [inner], range(5000), [])),
    "a wrapped ufunc": make(np.frompyfunc(lambda x: x, 1, 1)),
    "clock": reads_clock,
    "random": reads_random,
    "numpy.random": reads_numpy_random,
    "numpy.load": reads_file,
    "open": opens_file,
    "environment": reads_environment,
    "import": imports,
}


@pytest.mark.parametrize("function", UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_seen_has_no_digest(function: Callable[..., Any]) -> None:
    with pytest.raises(UnknownState):
        fingerprint(function)


def test_what_is_unknown_is_said_once_and_compiled_on_every_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = iter([1.0])

    def counted(x):
        return x + source.__length_hint__()

    kernel = pypto.kernel(counted)
    x = np.zeros(3, np.float32)
    np.testing.assert_array_equal(kernel(x), x + 1)
    next(source)
    np.testing.assert_array_equal(kernel(x), x)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith(
        "warning: counted is compiled anew on every call: it depends on the state of <list_iterator"
    )


def test_paths_of_captured_names() -> None:
    def code(x):
        y = np.float32(SETTINGS.scale.real)
        return [SETTINGS for _ in x.shape], (lambda: TABLE.T), y.dtype

    function = code
    assert isinstance(function, FunctionType)
    assert captured_paths(function.__code__) == (
        ("SETTINGS",), ("SETTINGS", "scale", "real"), ("TABLE", "T"), ("np", "float32"),
    )  # fmt: skip
    assert captured_paths(imports.__code__) is None


SEEDED = """
import numpy as np
import pypto
from pypto.runtime.fingerprint import fingerprint
from tests.runtime.test_fingerprint import Color, Config, Gains, make, uses_all

values = ("a", {"b": 1, "c": (2, [3])}, Color.RED, Gains(), Config(), np.ones(3, np.float16))
print(fingerprint(uses_all), fingerprint(make(values)))
"""


def test_another_process_in_another_folder_agrees(tmp_path: Path) -> None:
    def digests(seed: str, folder: Path) -> str:
        root = str(Path(__file__).parents[2])
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": root}
        command = [sys.executable, "-c", SEEDED]
        return subprocess.run(
            command, cwd=folder, env=environment, check=True, capture_output=True, text=True
        ).stdout

    assert digests("1", tmp_path) == digests("2", tmp_path.parent)
