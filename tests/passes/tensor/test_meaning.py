"""Every tensor pass keeps the meaning of random programs, exact ones to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pypto.dialects.context import make_context, parse_module, print_module
from pypto.dialects.interpret import derive_bounds, interpret
from pypto.dialects.verify import verify_module
from pypto.errors import CompileError
from pypto.passes.driver import parse_passes, run_pipeline
from pypto.passes.pipelines import PIPELINES
from tests.passes.tensor.programs import programs

TENSOR_LEVEL = {name: text.partition(",tile-kernels")[0] for name, text in PIPELINES.items()}
examples = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=20)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are equal to the sign of zeros; NaN equals NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind in "iub":
        return bool(np.array_equal(a, b))
    wide = [array.astype(np.float32) for array in (a, b)]
    nan = [np.isnan(array) for array in wide]
    signs = [np.signbit(array) & ~np.isnan(array) for array in wide]
    return np.array_equal(*nan) and np.array_equal(*wide, equal_nan=True) and np.array_equal(*signs)


@pytest.mark.parametrize("level", ["O0", "O2"])
@settings(examples, max_examples=40)
@given(program=programs())
def test_every_pass_keeps_the_meaning(level, program) -> None:
    """Exact passes keep every bit, the others stay within the bounds of the program."""
    context = make_context()
    bounds = derive_bounds(program.module, program.inputs, program.constants)
    before = interpret(program.module, program.inputs, program.constants)
    for one in parse_passes(f"canonicalize,cse,dce,{TENSOR_LEVEL[level]}"):
        one.apply(context, program.module)
        verify_module(program.module, f"the module behind {one.name}")
        after = interpret(program.module, program.inputs, program.constants)
        for bound, a, b in zip(bounds, before, after, strict=True):
            if one.exact:
                assert same_bits(a, b), f"{one.name}: {a} became {b}"
            assert np.all(bound.contains(b)), f"{one.name}: {b} is not in {bound}"
        before = after


@examples
@given(program=programs(), cut=st.integers(0, 20))
def test_dumps_replay(program, cut) -> None:
    """What remains of a pipeline, run on the printed module, ends in the same text."""
    context = make_context()
    names = TENSOR_LEVEL["O2"].split(",")
    done, remaining = ",".join(names[:cut]), ",".join(names[cut:])
    run_pipeline(program.module, done, context)
    replayed = parse_module(print_module(program.module), "dump.mlir", context)
    run_pipeline(program.module, remaining, context)
    run_pipeline(replayed, remaining, context)
    assert print_module(replayed) == print_module(program.module)


@examples
@given(program=programs())
def test_every_operation_keeps_its_location(program) -> None:
    run_pipeline(program.module, TENSOR_LEVEL["O2"], make_context())
    text = print_module(program.module)
    kernels = [line for line in text.splitlines() if " pypto." in line and "func.func" not in line]
    assert all('loc("program.py":1:1)' in line for line in kernels), text


def test_i64_narrowing_is_refused() -> None:
    source = """func.func @main(%x: tensor<4xi64>) -> tensor<4xi8> {
  %0 = pypto.cast %x, dtype = i8 : (tensor<4xi64>) -> tensor<4xi8>
  func.return %0 : tensor<4xi8>
}"""
    context = make_context()
    module = parse_module(source, "source.mlir", context)
    with pytest.raises(CompileError, match="a cast from i64 to i8 would saturate"):
        run_pipeline(module, "legalize", context)
