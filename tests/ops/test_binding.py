"""Calls: keywords by kind, defaults, normal forms of attributes, methods, indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto.errors import CompileError
from pypto.ops import OPERATORS
from pypto.ops.core import TYPES
from pypto.ops.numpy_evaluator import NumpyEvaluator
from pypto.ops.types import TensorType
from pypto.ops.value import Tensor, using
from pypto.target.dtypes import F16, F32, I32

X = Tensor(TYPES, TensorType((2, 3, 4), F32))


def normal(name: str, *arguments: Any, **keywords: Any) -> dict[str, Any]:
    row = OPERATORS[name]
    operands, attributes = row.bind(arguments, keywords)
    types = tuple(o.type if isinstance(o, Tensor) else o for o in operands)
    return row.normalise(types, attributes)


@pytest.mark.parametrize("word", ["dims", "dim", "axis", "axes"])
def test_axis_words(word: str) -> None:
    assert normal("sum", X, **{word: (-1, 0)}) == {"dims": (0, 2), "keepdim": False}
    assert normal("softmax", X, **{word: -1}) == {"dim": 2}


def test_other_words() -> None:
    assert normal("sum", X, keepdims=True) == {"dims": (0, 1, 2), "keepdim": True}
    for word in ("input", "a", "self", "x"):
        assert OPERATORS["exp"].bind((), {word: X})[0] == (X,)
    assert OPERATORS["add"].bind((X,), {"other": 2})[0] == (X, 2)
    assert normal("transpose", X, dim1=0) == {"dim0": 1, "dim1": 0}


def test_one_spelling_per_meaning() -> None:
    assert normal("sum", X, -1) == normal("sum", X, [2]) == normal("sum", X, np.int64(2))
    assert normal("permute", X, (2, 0, -2)) == normal("permute", X, 2, 0, 1)
    assert normal("reshape", X, (4, -1)) == normal("reshape", X, 4, 6) == {"shape": (4, 6)}
    assert normal("broadcast", X, (5, -1, 3, 4)) == {"shape": (5, 2, 3, 4)}
    assert normal("slice", X, (0, 1, -2), (9, -1, 4)) == {
        "start": (0, 1, 2),
        "stop": (2, 2, 4),
        "step": (1, 1, 1),
    }
    assert normal("cast", X, np.int32) == {"dtype": I32, "round": "trunc"}
    assert normal("cast", X, "f16") == {"dtype": F16, "round": "rint"}
    assert normal("full", 3, 1) == {"shape": (3,), "value": 1, "dtype": I32}
    assert normal("arange", 5) == {"start": 0, "stop": 5, "step": 1, "dtype": I32}


@pytest.mark.parametrize(
    ("name", "arguments", "keywords", "message"),
    [
        ("exp", (), {}, "exp: needs the argument 'x'"),
        ("exp", (X, X), {}, "exp: takes 1 arguments, 2 are given"),
        ("exp", (X,), {"dim": 0}, "exp: has no argument 'dim'"),
        ("softmax", (X, 0), {"axis": 1}, "softmax: gets 'dim' twice"),
        ("softmax", (X, 1.5), {}, "softmax: dim must be an int, not 1.5"),
        ("softmax", (X, X), {}, "softmax: dim must be an int, not a Tensor, which is known at run"),
        ("softmax", (X, True), {}, "softmax: dim must be an int, not True"),
        ("sum", (X,), {"keepdim": 1}, "sum: keepdim must be a bool, not 1"),
        ("layer_norm", (X,), {"eps": "small"}, "layer_norm: eps must be a float, not 'small'"),
        ("cast", (X, "nonsense"), {}, "cast: dtype must be an element type, not 'nonsense'"),
        ("concat", (X,), {}, "concat: needs a list of tensors for 'xs'"),
        ("exp", ("x",), {}, "a tensor is expected here, not str"),
        ("exp", (None,), {}, "exp: needs the argument 'x'"),
        ("full", ((2,), "x"), {}, "full: value must be a number, not 'x'"),
        ("full", ((-2,), 0), {}, "full: shape (-2,) has a negative extent"),
        ("iota", ((2,), 1), {}, "iota: dim = 1 is no axis of (2,)"),
        ("arange", (0, 4, 0), {}, "arange: step = 0"),
        ("arange", (0.5,), {"dtype": I32}, "arange: int32 from (0, 0.5, 1)"),
    ],
)
def test_messages(name: str, arguments: Any, keywords: Any, message: str) -> None:
    with using(TYPES), pytest.raises(CompileError) as caught:
        OPERATORS[name](*arguments, **keywords)
    assert message in caught.value.message


def test_a_call_of_nothing_has_no_evaluator() -> None:
    from pypto.ops import value

    before = list(value._default)
    value._default.clear()
    try:
        with pytest.raises(CompileError, match="no evaluator in use"):
            OPERATORS["arange"](3)
    finally:
        value._default[:] = before


def test_tensors_have_operators_as_methods() -> None:
    assert X.sum(dim=-1).shape == (2, 3)
    assert X.astype(F16).dtype == F16
    assert X.max(0, keepdim=True).shape == (1, 3, 4)
    assert X.reshape(4, 6).T.shape == (6, 4)
    assert (X @ X.transpose()).shape == (2, 3, 3)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = X.nonsense
    with pytest.raises(AttributeError, match="'concat'"):
        _ = X.concat


def test_tensors_are_not_truth_values_or_iterable() -> None:
    with pytest.raises(CompileError, match=r"use pypto\.where"):
        bool(X > 0)
    with pytest.raises(CompileError, match=r"use pypto\.split"):
        list(X)


KEYS = st.one_of(
    st.integers(-5, 4),
    st.none(),
    st.just(Ellipsis),
    st.slices(4).filter(lambda s: s.step is None or s.step > 0),
)


@given(st.lists(KEYS, max_size=5).filter(lambda keys: keys.count(Ellipsis) < 2).map(tuple))
def test_indexing_is_that_of_numpy(key: Any) -> None:
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    try:
        expected = array[key]
    except IndexError:
        with pytest.raises(CompileError):
            _ = X[key]
    else:
        found = NumpyEvaluator().lift(array)[key].array  # pyright: ignore[reportAttributeAccessIssue]
        assert found.shape == expected.shape
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ([0, 1], "indexing with arrays or tensors is not supported"),
        (X, "indexing with arrays or tensors is not supported"),
        (slice(None, None, -1), "a slice with step -1"),
        (slice(X), "a limit of a slice must be an int"),
        (3, "index 3 is out of range for axis 0 of extent 2"),
        ((0, 0, 0, 0), "4 indices for a tensor of rank 3"),
        ("name", "an index must be an int, not 'name'"),
    ],
)
def test_indexing_messages(key: Any, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        _ = X[key]
    assert message in caught.value.message
