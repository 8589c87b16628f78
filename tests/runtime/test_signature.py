"""Argument types: annotations, arrays, static values, and what is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pypto
from pypto.errors import CompileError
from pypto.ops.types import DYNAMIC, TensorType
from pypto.runtime import signature
from pypto.target.dtypes import BF16, F16, F32

Fixed = pypto.Tensor[(4, 8), pypto.float16]
Rows = pypto.Tensor[(pypto.DYNAMIC, 8), pypto.float16]


def plain(x, scale=2.0):
    return x


def declared(x: Fixed, y: Rows):
    return x


def test_types_come_from_the_arrays() -> None:
    call = signature.bind(plain, [np.zeros((2, 3), ml_dtypes.bfloat16)], {})
    assert call.types == (TensorType((2, 3), BF16), 2.0)
    assert len(call.arrays) == 1


def test_numpy_scalars_are_tensors_of_rank_zero() -> None:
    assert signature.bind(plain, [np.float32(1)], {}).types[0] == TensorType((), F32)


def test_annotations_win_and_keep_dynamic_extents() -> None:
    call = signature.bind(declared, [np.zeros((4, 8), np.float16)] * 2, {})
    assert call.types == (TensorType((4, 8), F16), TensorType((DYNAMIC, 8), F16))
    assert signature.declared_types(declared) == call.types
    assert signature.declared_types(plain) is None


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ([np.zeros(3)], "UNSUPPORTED_DTYPE", "argument 'x' is float64"),
        ([np.zeros(3, np.uint64)], "UNSUPPORTED_DTYPE", "argument 'x' is uint64"),
        ([], "BAD_ARGUMENTS", "missing a required argument: 'x'"),
        ([1, 2, 3], "BAD_ARGUMENTS", "too many positional arguments"),
    ],
)
def test_refusals_of_plain_parameters(args: list, code: str, message: str) -> None:
    with pytest.raises(CompileError, match=message) as caught:
        signature.bind(plain, args, {})
    assert caught.value.code == code


def test_float64_names_the_way_out() -> None:
    with pytest.raises(CompileError) as caught:
        signature.bind(plain, [np.zeros(3)], {})
    assert caught.value.fix == "pass x.astype(np.float32)"


def test_declared_shapes_and_dtypes_are_checked() -> None:
    right = np.zeros((4, 8), np.float16)
    with pytest.raises(CompileError, match=r"argument 'y' is \(4, 9\) float16, declared as"):
        signature.bind(declared, [right, np.zeros((4, 9), np.float16)], {})
    with pytest.raises(CompileError, match=r"argument 'x' is \(4, 8\) float32") as caught:
        signature.bind(declared, [right.astype(np.float32), right], {})
    assert caught.value.fix == "pass x.astype('float16')"


@pytest.mark.parametrize("parameters", [(4, 8), ((4, -3), pypto.float16), ("x", pypto.float16)])
def test_bad_annotations(parameters: tuple) -> None:
    with pytest.raises(CompileError) as caught:
        pypto.Tensor[parameters]
    assert caught.value.code in ("BAD_ANNOTATION", "UNSUPPORTED_DTYPE")


def test_keys_tell_numbers_of_different_kind_apart() -> None:
    assert len({signature.key([value]) for value in (1, 1.0, True, "1")}) == 4
