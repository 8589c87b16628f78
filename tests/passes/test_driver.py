"""The driver: what it says about wrong pipelines, what observers see, when it verifies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from pypto.dialects.context import make_context, parse_module, print_module
from pypto.errors import CompileError
from pypto.passes import PASSES, PassEntry, driver
from pypto.passes.base import Pass
from pypto.passes.driver import Step, parse_passes, run_pipeline
from pypto.passes.pipelines import O0

SOURCE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pypto.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pypto.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = pypto.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
"""


def error_of(pipeline: str) -> str:
    with pytest.raises(CompileError) as caught:
        parse_passes(pipeline)
    return str(caught.value)


def test_unknown_pass_names_the_closest() -> None:
    text = error_of("cse,canonicalise")
    assert "error[UNKNOWN_PASS]: there is no pass 'canonicalise'" in text
    assert f"note: passes: {', '.join(entry.name for entry in PASSES)}, O0, O1, O2, O3" in text
    assert "fix: did you mean 'canonicalize'?" in text


def test_unknown_option_names_the_options() -> None:
    text = error_of("fuse{slot=1}")
    assert "error[UNKNOWN_PASS_OPTION]: pass 'fuse' has no option 'slot'" in text
    assert "note: options: slots" in text
    assert "fix: did you mean 'slots'?" in text


def test_wrong_option_value() -> None:
    assert "error[PASS_OPTION_VALUE]: pass 'fuse': Incompatible types" in error_of("fuse{slots=a}")


@pytest.mark.parametrize("pipeline", ["fuse{", "cse dce", "cse,,dce", "cse;dce"])
def test_broken_syntax(pipeline) -> None:
    text = error_of(pipeline)
    assert f"error[PIPELINE_SYNTAX]: cannot read the pipeline {pipeline!r}" in text


def test_levels_and_blanks_may_stand_in_a_pipeline() -> None:
    assert [one.name for one in parse_passes(" cse, dce ")] == ["cse", "dce"]
    assert parse_passes("") == ()


def test_a_level_stands_for_its_passes() -> None:
    tensor_level = O0.partition(",tile-kernels")[0]
    known = {entry.name for entry in PASSES}
    assert set(tensor_level.split(",")) <= known
    assert [one.name for one in parse_passes(tensor_level)] == tensor_level.split(",")


def test_observers_see_what_ran_and_what_remains() -> None:
    context = make_context()
    module = parse_module(SOURCE, "source.mlir", context)
    seen: list[tuple[Step, str]] = []
    run_pipeline(
        module,
        "cse,fuse{slots=1}",
        context,
        after_pass=lambda module, step: seen.append((step, print_module(module))),
    )
    steps = [step for step, _ in seen]
    assert steps == [
        Step(0, "input", "", "cse,fuse{slots=1}"),
        Step(1, "cse", "cse", "fuse{slots=1}"),
        Step(2, "fuse", "cse,fuse{slots=1}", ""),
    ]
    # What remains, run on the text after a pass, ends in the same module.
    for step, text in seen:
        replayed = parse_module(text, "dump.mlir", context)
        run_pipeline(replayed, step.remaining, context)
        assert print_module(replayed) == seen[-1][1]


@dataclass(frozen=True)
class Refuse(Pass):
    """Refuses every module."""

    name = "refuse"
    exact: ClassVar[bool] = True

    def apply(self, context: Context, module: ModuleOp) -> None:
        raise CompileError("UNSUPPORTED", "this is not supported", fix="write something else")


@dataclass(frozen=True)
class Break(Pass):
    """Puts the first operation of @main behind the second, which reads it."""

    name = "break"
    exact: ClassVar[bool] = True

    def apply(self, context: Context, module: ModuleOp) -> None:
        (main,) = module.ops
        block = main.regions[0].block
        first = block.first_op
        assert first is not None
        assert block.last_op is not None
        first.detach()
        block.insert_op_before(first, block.last_op)


@dataclass(frozen=True)
class LocalEntry(PassEntry):
    pass_type: type[Pass] = Refuse

    def load(self) -> type[Pass]:
        return self.pass_type


@pytest.fixture
def local_passes(monkeypatch) -> None:
    local = tuple(LocalEntry(one.name, "", one) for one in (Refuse, Break))
    monkeypatch.setattr(driver, "PASSES", (*PASSES, *local))


@pytest.mark.usefixtures("local_passes")
def test_errors_name_the_pass() -> None:
    context = make_context()
    module = parse_module(SOURCE, "source.mlir", context)
    with pytest.raises(CompileError) as caught:
        run_pipeline(module, "cse,refuse", context)
    assert str(caught.value).splitlines() == [
        "error[UNSUPPORTED]: this is not supported",
        "note: in pass 'refuse'",
        "fix: write something else",
    ]


@pytest.mark.usefixtures("local_passes")
@pytest.mark.parametrize("pipeline", ["break,dce", "dce,break", "dce,break,dce"])
def test_the_module_is_verified_behind_the_first_and_the_last_pass(pipeline) -> None:
    context = make_context()
    module = parse_module(SOURCE, "source.mlir", context)
    with pytest.raises(CompileError) as caught:
        run_pipeline(module, pipeline, context)
    name = pipeline.split(",")[-1] if pipeline.startswith("dce") else "break"
    assert f"the module behind pass '{name}' is not valid" in caught.value.message
    assert not caught.value.notes


def test_the_input_is_verified() -> None:
    context = make_context()
    module = parse_module(SOURCE, "source.mlir", context)
    Break().apply(context, module)
    with pytest.raises(CompileError, match="the input of the pipeline is not valid"):
        run_pipeline(module, "dce", context)


def test_a_pass_on_a_module_of_another_level_says_what_it_requires() -> None:
    text = """func.func @main(%x: !host.buffer<2xf32>) -> !host.buffer<2xf32> {
      %0 = host.alloc result "r" : !host.buffer<2xf32>
      host.return %0 : !host.buffer<2xf32>
    }"""
    with pytest.raises(CompileError) as caught:
        run_pipeline(parse_module(text, "lowered.mlir"), "outline", make_context())
    assert str(caught.value) == (
        "error[PASS_FAILED]: pass 'outline' failed: a tensor is expected, not !host.buffer<2xf32>\n"
        "note: outline requires: @main holds primitives that are legal for the machine"
    )
