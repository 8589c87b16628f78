"""The frontend against the IR it makes: what a kernel may say, and what each thing becomes."""

from __future__ import annotations

import math

import numpy as np

from pypto.dialects.pypto import TensorOperation
from pypto.frontend.module import build_module
from pypto.ops import OPERATORS
from pypto.ops.types import TensorType
from pypto.target.dtypes import F16, F32

X = TensorType((3, 4), F32)
ROW = TensorType((4,), F32)
WEIGHTS = np.arange(12, dtype=np.float32).reshape(3, 4)
where, concat, full, exp = (OPERATORS[name] for name in ("where", "concat", "full", "exp"))


class Config:
    scale = 2.0
    sizes = (1, 2)


def ops_of(function, *types):
    module, _ = build_module(function, types, name=function.__name__)
    module.verify()
    return [op.row.name for op in module.walk() if isinstance(op, TensorOperation)]


def text_of(function, *types):
    return str(build_module(function, types, name=function.__name__)[0])


def test_operators_become_operations():
    def kernel(x, y):
        return -((x + y) * 2.0 / y - 1)

    assert ops_of(kernel, X, ROW) == ["add", "mul", "div", "sub", "neg"]


def test_weak_scalar_is_inline():
    def kernel(x):
        return 1 - x * 2

    assert "pypto.sub 1.0, %0" in text_of(kernel, X)


def test_augmented_assignment_and_rebinding():
    def kernel(x):
        y = x
        y += 1
        y *= y
        return y

    assert ops_of(kernel, X) == ["add", "mul"]


def helper(a, scale=2.0, *, shift=0.0):
    """Documented."""
    return a * scale + shift


def test_helper_is_inlined_with_defaults_and_keywords():
    def kernel(x):
        return helper(helper(x), shift=3.0)

    assert ops_of(kernel, X) == ["mul", "add", "mul", "add"]


def test_static_for_unrolls_and_static_if_chooses():
    def kernel(x, n):
        parts = []
        for i in range(n):
            if i % 2 == 0:
                parts.append(x * float(i))
            else:
                continue
        return concat(parts, dim=0)

    assert ops_of(kernel, X, 5) == ["mul", "mul", "mul", "concat"]


def test_break_and_else_of_a_loop():
    def kernel(x):
        for i in range(10):
            x = x + i
            if i == 1:
                break
        else:
            x = exp(x)
        return x

    assert ops_of(kernel, X) == ["add", "add"]


def test_shapes_are_static_numbers():
    def kernel(x):
        rows, columns = x.shape
        assert rows == 3, "three rows"
        return x / math.sqrt(columns) if x.ndim == 2 else x

    assert "pypto.div %x, 2.0" in text_of(kernel, X)


def test_operator_on_python_numbers_stays_static():
    sqrt = OPERATORS["sqrt"]

    def kernel(x):
        return x / sqrt(x.shape[-1])

    assert "pypto.div %x, 2.0" in text_of(kernel, X)


def test_captured_arrays_become_constants():
    bias = np.ones(4, np.float32)

    def kernel(x):
        return x @ WEIGHTS.T + bias[:3]

    module, constants = build_module(kernel, [TensorType((2, 4), F32)], name="kernel")
    text = str(module)
    assert "pypto.constant" in text
    assert "pypto.full" in text  # one value repeated
    assert len(constants) == 1


def test_captured_object_attributes():
    def kernel(x):
        return x * Config.scale + Config.sizes[1]

    assert ops_of(kernel, X) == ["mul", "add"]


def test_several_results_and_unpacking():
    def kernel(x):
        a, (b, *_) = x + 1, (x - 1, 0)[0:2] if False else (x - 1, x)
        return a, b

    assert "-> (tensor<3x4xf32>, tensor<3x4xf32>)" in text_of(kernel, X)

    def plain(x):
        a, b = x + 1, x - 1
        return a, b

    assert "-> (tensor<3x4xf32>, tensor<3x4xf32>)" in text_of(plain, X)


def test_methods_and_dtypes():
    def kernel(x):
        y = x.sum(dim=-1, keepdim=True).astype(F16)
        return F32(y), x.T, x[1:, ::2], x.reshape(4, 3)

    names = ops_of(kernel, X)
    assert names == ["sum", "cast", "cast", "t", "slice", "reshape"]


def test_comprehensions_and_unpacking_of_static_tuples():
    def kernel(x):
        powers = [x * float(i) for i in range(4) if i > 1]
        return concat([*powers, x], dim=1)

    assert ops_of(kernel, X) == ["mul", "mul", "concat"]


def test_comparison_of_tensors():
    def kernel(x):
        return where((x > 0) & (x < 1), x, 0.0)

    assert ops_of(kernel, X) == ["gt", "lt", "and", "select"]


def test_creation_inside_a_kernel():
    def kernel(x):
        return x + full(x.shape, 2.0)

    assert ops_of(kernel, X) == ["full", "add"]


def test_every_operation_has_the_place_of_its_expression():
    def kernel(x):
        y = x + 1
        return exp(y)

    module, _ = build_module(kernel, [X], name="kernel")
    first = kernel.__code__.co_firstlineno
    lines = [op.location.line.data for op in module.walk() if isinstance(op, TensorOperation)]
    assert lines == [first + 1, first + 2]
