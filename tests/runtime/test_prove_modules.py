"""Modules of all levels are proven, on inputs given or drawn; intact passes pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from unittest.mock import patch

import numpy as np
import pytest

import pypto
from pypto.codegen import kernels_of
from pypto.dialects.constants import ConstantStore
from pypto.dialects.context import parse_module, print_module
from pypto.errors import CompileError
from pypto.frontend.module import build_module
from pypto.passes.pipelines import PIPELINES
from pypto.passes.tik.lower_to_tik import LowerToTik
from pypto.runtime.compiler import Stage, run_passes
from pypto.runtime.kernel import Kernel
from pypto.runtime.prove import BrokenPass, Prover, prove, same_bits
from pypto.runtime.prove_culprit import exchanged
from pypto.runtime.prove_inputs import AWKWARD, random_inputs
from pypto.runtime.prove_run import bounds_of, execute
from pypto.runtime.signature import bind
from pypto.target.dtypes import BF16
from tests.runtime.proving import (
    A,
    B,
    X,
    built,
    chain,
    compiled,
    product,
    softmax,
    two_kernels,
    wrong_scalars,
)

# Modules that begin at other levels.


def behind(
    function: Callable[..., object], name: str, *inputs: np.ndarray
) -> tuple[str, str, ConstantStore]:
    """The text of a module behind a pass, and what remains of the pipeline."""
    stages: dict[str, tuple[str, str]] = {}

    def observe(stage: Stage) -> None:
        stages[stage.step.name] = (print_module(stage.module), stage.step.remaining)

    module, constants = built(function, *inputs)
    prove(module, constants, PIPELINES["O2"], inputs, observer=observe)
    return *stages[name], constants


@pytest.mark.parametrize("name", ["outline", "tile-kernels", "lower-to-tik", "place-buffers"])
def test_a_module_of_any_level_is_proven(name) -> None:
    text, remaining, constants = behind(softmax, name, X)
    prove(parse_module(text, "dump.mlir"), constants, remaining)


def test_tiles_bound_what_instructions_give() -> None:
    """A module of tiles has bounds of its own, and they are not blind."""
    text, _, constants = behind(product, "tile-kernels", A, B)
    module = parse_module(text, "dump.mlir")
    bounds = bounds_of(module, constants, (A, B))
    (result,) = execute(module, constants, (A, B))
    assert bounds[0].contains(result).all()
    wrong = result.copy()
    wrong[3, 5] += np.float16(0.25)
    assert np.argwhere(~bounds[0].contains(wrong)).tolist() == [[3, 5]]

    text, remaining, constants = behind(chain, "tile-kernels", X)
    right = LowerToTik.apply

    def apply(self, context, module) -> None:
        right(self, context, module)
        for function in module.ops:
            wrong_scalars(module, function.sym_name.data)

    with patch.object(LowerToTik, "apply", apply), pytest.raises(BrokenPass) as caught:
        prove(parse_module(text, "dump.mlir"), constants, remaining)
    assert caught.value.divergence.pass_name == "lower-to-tik"
    assert caught.value.divergence.kind == "bound"


def test_bounds_of_instructions_are_points() -> None:
    text, _, constants = behind(chain, "lower-to-tik", X)
    module = parse_module(text, "dump.mlir")
    (bound,) = bounds_of(module, constants, (X,))
    (result,) = execute(module, constants, (X,))
    np.testing.assert_array_equal(bound.low, result)
    np.testing.assert_array_equal(bound.high, result)


def kernels_in_a_row(x):
    return pypto.softmax(pypto.sum(pypto.exp(x).T, -1) * 0.125, -1).reshape((37,))


@pytest.mark.parametrize("place", [0, -1])
def test_a_module_may_mix_levels(place) -> None:
    """One kernel of tiles, or all but one, among kernels of instructions."""
    tiles, remaining, constants = behind(kernels_in_a_row, "tile-kernels", X)
    lowered, _, _ = behind(kernels_in_a_row, "lower-to-tik", X)
    before, after = parse_module(tiles, "tiles.mlir"), parse_module(lowered, "tik.mlir")
    names = [kernel.sym_name.data for kernel, _ in kernels_of(before)]
    assert len(names) > 1
    mixed = exchanged(before, after, names[place])
    (exact,) = execute(before, constants, (X,))
    (result,) = execute(mixed, constants, (X,))
    np.testing.assert_allclose(result, exact, rtol=1e-5)
    (bound,) = bounds_of(mixed, constants, (X,))
    assert bound.contains(result).all()
    assert np.isinf(bound.high).all() == (place == -1)
    prove(mixed, constants, remaining, (X,))


def test_a_module_that_is_wrong_from_the_start() -> None:
    text, remaining, constants = behind(chain, "tile-kernels", X)
    wrong = re.sub(r"tile.load %(\w+)\[%\w+\]", r"tile.load %\1[%far]", text, count=1)
    far = "%far = arith.constant 1000 : index loc(unknown)"
    wrong = re.sub(r"( *)(%\w+ = tik.block_idx)", rf"\1{far}\n\1\2", wrong, count=1)
    with pytest.raises(CompileError) as caught:
        prove(parse_module(wrong, "wrong.mlir"), constants, remaining, (X,))
    assert caught.value.code == "TILE_OUT_OF_RANGE"
    assert caught.value.notes == ("no pass has run: the module that was given cannot be executed",)


# Inputs.


def test_inputs_are_drawn_when_none_are_given() -> None:
    module, constants = built(chain, X)
    prove(module, constants, PIPELINES["O2"])
    dynamic = """func.func @main(%x: tensor<?x4x?xbf16>, %y: tensor<?xi32>, %z: tensor<3xi1>,
        %u: tensor<2xui8>) -> tensor<3xi1> {
      func.return %z : tensor<3xi1>
    }"""
    x, y, z, u = random_inputs(parse_module(dynamic, "dynamic.mlir"))
    assert x.shape == (AWKWARD[2], 4, AWKWARD[0])
    assert y.shape == (AWKWARD[0],)
    assert [a.dtype for a in (x, y, z, u)] == [BF16.numpy, np.int32, np.bool_, np.uint8]
    assert np.abs(y).max() < 100
    again = random_inputs(parse_module(dynamic, "dynamic.mlir"))
    np.testing.assert_array_equal(x, again[0])


def test_extents_known_at_launch() -> None:
    def scaled(x: pypto.Tensor[(pypto.DYNAMIC, pypto.DYNAMIC), pypto.float32]):  # pyright: ignore
        return chain(x)

    call = bind(scaled, (X,), {})
    module, constants = build_module(scaled, call.types, name="scaled")
    prove(module, constants, PIPELINES["O2"])
    module, constants = build_module(scaled, call.types, name="scaled")
    prove(module, constants, PIPELINES["O0"], (X,))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("func.func @other() {\n  func.return\n}", "it has no function @main"),
        ("func.func private @main(tensor<2xf32>) -> tensor<2xf32>", "@main has no body"),
        (
            "func.func @main(%n: index) {\n  func.return\n}",
            "@main takes index, which is no tensor",
        ),
        (
            'func.func @main() -> tensor<2xf32> {\n  %0 = pypto.constant {resource = "sha256-0"} : '
            "tensor<2xf32>\n  func.return %0 : tensor<2xf32>\n}",
            "the constant sha256-0 is not at hand",
        ),
    ],
)
def test_what_cannot_be_executed_is_said(source, reason) -> None:
    module = parse_module(source, "source.mlir")
    assert Prover(ConstantStore()).obstacle(module) == reason
    run_passes(module, ConstantStore(), "canonicalize", guard=Prover(ConstantStore()))
    with pytest.raises(CompileError, match=reason) as caught:
        prove(module, ConstantStore(), "canonicalize")
    assert caught.value.code == "NOT_EXECUTABLE"


def test_nan_is_nan_whatever_it_carries() -> None:
    payloads = np.array([0x7FC00000, 0xFFC00001, 0x3F800000], np.uint32).view(np.float32)
    others = np.array([0x7FC00002, 0x7FC00000, 0x3F800001], np.uint32).view(np.float32)
    assert same_bits(payloads, others).tolist() == [True, True, False]
    zeros = np.array([0.0, -0.0], np.float16)
    assert same_bits(zeros, zeros[::-1]).tolist() == [False, False]
    assert same_bits(zeros[0:1].reshape(()), zeros[0:1].reshape(())).tolist() is True


# Intact passes.


def test_a_program_without_arguments() -> None:
    def nothing():
        return pypto.ones((3, 7), pypto.float16)

    compiled(nothing)


def row_sums(x):
    """More rows than a block holds sums: those of the last tile of a core end within one."""
    return pypto.sum(x, -1)


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend910a"])
@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize(
    ("function", "inputs"),
    [(chain, (X,)), (softmax, (X,)), (product, (A, B)), (two_kernels, (X,)), (row_sums, (B,))],
    ids=["chain", "softmax", "product", "two_kernels", "row_sums"],
)
def test_intact_passes(function, inputs: Sequence[np.ndarray], level, soc) -> None:
    """Through the kernel itself, which proves on the arguments of its call."""
    kernel = Kernel(function).with_options(opt_level=level, soc=soc, verify_each=True)
    kernel.run(inputs)
