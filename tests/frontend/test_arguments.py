"""Arrays as arguments and as captured values: which must work, and which are refused."""

from __future__ import annotations

import numpy as np
import pytest

import pypto
from pypto.errors import CompileError

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
FOREIGN = X.astype(X.dtype.newbyteorder())
WIDE = X.astype(np.float64)
MASKED = np.ma.array(X, mask=X > 0)


def increased(x):
    return x + 1


plus_one = pypto.kernel(increased)


@pytest.mark.parametrize(
    "array",
    [
        X.T,
        X[::2, ::3],
        X[::-1],
        np.asfortranarray(X),
        np.broadcast_to(X[:1], (5, 6)),
        np.broadcast_to(np.float32(3), (4, 4)),
        np.moveaxis(X.reshape(2, 2, 6), 0, -1),
        X[:, :0],
        np.array(2, np.float32),
    ],
    ids=[
        "transposed",
        "steps",
        "reversed",
        "fortran",
        "rows",
        "one value",
        "axes",
        "none",
        "rank0",
    ],
)
def test_memory_order_does_not_matter(array: np.ndarray) -> None:
    np.testing.assert_array_equal(plus_one(array), array + np.float32(1))

    def captured(x):
        return x + array

    np.testing.assert_array_equal(pypto.kernel(captured)(array), array + array)


ARGUMENTS = [
    (
        WIDE, "UNSUPPORTED_DTYPE", "argument 'x' is float64, which the device does not have",
        "pass x.astype(np.float32)",
    ),
    (
        X.astype(np.complex64), "UNSUPPORTED_DTYPE",
        "argument 'x' is complex64, which the device does not have",
        "pass real and imaginary parts as float32 arrays",
    ),
    (
        X.astype(object), "UNSUPPORTED_DTYPE",
        "argument 'x' is an array of objects, which the device does not have",
        "pass x.astype(np.float32)",
    ),
    (
        np.array(["a", "b"]), "UNSUPPORTED_DTYPE",
        "argument 'x' is an array of texts, which the device does not have",
        "pass numbers in place of the texts",
    ),
    (
        FOREIGN, "UNSUPPORTED_DTYPE",
        f"argument 'x' is float32 in the byte order of another machine ({FOREIGN.dtype.str}), "
        "which the device does not have",
        "pass x.astype(np.float32)",
    ),
    (
        MASKED, "UNSUPPORTED_ARRAY",
        "argument 'x' is a masked array; the device has no masked elements",
        "pass .filled(value), and the mask as an array of its own for pypto.where",
    ),
    (
        X.view(np.matrix), "UNSUPPORTED_ARRAY",
        "argument 'x' is a np.matrix, whose '*' is not that of a tensor",
        "pass np.asarray(matrix) and multiply with '@'",
    ),
    (
        [X, X], "UNSUPPORTED_ARGUMENT", "argument 'x' is a list of arrays",
        "give every array a parameter of its own, or pass np.stack of them",
    ),
    (
        {"a": 1}, "UNSUPPORTED_ARGUMENT", "argument 'x' is a dict, not an array or a number",
        "make the kernel inside a function that takes the object, and capture it",
    ),
    (
        increased, "UNSUPPORTED_ARGUMENT",
        "argument 'x' is a function, not an array or a number",
        "make the kernel inside a function that takes the object, and capture it",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", ARGUMENTS, ids=lambda case: case[2][:40])
def test_arguments_that_are_refused(case, refusal) -> None:
    value, code, message, fix = case
    error = refusal(increased, value)
    assert (error.code, error.message, error.fix) == (code, message, fix)
    assert refusal.text.startswith("x):")


def captures_foreign(x):
    return x + FOREIGN


def captures_wide(x):
    return x + WIDE


def captures_masked(x):
    return x + MASKED


CAPTURED = [
    (
        captures_foreign, "DTYPE_MISMATCH", f"arrays of {FOREIGN.dtype} are not supported",
        "convert it first, e.g. .astype(np.float32)",
    ),
    (
        captures_wide, "DTYPE_MISMATCH", "arrays of float64 are not supported",
        "convert it first, e.g. .astype(np.float32)",
    ),
    (
        captures_masked, "UNSUPPORTED_ARRAY",
        "a captured array is a masked array; the device has no masked elements",
        "pass .filled(value), and the mask as an array of its own for pypto.where",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CAPTURED, ids=lambda case: case[0].__name__)
def test_captured_arrays_that_are_refused(case, refusal) -> None:
    function, code, message, fix = case
    error = refusal(function, X)
    assert (error.code, error.message, error.fix) == (code, message, fix)
    assert refusal.text.startswith("x + ")


def test_rows_of_different_length() -> None:
    with pytest.raises(CompileError) as caught:
        pypto.Tensor([[1.0], [1.0, 2.0]])
    assert caught.value.code == "UNSUPPORTED_ARRAY"
    assert caught.value.message.startswith("argument 'value' is no array: setting an array element")
    assert caught.value.fix == "pass an array whose rows have one length"


def test_large_arrays_in_a_list_are_never_mixed_up() -> None:
    """Their texts are equal, which must not make them one argument."""
    first = np.zeros(5000, np.float32)
    second = first.copy()
    second[2500] = 1
    assert repr([first]) == repr([second])
    with pytest.raises(CompileError, match="argument 'x' is a list of arrays"):
        plus_one([second])


@pytest.mark.parametrize("dtype", [pypto.float16, np.float16, np.dtype("float16"), "float16"])
def test_element_types_of_numpy_are_arguments(dtype: object) -> None:
    @pypto.kernel
    def converted(x, dtype):
        return x.astype(dtype)

    np.testing.assert_array_equal(converted(X, dtype), X.astype(np.float16))
