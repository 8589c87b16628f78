"""Elementwise primitives of tiles, as programs run on the meanings of their instructions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pypto.errors import CompileError
from pypto.target import numerics
from pypto.target.dtypes import DTYPES
from tests.passes.tik.tile_runner import COUPLED, SPLIT, TileKernel, outcome, vector_kernel

ROWS, COLUMNS = 5, 19
NUMPY = {name: dtype.numpy for name, dtype in DTYPES.items()}
RANDOM = np.random.default_rng(7)
ON_BOTH = pytest.mark.parametrize("machine", [SPLIT, COUPLED])


def values(name: str, shape: tuple[int, ...] = (ROWS, COLUMNS)) -> np.ndarray:
    """Numbers of an element type, small, with special ones among them."""
    if name == "i1":
        return RANDOM.integers(0, 2, shape).astype(bool)
    if DTYPES[name].is_float:
        made = (RANDOM.standard_normal(shape) * 3).astype(NUMPY[name])
        flat = made.reshape(-1)
        flat[:6] = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf][: flat.size]
        return made
    limits = np.iinfo(NUMPY[name])
    made = RANDOM.integers(max(limits.min, -100), min(limits.max, 100), shape).astype(NUMPY[name])
    flat = made.reshape(-1)
    flat[:4] = [limits.min, limits.max, 0, 1][: flat.size]
    return made


def tiled(
    compute: Callable,
    inputs: list[np.ndarray],
    result: str,
    granule: int = 32,
    slots: int = 1,
    machine: str = SPLIT,
) -> np.ndarray:
    """``compute(kernel, *tiles)`` in tiles of 4 x 16, with tails on both sides."""
    rows, columns = inputs[0].shape

    def body(kernel: TileKernel, handles, scalars) -> None:
        emit = kernel.emit
        with emit.for_(0, 2) as down, emit.for_(0, 2) as across:
            row, column = emit.mul(down.index, 4), emit.mul(across.index, 16)
            valid = (emit.min(4, emit.sub(rows, row)), emit.min(16, emit.sub(columns, column)))
            place = emit.add(emit.mul(row, columns), column)
            tiles = [kernel.load(h, (4, 16), valid, place, columns) for h in handles[:-1]]
            kernel.store_beside(compute(kernel, *tiles), handles[-1], place, columns)

    kernel = vector_kernel(body, machine, granule, slots)
    return outcome(kernel, inputs, (rows, columns), NUMPY[result])


ARITHMETIC = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


# The catalogue divides floats only.
DEFINED = [
    (operator, name)
    for operator in ARITHMETIC
    for name in ("f16", "f32", "i32")
    if (operator, name) != ("div", "i32")
]


@pytest.mark.parametrize(("operator", "name"), DEFINED)
@pytest.mark.parametrize("form", ["tiles", "number right", "number left"])
@ON_BOTH
@np.errstate(all="ignore")
def test_arithmetic(operator: str, name: str, form: str, machine: str) -> None:
    x, y, number = values(name), values(name)[::-1].copy(), 3
    function = ARITHMETIC[operator]
    element = NUMPY[name].type(number)
    cases = {
        "tiles": (lambda k, a, b: k.apply(operator, a, b), function(x, y)),
        "number right": (lambda k, a, b: k.apply(operator, a, number), function(x, element)),
        "number left": (lambda k, a, b: k.apply(operator, number, a), function(element, x)),
    }
    compute, wanted = cases[form]
    got = tiled(compute, [x, y], name, granule=16, slots=2, machine=machine)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["f16", "f32"])
@pytest.mark.parametrize("operator", ["exp", "log", "sqrt", "abs"])
@ON_BOTH
@np.errstate(all="ignore")
def test_functions(operator: str, name: str, machine: str) -> None:
    x = values(name)
    wanted = getattr(np, operator)(x.astype(np.float64)).astype(NUMPY[name])
    got = tiled(lambda k, a: k.apply(operator, a), [x], name, granule=16, machine=machine)
    np.testing.assert_array_equal(got, wanted)


@ON_BOTH
def test_absolute_integers(machine: str) -> None:
    x = values("i32")
    got = tiled(lambda k, a: k.apply("abs", a), [x], "i32", granule=8, machine=machine)
    np.testing.assert_array_equal(got, np.abs(x))


@pytest.mark.parametrize(
    ("name", "machine"),
    [("f16", SPLIT), ("f32", SPLIT), ("i32", SPLIT), ("f16", COUPLED), ("f32", COUPLED)],
)
@pytest.mark.parametrize(("operator", "function"), [
    ("eq", np.equal), ("lt", np.less), ("le", np.less_equal),
])  # fmt: skip
@pytest.mark.parametrize("form", ["tiles", "number right", "number left"])
def test_comparisons(operator: str, function: Callable, name: str, machine: str, form: str) -> None:
    x, y = values(name), values(name)
    y[1] = x[1]
    one = NUMPY[name].type(1)
    cases = {
        "tiles": (lambda k, a, b: k.apply(operator, a, b, result="i1"), function(x, y)),
        "number right": (lambda k, a, b: k.apply(operator, a, 1, result="i1"), function(x, one)),
        "number left": (lambda k, a, b: k.apply(operator, 1, a, result="i1"), function(one, x)),
    }
    compute, wanted = cases[form]
    np.testing.assert_array_equal(tiled(compute, [x, y], "i1", machine=machine), wanted)


@ON_BOTH
def test_comparison_of_computed_tiles(machine: str) -> None:
    x, y = values("f32"), values("f32")

    def compute(k, a, b):
        return k.apply("lt", k.apply("add", a, 1.0), k.apply("mul", b, 2.0), result="i1")

    np.testing.assert_array_equal(tiled(compute, [x, y], "i1", machine=machine), x + 1 < y * 2)


@pytest.mark.parametrize(
    ("name", "machine"),
    [(n, SPLIT) for n in ("f16", "f32", "i32", "bf16", "i16")]
    + [(n, COUPLED) for n in ("f16", "f32", "i32", "i16")],
)
@pytest.mark.parametrize("form", ["tiles", "number"])
def test_selection(name: str, machine: str, form: str) -> None:
    condition, x, y = values("i1"), values(name), values(name)
    if form == "tiles":
        inputs = [condition, x, y]
        got = tiled(lambda k, c, a, b: k.apply("select", c, a, b), inputs, name, machine=machine)
        np.testing.assert_array_equal(got, np.where(condition, x, y))
    else:
        inputs = [condition, x]
        got = tiled(lambda k, c, a: k.apply("select", c, a, 2), inputs, name, machine=machine)
        np.testing.assert_array_equal(got, np.where(condition, x, NUMPY[name].type(2)))


@pytest.mark.parametrize("name", ["i1", "i32"])
@pytest.mark.parametrize(("operator", "function"), [
    ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor),
])  # fmt: skip
@ON_BOTH
def test_logic(operator: str, function: Callable, name: str, machine: str) -> None:
    x, y = values(name), values(name)
    got = tiled(lambda k, a, b: k.apply(operator, a, b), [x, y], name, machine=machine)
    np.testing.assert_array_equal(got, function(x, y))
    got = tiled(lambda k, a: k.apply(operator, a, 1), [x], name, machine=machine)
    np.testing.assert_array_equal(got, function(x, NUMPY[name].type(1)))


@pytest.mark.parametrize("name", ["i1", "i32"])
@ON_BOTH
def test_negation(name: str, machine: str) -> None:
    x = values(name)
    got = tiled(lambda k, a: k.apply("not", a), [x], name, machine=machine)
    np.testing.assert_array_equal(got, np.invert(x))


def converted(x: np.ndarray, target: str, rounding: str) -> np.ndarray:
    """What the catalogue says of a cast."""
    dtype = DTYPES[target]
    if dtype.kind == "b":
        return x != 0
    if dtype.is_float or x.dtype.kind in "iub":
        return x.astype(dtype.numpy)
    modes = {"rint": "r", "trunc": "z", "floor": "f", "ceil": "c", "away": "a"}
    return numerics.to_integer(x, dtype, modes[rounding])


CONVERTED = {SPLIT: tuple(DTYPES), COUPLED: ("f16", "f32", "i8", "u8", "i32", "i1")}


@pytest.mark.parametrize(
    ("source", "target", "machine"),
    [(a, b, machine) for machine, names in CONVERTED.items() for a in names for b in names],
)
@np.errstate(all="ignore")
def test_casts(source: str, target: str, machine: str) -> None:
    x = values(source)
    flat = x.reshape(-1)
    if DTYPES[source].is_float:
        flat[6:12] = [np.nan, 300.5, -300.5, 2.5, 0.4, -0.6]
    to_integer = DTYPES[source].is_float and DTYPES[target].kind in "iu"
    rounding = "trunc" if to_integer else "rint"
    got = tiled(
        lambda k, a: k.apply("cast", a, result=target, rounding=rounding),
        [x],
        target,
        machine=machine,
    )
    wanted = converted(x, target, rounding)
    np.testing.assert_array_equal(got.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("rounding", ["rint", "trunc", "floor", "ceil", "away"])
@pytest.mark.parametrize(
    ("target", "machine"),
    [("i32", SPLIT), ("i8", SPLIT), ("i64", SPLIT), ("i32", COUPLED), ("i8", COUPLED)],
)
def test_rounding(rounding: str, target: str, machine: str) -> None:
    x = (np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS) - 40) / 4
    for source in ("f32", "f16") if machine == COUPLED else ("f32", "f16", "bf16"):
        y = x.astype(NUMPY[source])
        got = tiled(
            lambda k, a: k.apply("cast", a, result=target, rounding=rounding),
            [y],
            target,
            machine=machine,
        )
        np.testing.assert_array_equal(got, converted(y, target, rounding))


@ON_BOTH
def test_wide_tiles_are_compared_piece_by_piece(machine: str) -> None:
    size = 18000
    x = RANDOM.standard_normal(size).astype(np.float32)

    def body(kernel: TileKernel, handles, scalars) -> None:
        a = kernel.load(handles[0], (1, size), (1, scalars[0]))
        kernel.store_beside(kernel.apply("lt", a, 0.0, result="i1"), handles[1])

    got = outcome(vector_kernel(body, machine, 32), [x], (size,), bool, [size - 7])
    np.testing.assert_array_equal(got[:-7], (x < 0)[:-7])


def test_wide_tiles_are_chosen_repeat_by_repeat() -> None:
    size = 5000
    x, y = values("f32", (1, size)), values("f32", (1, size))

    def body(kernel: TileKernel, handles, scalars) -> None:
        a, b = (kernel.load(h, (1, size), (1, scalars[0])) for h in handles[:2])
        smaller = kernel.apply("lt", a, b, result="i1")
        kernel.store_beside(kernel.apply("select", smaller, a, b), handles[2])

    got = outcome(vector_kernel(body, COUPLED), [x, y], (1, size), np.float32, [size - 7])
    np.testing.assert_array_equal(got[:, :-7], np.where(x < y, x, y)[:, :-7])


@pytest.mark.parametrize(("machine", "name", "operator", "message"), [
    (SPLIT, "bf16", "add", "ascend910b1 lacks instructions for add of bf16 elements"),
    (COUPLED, "i16", "add", "ascend910a lacks instructions for add of i16 elements"),
    (COUPLED, "i16", "abs", "ascend910a lacks instructions for abs of i16 elements"),
    (COUPLED, "i32", "eq", "ascend910a lacks instructions for comparison of i32 elements"),
])  # fmt: skip
def test_what_a_machine_lacks_is_an_error_that_names_the_cure(
    machine: str, name: str, operator: str, message: str
) -> None:
    x, result = values(name), "i1" if operator == "eq" else name

    def compute(k, a):
        inputs = (a,) if operator == "abs" else (a, 1)
        return k.apply(operator, *inputs, result=result)

    with pytest.raises(CompileError, match=message) as caught:
        tiled(compute, [x], result, machine=machine)
    assert (caught.value.code, caught.value.fix) == ("UNSUPPORTED", "cast to float32 first")


@pytest.mark.parametrize(("source", "target"), [("f32", "i16"), ("i32", "i64"), ("i16", "f32")])
def test_conversions_a_machine_lacks_are_errors(source: str, target: str) -> None:
    message = f"ascend910a lacks instructions for conversion from {source} to {target}"
    with pytest.raises(CompileError, match=message) as caught:
        tiled(
            lambda k, a: k.apply("cast", a, result=target),
            [values(source)],
            target,
            machine=COUPLED,
        )
    assert caught.value.fix == "use float32 or int32"
