"""The oracle: whole modules on NumPy, with derived bounds."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.dialects.constants import ConstantStore
from pypto.dialects.context import parse_module
from pypto.dialects.interpret import derive_bounds, interpret
from pypto.errors import CompileError

STORE = ConstantStore()
KEY = STORE.add(np.arange(12, dtype=np.float16).reshape(4, 3))
MODULE = parse_module(
    f"""
    func.func @kernel(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {{
      %0 = pypto.softmax %x : (tensor<2x3xf16>) -> tensor<2x3xf16>
      func.return %0 : tensor<2x3xf16>
    }}
    func.func @main(%a: tensor<2x4xf16>) -> (tensor<2x3xf16>, tensor<2x4xf16>) {{
      %w = pypto.constant {{resource = "{KEY}"}} : tensor<4x3xf16>
      %0 = pypto.matmul %a, %w : (tensor<2x4xf16>, tensor<4x3xf16>) -> tensor<2x3xf16>
      %1 = func.call @kernel(%0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
      func.return %1, %a : tensor<2x3xf16>, tensor<2x4xf16>
    }}
    """,
    "test.mlir",
)


def test_interpret() -> None:
    a = np.linspace(-1, 1, 8).astype(np.float16).reshape(2, 4)
    result, same = interpret(MODULE, [a], STORE)
    product = (a.astype(np.float32) @ STORE[KEY].astype(np.float32)).astype(np.float16)
    powers = np.exp(product.astype(np.float64))
    assert result.dtype == np.float16
    assert np.array_equal(result, (powers / powers.sum(1, keepdims=True)).astype(np.float16))
    assert np.array_equal(same, a)


def test_bounds() -> None:
    a = np.linspace(-1, 1, 8).astype(np.float16).reshape(2, 4)
    result, _ = interpret(MODULE, [a], STORE)
    bound, exact = derive_bounds(MODULE, [a], STORE)
    assert bound.contains(result).all()
    assert not bound.contains(result + np.float16(0.1)).any()
    assert exact.is_exact


def test_one_function() -> None:
    x = np.zeros((2, 3), np.float16)
    (result,) = interpret(MODULE, [x], function="kernel")
    assert np.allclose(result, 1 / 3, atol=1e-3)


@pytest.mark.parametrize(
    ("inputs", "function", "message"),
    [
        ([], "main", "@main takes 1 inputs, 0 given"),
        ([], "nothing", "the module has no function @nothing"),
        ([np.zeros((2, 4))], "main", "arrays of float64 are not supported"),
    ],
)
def test_messages(inputs: list[np.ndarray], function: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        interpret(MODULE, inputs, STORE, function=function)


def test_lower_levels_are_refused() -> None:
    module = parse_module(
        "func.func @main() {\n%0 = arith.constant 1 : index\nfunc.return\n}", "test.mlir"
    )
    with pytest.raises(CompileError, match=r"arith\.constant cannot be run at tensor level"):
        interpret(module, [])


def test_a_function_that_calls_itself_is_refused() -> None:
    text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = func.call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }"""
    with pytest.raises(CompileError, match="@main calls itself, without an end"):
        interpret(parse_module(text, "endless.mlir"), [np.zeros(2, np.float32)])
