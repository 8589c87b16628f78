"""Names of kernels, kernels nobody reads, modules without @main."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from pypto.dialects.context import make_context, parse_module
from pypto.errors import CompileError
from pypto.passes.driver import run_pipeline
from pypto.passes.pipelines import O2


def kernels(body: str, passes: str = "outline") -> list[str]:
    context = make_context()
    module = parse_module(body, "source.mlir", context)
    run_pipeline(module, passes, context)
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)][1:]


def test_names_say_what_the_user_wrote() -> None:
    body = """func.func @main(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = pypto.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = pypto.gelu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = pypto.mul %1, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = pypto.softmax %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %3 : tensor<4x8xf32>
}"""
    tensor_level = O2.partition(",tile-kernels")[0]
    assert kernels(body, tensor_level) == ["fused_add_gelu_to_softmax_0"]


def test_equal_kernels_are_one_and_others_are_numbered() -> None:
    body = """func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) {
  %0 = pypto.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pypto.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = pypto.exp %y : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
}"""
    assert kernels(body) == ["exp_f32_0", "exp_f32_1"]


def test_what_nobody_reads_becomes_no_kernel() -> None:
    body = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pypto.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pypto.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}"""
    assert kernels(body) == ["exp_f32_0"]


def test_a_module_needs_main() -> None:
    body = """func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}"""
    with pytest.raises(CompileError, match="the module has no function @main"):
        kernels(body)
