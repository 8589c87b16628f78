"""Splitting long reductions keeps results within bounds and lets producers fuse."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.dialects.context import make_context, parse_module
from pypto.dialects.interpret import derive_bounds, interpret
from pypto.passes.driver import run_pipeline
from pypto.passes.tensor.idle_cores import Walk, cycles_lost
from pypto.passes.tensor.rewriting import tensor_operations
from pypto.passes.tensor.units import group_of
from pypto.target.soc import soc


def test_a_walk_lost_to_idle_cores() -> None:
    machine = soc()
    assert Walk(3, 100, 17).tasks == 3 * 2
    assert Walk(3, 100).split(4) == Walk(12, 25)
    assert cycles_lost(Walk(machine.vector_cores, 10), 4800, machine) == 0
    assert cycles_lost(Walk(1, 10), 4800, machine) == 4800 - 4800 // machine.vector_cores


@pytest.mark.parametrize("kind", ["sum", "max", "min"])
@pytest.mark.parametrize(
    ("shape", "dims"), [((1, 1 << 20), (1,)), ((1 << 17, 8), (0,)), ((2, 1 << 9, 1 << 10), (1, 2))]
)
def test_results_stay_within_bounds(shape, dims, kind) -> None:
    wide = f"tensor<{'x'.join(map(str, shape))}xf32>"
    kept = [1 if axis in dims else extent for axis, extent in enumerate(shape)]
    narrow = f"tensor<{'x'.join(map(str, kept))}xf32>"
    source = f"""func.func @main(%x: {wide}, %s: tensor<f32>) -> {narrow} {{
  %0 = pypto.mul %x, %s : ({wide}, tensor<f32>) -> {wide}
  %1 = pypto.mul %0, %0 : ({wide}, {wide}) -> {wide}
  %2 = pypto.reduce %1, kind = "{kind}", dims = {list(dims)}, keepdim = true : ({wide}) -> {narrow}
  func.return %2 : {narrow}
}}"""
    context = make_context()
    module = parse_module(source, "source.mlir", context)
    random = np.random.default_rng(0)
    inputs = [random.standard_normal(shape).astype(np.float32), np.float32(0.5)]
    (bound,) = derive_bounds(module, inputs)
    run_pipeline(module, "split-reductions,canonicalize,dce,fuse", context)
    (result,) = interpret(module, inputs)
    assert np.all(bound.contains(result))
    groups = [group_of(op) for op in tensor_operations(module) if op.row.name != "reshape"]
    assert groups == [0, 0, 0, 1]
