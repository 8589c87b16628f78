"""Broadcasting, promotion, weak scalars and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto.errors import CompileError
from pypto.ops import OPERATORS
from pypto.ops.core import TYPES
from pypto.ops.types import DYNAMIC, TensorType, broadcast_shapes, promote
from pypto.ops.value import Tensor, using
from pypto.ops.weak import float_limit
from pypto.target.dtypes import BF16, DTYPES, F16, F32, FLOATS, I1, I8, I32, DType

shapes = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4).map(tuple)


def tensor(*shape: int, dtype: DType = F32) -> Tensor:
    return Tensor(TYPES, TensorType(shape, dtype))


def refused(name: str, *arguments: Any, **keywords: Any) -> CompileError:
    with using(TYPES), pytest.raises(CompileError) as caught:
        OPERATORS[name](*arguments, **keywords)
    return caught.value


@given(shapes, shapes, shapes)
def test_broadcasting_is_that_of_numpy(a: tuple[int, ...], b: Any, c: Any) -> None:
    try:
        expected = np.broadcast_shapes(a, b, c)
    except ValueError:
        with pytest.raises(CompileError, match="do not broadcast"):
            broadcast_shapes(a, b, c)
    else:
        assert broadcast_shapes(a, b, c) == expected


def test_dynamic_extents_meet_themselves_and_one() -> None:
    assert broadcast_shapes((DYNAMIC, 1), (1, 7), (DYNAMIC, 7)) == (DYNAMIC, 7)
    with pytest.raises(CompileError, match=r"shapes \(\?,\) and \(4,\) do not broadcast"):
        broadcast_shapes((DYNAMIC,), (4,))


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [(F16, F16, F16), (F16, F32, F32), (BF16, F32, F32), (F16, BF16, F32), (I32, I32, I32)],
)
def test_promotion_never_loses_precision(a: DType, b: DType, result: DType) -> None:
    assert promote([a, b]) == promote([b, a]) == result
    assert OPERATORS["add"](tensor(3, dtype=a), tensor(3, dtype=b)).dtype == result


def test_promotion_of_integers_and_floats_is_refused() -> None:
    error = refused("add", tensor(3), tensor(3, dtype=I32))
    assert str(error) == (
        "error[DTYPE_MISMATCH]: add: operands are f32 and i32\n"
        "note: operands of add: tensor<3xf32>, tensor<3xi32>\n"
        "fix: convert one of them, e.g. .cast(pypto.float32) on the i32 operand"
    )
    assert "operands are i8 and i32" in str(
        refused("concat", [tensor(3, dtype=I8), tensor(3, dtype=I32)])
    )
    assert "operands are i1 and f32" in str(refused("mul", tensor(3, dtype=I1), tensor(3)))


@pytest.mark.parametrize("dtype", [*FLOATS, I32])
def test_weak_scalars_never_change_the_type(dtype: DType) -> None:
    x = tensor(2, 3, dtype=dtype)
    assert (x + 1).dtype == (1 - x).dtype == (x * np.int64(3)).dtype == dtype
    assert (x < 2).dtype == I1
    if dtype.is_float:
        assert (x * 0.5).dtype == (math.pi / x).dtype == (x + math.inf).dtype == dtype


@pytest.mark.parametrize("dtype", FLOATS)
def test_numbers_that_overflow_are_refused(dtype: DType) -> None:
    with np.errstate(over="ignore"):
        limit = float_limit(dtype)
        assert np.isinf(dtype.numpy.type(limit))
        assert np.isfinite(dtype.numpy.type(limit * 0.999))
    assert f"overflows {dtype}" in str(refused("add", tensor(3, dtype=dtype), -limit))


@pytest.mark.parametrize(
    ("dtype", "number", "message"),
    [
        (I32, 0.5, "the float 0.5 meets a tensor of i32"),
        (I32, 2**31, "the number 2147483648 does not fit i32"),
        (I1, 1, "the number 1 meets a bool tensor"),
        (F16, 1e9, "the number 1000000000.0 overflows f16"),
    ],
)
def test_numbers_that_do_not_fit(dtype: DType, number: Any, message: str) -> None:
    name = "and" if dtype == I1 else "add"
    error = refused(name, tensor(3, dtype=dtype), number)
    assert message in error.message
    assert error.fix
    assert ".cast(" in error.fix or "wider" in error.fix


def test_numbers_alone_are_computed_at_once() -> None:
    assert OPERATORS["sqrt"](64) == 8.0
    assert OPERATORS["rsqrt"](64) == 0.125
    assert OPERATORS["maximum"](3, 4) == 4
    assert OPERATORS["add"](2, 3) == 5
    assert isinstance(OPERATORS["add"](2, 3), int)
    assert OPERATORS["gt"](2.0, 1) is True
    assert OPERATORS["gelu"](0.0) == 0.0
    assert OPERATORS["clip"](np.float32(5.5), max=2) == 2
    for name in ("softmax", "layer_norm", "flatten", "t"):
        assert refused(name, 3).message == f"{name}: needs a tensor, not 3"


def test_selecting_between_numbers_gives_the_usual_type() -> None:
    condition = tensor(3, dtype=I1)
    assert OPERATORS["where"](condition, 1.0, 0.0).type == TensorType((3,), F32)
    assert OPERATORS["where"](condition, 1, 0).type == TensorType((3,), I32)


def test_selecting_needs_a_bool() -> None:
    error = refused("where", tensor(3), tensor(3), 0.0)
    assert error.message == "select: the condition is f32, not bool"
    assert error.fix == "compare it, e.g. condition != 0"


def test_types_a_row_does_not_take() -> None:
    error = refused("exp", tensor(3, dtype=I32))
    assert error.message == "exp: x is i32; supported: f16, bf16, f32"
    assert error.fix == "convert it, e.g. .cast(pypto.float32)"


def test_errors_inside_a_body_name_the_operator_written() -> None:
    error = refused("layer_norm", tensor(4, 8), tensor(7))
    assert error.message == (
        "layer_norm: mul: shapes (4, 8) and (7,) do not broadcast: axis -1 is 8 and 7"
    )
    assert error.notes == ("operands of layer_norm: tensor<4x8xf32>, tensor<7xf32>",)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("matmul", (tensor(4, 5), tensor(6, 7)), "(4, 5) @ (6, 7): inner extents differ: 5 and 6"),
        ("matmul", (tensor(4), tensor(4, 7)), "(4,) @ (4, 7): operands need rank 2 or more"),
        ("reshape", (tensor(4, 5), (3, -1)), "(4, 5) has 20 elements, shape = [3, -1] does not"),
        ("broadcast", (tensor(4, 5), (4, 6)), "(4, 5) does not broadcast to (4, 6)"),
        ("permute", (tensor(4, 5), (0,)), "dims = [0] must name all 2 axes"),
        ("permute", (tensor(4, 5), (0, 0)), "dims = (0, 0) names an axis twice"),
        ("concat", ([],), "needs at least one tensor in 'xs'"),
        ("concat", ([tensor(2, 3), tensor(2, 4)],), "(2, 3) and (2, 4) differ outside axis 0"),
        ("split", (tensor(10), 3), "an extent of 10 has no 3 equal parts"),
        ("split", (tensor(10), [3, 3]), "the extents [3, 3] do not add up to 10"),
        ("sum", (tensor(2, 3), 2), "dims = 2 is out of range (-2..1)"),
        ("softmax", (tensor(),), "dim = -1 is out of range (none: the tensor has rank 0)"),
        ("amax", (tensor(0, 3), 0), "there is no maximum or minimum over an axis of extent 0"),
        ("slice", (tensor(4), 0, 4, -1), "step = [-1]: steps must be positive"),
        ("t", (tensor(2, 3, 4),), "rank 3 is above 2"),
        ("gelu", (tensor(3), "fast"), "approximate = 'fast' is unknown"),
        ("reduce", (tensor(3), "prod"), "kind = 'prod' is unknown"),
        ("cast", (tensor(3), "float64"), "dtype: the machine has no float64"),
        ("cast", (tensor(3), F16, "floor"), "round = 'floor' applies from floats to integers"),
        ("pow", (tensor(3, dtype=I32), -1), "an integer tensor takes a static exponent of 0"),
    ],
)
def test_messages(name: str, arguments: tuple[Any, ...], message: str) -> None:
    error = refused(name, *arguments)
    assert error.message.startswith(f"{OPERATORS[name].name}: ")
    assert message in error.message


def test_dynamic_extents_where_they_are_supported() -> None:
    x = tensor(DYNAMIC, 8)
    assert (x * 2 + x).type == x.type
    assert OPERATORS["gelu"](x).type == x.type
    assert OPERATORS["where"](x > 0, x, 0.0).cast(F16).type == TensorType((DYNAMIC, 8), F16)


def test_dynamic_extents_where_they_are_not() -> None:
    error = refused("softmax", tensor(DYNAMIC, 8))
    assert error.code == "DYNAMIC_SHAPE"
    assert "softmax: x is tensor<?x8xf32>: dynamic extents are not supported here" in error.message
    assert refused("mean", tensor(DYNAMIC, 8)).code == "DYNAMIC_SHAPE"
    with pytest.raises(CompileError, match="known at launch only"):
        tensor(DYNAMIC).shape[0] * 2


def test_every_type_has_a_name() -> None:
    for dtype in DTYPES.values():
        assert OPERATORS["cast"](tensor(3), dtype.name).dtype == dtype
        assert OPERATORS["cast"](tensor(3), dtype.public_name).dtype == dtype
        assert OPERATORS["cast"](tensor(3), dtype.numpy).dtype == dtype
