"""Every message of the frontend, quoted, at the line and column that caused it."""

# ruff: noqa: F821, F841 - the functions below are mistakes on purpose

from __future__ import annotations

import inspect

import numpy as np
import pytest

from pypto.errors import CompileError
from pypto.frontend.module import build_module
from pypto.ops import OPERATORS
from pypto.ops.types import TensorType
from pypto.target.dtypes import F32

X = TensorType((3, 4), F32)
SHARED: list[object] = []
where = OPERATORS["where"]


def unknown_name(x):
    return x + biass


biases = 1.0


def unknown_operator(x):
    return x.softmx()


def data_dependent_if(x):
    if x > 0:
        return x
    return -x


def data_dependent_and(x):
    return where(x > 0 and x < 1, x, 0.0)


def chained(x):
    return 0 < x < 1


def while_loop(x):
    while True:
        x = x + 1
    return x


def missing_return(x):
    y = x + 1


def bare_return(x):
    return


def returns_number(x):
    return x.shape[0]


def shape_mismatch(x):
    return x @ x


def loop_too_long(x):
    for i in range(5000):
        x = x + i
    return x


def iterates_tensor(x):
    for row in x:
        x = x + row
    return x


def item_assignment(x):
    x[0] = 1.0
    return x


def captured_mutation(x):
    SHARED.append(x)
    return x


def numpy_call(x):
    return np.exp(x)


def wrong_arguments(x):
    return helper(x, x, x)


def helper(a, b):
    return a + b


def recursive(x):
    return recursive(x)


def with_statement(x):
    with open("f"):
        return x


def static_error(x):
    return x * (1 / 0)


def bad_unpack(x):
    a, b = (x, x, x)
    return a


def print_call(x):
    print(x)
    return x


def failed_assertion(x):
    assert x.shape[0] == 4, "four rows are needed"
    return x


def float64_constant(x):
    return x + np.linspace(0, 1, 4)


CASES = [
    (
        unknown_name,
        "UNKNOWN_NAME",
        "name 'biass' is not defined",
        "biass",
        "did you mean 'biases'?",
    ),
    (
        unknown_operator,
        "UNKNOWN_NAME",
        "has no attribute 'softmx'",
        "x.soft",
        "did you mean 'softmax'?",
    ),
    (
        data_dependent_if,
        "DATA_DEPENDENT_IF",
        "'if' depends on the values of a tensor (a tensor<3x4xi1>)",
        "x > 0",
        "pypto.where(condition, a, b)",
    ),
    (data_dependent_and, "DATA_DEPENDENT_IF", "'and' needs values known", "x > 0 and", "with '&'"),
    (chained, "DATA_DEPENDENT_IF", "a chained comparison of tensors", "0 < x", "(a < b) & (b < c)"),
    (while_loop, "WHILE_LOOP", "'while' is not supported", "while", "'for' over a range"),
    (
        missing_return,
        "MISSING_RETURN",
        "ends without returning",
        "missing_return",
        "end every path",
    ),
    (bare_return, "MISSING_RETURN", "returns nothing here", "return", "return the result tensor"),
    (returns_number, "BAD_RETURN", "returns int 3, not a tensor", "returns_number", "pypto.full"),
    (
        shape_mismatch,
        "SHAPE_MISMATCH",
        "inner extents differ: 4 and 3",
        "x @ x",
        "transpose an operand",
    ),
    (loop_too_long, "LOOP_TOO_LONG", "runs 5000 times", "range(5000)", "whole-tensor operation"),
    (iterates_tensor, "NOT_ITERABLE", "cannot iterate over a tensor<3x4xf32>", "x:", "range(n)"),
    (item_assignment, "IMMUTABLE_TENSOR", "only names can be assigned", "x[0]", "immutable"),
    (captured_mutation, "CAPTURED_MUTATION", "'append' would change", "SHARED.append", "new list"),
    (numpy_call, "UNSUPPORTED_CALL", "exp cannot take a tensor", "np.exp", "use pypto.exp"),
    (wrong_arguments, "BAD_ARGUMENTS", "too many positional", "helper(", "helper(a, b)"),
    (recursive, "RECURSION", "'recursive' calls itself", "recursive(x)", "static range"),
    (with_statement, "UNSUPPORTED_STATEMENT", "'with' is not supported", "with open", "outside"),
    (static_error, "STATIC_ERROR", "ZeroDivisionError: division by zero", "1 / 0", "operands were"),
    (bad_unpack, "BAD_UNPACK", "3 values cannot be unpacked into 2 names", "a, b", "one name"),
    (print_call, "UNSUPPORTED_BUILTIN", "builtin 'print'", "print", "print it outside"),
    (failed_assertion, "ASSERTION", "four rows are needed", "assert", None),
    (float64_constant, "DTYPE_MISMATCH", "float64", "x + np", "astype"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_message(case):
    function, code, message, source, fix = case
    with pytest.raises(CompileError) as caught:
        build_module(function, [X], name=function.__name__)
    error = caught.value
    assert error.code == code
    assert message in error.message
    assert error.location is not None
    lines, first = inspect.getsourcelines(function)
    line = lines[error.location.line - first]
    assert line[error.location.column - 1 :].startswith(source[:3]), line
    assert source in line
    if fix is not None:
        assert fix in str(error.fix)
    assert "^" in str(error)


def test_errors_in_helpers_name_the_call():
    def inner(a):
        return a @ a

    def kernel(x):
        return inner(x)

    with pytest.raises(CompileError) as caught:
        build_module(kernel, [X], name="kernel")
    assert any("called from" in note for note in caught.value.notes)


def test_source_that_cannot_be_read():
    scope: dict[str, object] = {}
    exec("def made(x):\n    return x", scope)
    with pytest.raises(CompileError, match="source text of 'made' cannot be read"):
        build_module(scope["made"], [X], name="made")  # pyright: ignore[reportArgumentType]
