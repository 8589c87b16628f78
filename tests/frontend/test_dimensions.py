"""Names for extents in annotations: one name stands for one extent in every call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import pypto
from pypto.errors import CompileError
from pypto.ops.types import TensorType
from pypto.target.dtypes import F16

Rows = pypto.Tensor[("M", "K"), pypto.float16]
Columns = pypto.Tensor[("K", "N"), pypto.float16]
Product = pypto.Tensor[("M", "N"), pypto.float16]
Vector = pypto.Tensor[("N",), pypto.float16]
AnyRows = pypto.Tensor[(pypto.DYNAMIC, "K"), pypto.float16]
Lengths = pypto.Tensor[(pypto.DYNAMIC,), pypto.float16]


@pypto.kernel
def product(a: Rows, b: Columns, bias: Vector | None = None) -> Product:
    result = a @ b
    return result if bias is None else result + bias


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-3, 4, shape).astype(np.float16)


def test_names_take_the_extents_of_each_call() -> None:
    for m, k, n in ((16, 32, 16), (5, 7, 3)):
        a, b, bias = draw(m, k), draw(k, n), draw(n)
        np.testing.assert_array_equal(product(a, b), a @ b)
        np.testing.assert_array_equal(product(a, b, bias), a @ b + bias)


def test_one_name_has_one_extent() -> None:
    with pytest.raises(CompileError) as caught:
        product(draw(4, 8), draw(9, 3))
    error = caught.value
    assert error.code == "DIMENSION_MISMATCH"
    assert error.message == "dimension 'K' is 8 in axis 1 of 'a' and 9 in axis 0 of 'b'"
    assert error.fix == "make the two extents equal, or do not call both 'K'"
    assert "def product(a: Rows, b: Columns, bias" in str(error)
    with pytest.raises(CompileError) as caught:
        product(draw(4, 8), draw(8, 3), bias=draw(2))
    assert caught.value.message == "dimension 'N' is 3 in axis 1 of 'b' and 2 in axis 0 of 'bias'"


def test_rank_and_type_are_checked_first() -> None:
    with pytest.raises(CompileError) as caught:
        product(draw(4), draw(8, 3))
    assert caught.value.code == "SHAPE_MISMATCH"
    assert caught.value.message == "argument 'a' is (4,) float16, declared as (M, K) float16"
    with pytest.raises(CompileError) as caught:
        product(draw(4, 8).astype(np.float32), draw(8, 3))
    assert caught.value.code == "WRONG_DTYPE"
    assert caught.value.fix == "pass a.astype('float16')"


def test_a_name_twice_in_one_shape() -> None:
    square = pypto.Tensor[("N", "N"), pypto.float16]

    def trace_free(x):
        return x + x.T

    trace_free.__annotations__ = {"x": square}
    kernel = pypto.kernel(trace_free)
    x = draw(5, 5)
    np.testing.assert_array_equal(kernel(x), x + x.T)
    with pytest.raises(CompileError, match="dimension 'N' is 4 in axis 0 of 'x' and 5 in axis 1"):
        kernel(draw(4, 5))


def test_names_beside_numbers_and_dynamic_extents() -> None:
    mixed = pypto.Tensor[("K", 4), pypto.float16]

    def scaled(x, y):
        return x + 1, y * 2

    scaled.__annotations__ = {"x": AnyRows, "y": mixed}
    kernel = pypto.kernel(scaled)
    for rows in (1, 3, 40):
        x, y = draw(rows, 16), draw(16, 4)
        first, second = kernel(x, y)
        np.testing.assert_array_equal(first, x + 1)
        np.testing.assert_array_equal(second, y * 2)
    assert len(kernel._compiled) == 1
    with pytest.raises(CompileError, match=r"argument 'y' is \(16, 5\) float16, declared as \(K"):
        kernel(draw(3, 16), draw(16, 5))
    with pytest.raises(CompileError, match="dimension 'K' is 16 in axis 1 of 'x' and 8 in axis 0"):
        kernel(draw(3, 16), draw(8, 4))


def test_names_count_where_types_are_given() -> None:
    types = [TensorType((4, 8), F16), TensorType((8, 16), F16)]
    assert product.compile(*types) is product.compilation((*types, None)).executable
    with pytest.raises(CompileError, match="dimension 'K' is 8 in axis 1 of 'a' and 7 in axis 0"):
        product.compile(TensorType((4, 8), F16), TensorType((7, 16), F16))
    with pytest.raises(CompileError) as caught:
        product.compile()
    assert caught.value.code == "UNKNOWN_SHAPES"
    with pytest.raises(CompileError) as caught:
        product.compile(Rows, Columns)
    assert caught.value.message == "product: no type for parameter 'a'"
    assert caught.value.fix == ("pass an array or pypto.Tensor[(128, 768), pypto.float16] for it")


@pypto.kernel
def transposed(a: Rows, b: Columns) -> Product:
    return (a @ b).T


@pypto.kernel
def halves(x: Rows) -> tuple[Rows, pypto.Tensor]:
    return x, x[:, :1]


@pypto.kernel
def wrong_halves(x: Rows) -> tuple[pypto.Tensor, Rows]:
    return x, x[:, :1]


Best = pypto.Tensor[("M",), pypto.float16]


class Scores(NamedTuple):
    best: Best
    all: Product


@pypto.kernel
def scores(a: Rows, b: Columns) -> Scores:
    product = a @ b
    return Scores(pypto.max(product, dim=-1), product)


@pypto.kernel
def wrong_scores(a: Rows, b: Columns) -> Scores:
    product = a @ b
    return Scores(pypto.max(product, dim=0), product)


@pypto.kernel
def wide(x: Rows) -> Rows:
    return x.astype(pypto.float32)


@pypto.kernel
def two(x: Rows) -> Rows:
    return x, x


@pypto.kernel
def kept_length(x: Lengths, row: Vector) -> Vector:
    return x * 2 if row.shape[0] else x


def test_results_are_of_the_type_they_declare() -> None:
    a, b = draw(4, 8), draw(8, 3)
    np.testing.assert_array_equal(halves(a)[1], a[:, :1])
    best, whole = scores(a, b)
    np.testing.assert_array_equal(best, (a @ b).max(axis=-1))
    np.testing.assert_array_equal(whole, a @ b)
    with pytest.raises(CompileError) as caught:
        transposed(a, b)
    assert caught.value.code == "DIMENSION_MISMATCH"
    assert caught.value.message == (
        "dimension 'M' is 4 in axis 0 of 'a' and 3 in axis 0 of the result"
    )
    with pytest.raises(
        CompileError, match=r"dimension 'K' is 8 in .* 1 in axis 1 of the result\[1\]"
    ):
        wrong_halves(a)
    with pytest.raises(CompileError, match=r"'M' is 4 .* 3 in axis 0 of the result.best"):
        wrong_scores(a, b)


def test_fields_that_cannot_be_read() -> None:
    Row = pypto.Tensor[("K",), pypto.float16]

    class Harmless(NamedTuple):
        value: Row  # pyright: ignore

    class Shaped(NamedTuple):
        value: Missing.Tensor[("K",), 1]  # noqa: F821, UP037 # pyright: ignore

    def harmless(x):
        return Harmless(x + 1)

    def shaped(x):
        return Shaped(x + 1)

    np.testing.assert_array_equal(pypto.kernel(harmless)(draw(3)).value, draw(3) + 1)
    with pytest.raises(CompileError) as caught:
        pypto.kernel(shaped)(draw(3))
    assert caught.value.code == "BAD_ANNOTATION"
    assert caught.value.message == (
        "the annotations of Shaped cannot be read: name 'Missing' is not defined"
    )


def test_results_of_another_type_or_form() -> None:
    with pytest.raises(CompileError) as caught:
        wide(draw(4, 8))
    assert caught.value.code == "RESULT_MISMATCH"
    assert caught.value.message == (
        "the result of wide is (4, 8) float32, declared as (M, K) float16"
    )
    assert caught.value.fix == "declare what the kernel returns, or convert it before 'return'"
    with pytest.raises(CompileError) as caught:
        two(draw(4, 8))
    assert caught.value.message == "the result of two is a tuple, declared as (M, K) float16"
    assert caught.value.fix == "annotate a tuple as tuple[Tensor[…], Tensor[…]]"


def test_extents_known_at_launch_are_checked_on_the_arrays() -> None:
    row = draw(5)
    np.testing.assert_array_equal(kept_length(draw(5), row), draw(5) * 2)
    with pytest.raises(CompileError, match="'N' is 5 in axis 0 of 'row' and 4 in axis 0 of the re"):
        kept_length(draw(4), row)


@pytest.mark.parametrize("shape", [("M", 1.5), ("not a name",), "M", ("M", -2)])
def test_what_is_no_shape(shape) -> None:
    with pytest.raises(CompileError) as caught:
        pypto.Tensor[shape, pypto.float16]
    assert caught.value.code == "BAD_ANNOTATION"
    assert caught.value.message == f"{shape!r} is not a shape"
    assert caught.value.fix == (
        "write a tuple of integers, names or pypto.DYNAMIC: "
        "Tensor[(128, 768), pypto.float16], Tensor[('M', 768), pypto.float16]"
    )
