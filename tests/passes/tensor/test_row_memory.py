"""The estimate before a kernel exists equals the one that later chooses its tile."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from pypto.dialects.context import make_context, parse_module
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.tile import KERNEL
from pypto.passes.driver import run_pipeline
from pypto.passes.pipelines import O2
from pypto.passes.tensor.row_memory import GroupValues
from pypto.passes.tensor.units import kernel_space
from pypto.passes.tile.vector_problem import Values, problem_of
from pypto.target.soc import soc

PROGRAM = """
func.func @main(%x: tensor<6x40xf16>, %w: tensor<40xf16>, %b: tensor<6x1xf32>) -> tensor<6x40xf16> {
  %0 = pypto.layer_norm %x, %w, _ : (tensor<6x40xf16>, tensor<40xf16>) -> tensor<6x40xf16>
  %c = pypto.cast %0, dtype = f32 : (tensor<6x40xf16>) -> tensor<6x40xf32>
  %1 = pypto.add %c, %b : (tensor<6x40xf32>, tensor<6x1xf32>) -> tensor<6x40xf32>
  %2 = pypto.softmax %1 : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %3 = pypto.cast %2, dtype = f16 : (tensor<6x40xf32>) -> tensor<6x40xf16>
  func.return %3 : tensor<6x40xf16>
}
"""


@pytest.mark.parametrize("slots", [1, 2])
def test_estimates_agree(slots) -> None:
    context = make_context()
    module = parse_module(PROGRAM, "source.mlir", context)
    run_pipeline(module, O2.partition(",tile-kernels")[0], context)
    kernels = [op for op in module.ops if isinstance(op, FuncOp) and KERNEL in op.attributes]
    for kernel in kernels:
        block = kernel.body.block
        ops = [op for op in block.ops if isinstance(op, TensorOperation)]
        space = kernel_space(ops)
        assert block.last_op is not None
        early = GroupValues(ops, list(block.args), list(block.last_op.operands), space)
        late = Values(kernel, space)
        extents = (1, 6, 40)
        problems = [problem_of(values, extents, slots, soc()) for values in (early, late)]
        assert problems[0] == problems[1]
