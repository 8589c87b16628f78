"""Ten planted bugs: each is named as its pass, and shrunk to a program that opt replays."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from pypto.cli.main import main
from pypto.dialects.context import parse_module, print_module
from pypto.dialects.pypto import TensorOperation
from pypto.ops import ROWS
from pypto.passes.pipelines import O0, O2
from pypto.passes.tensor.canonicalize import Canonicalize
from pypto.passes.tensor.rewriting import builder_before, replace
from pypto.runtime import bisect_search
from pypto.runtime.bisect import Finding, Reproducer, bisect
from pypto.runtime.bisect_program import Size
from pypto.runtime.bisect_search import Limits
from tests.runtime.broken_kernels import BROKEN, CHAIN, LAYER_NORM, SOFTMAX, Subject
from tests.runtime.bugs import BUGS, Bug, Planted, around, tensor_operations

MOST_OPERATORS = 3
MOST_ELEMENTS = 1100
PAIRS = [(bug, subject) for bug in BUGS for subject in BROKEN[bug.name]]


def find(subject: Subject, pipeline: str = O2, **options: object) -> Finding | None:
    module, constants = subject.module()
    return bisect(module, constants, pipeline, subject.inputs(), **options)  # pyright: ignore


def replay(reproducer: Reproducer, folder: Path) -> list[str]:
    """Write a reproducer; gives the arguments of the command in its first line."""
    path = folder / "reproducer.mlir"
    reproducer.write(path)
    first = path.read_text().partition("\n")[0]
    assert first == f"// {reproducer.command(path)}"
    return shlex.split(first.removeprefix("// pyptoc "))


def small(finding: Finding | None) -> Reproducer:
    assert finding is not None
    assert finding.reproducer is not None
    return finding.reproducer


@pytest.mark.parametrize(
    ("bug", "subject"), PAIRS, ids=lambda one: str(getattr(one, "name", one)).replace(" ", "-")
)
def test_the_pass_is_named_and_what_it_breaks_is_shrunk(
    bug: Bug, subject: Subject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with bug.plant():
        finding = find(subject)
        reproducer = small(finding)
        assert finding is not None
        assert finding.divergence.pass_name == bug.pass_name
        assert finding.is_complete
        command = replay(reproducer, tmp_path)
        assert main(command) == 1
        error = capsys.readouterr().err
        assert "error[PASS_BROKE_PROGRAM]" in error
        assert f"pass '{bug.pass_name}'" in error
    assert reproducer.size is not None
    assert reproducer.size.operators <= MOST_OPERATORS
    assert reproducer.size.elements <= MOST_ELEMENTS
    assert main(command) == 0, capsys.readouterr().err


def test_without_a_bug_nothing_is_found() -> None:
    assert find(CHAIN) is None


def breaking(change: Callable[[ModuleOp], None]) -> Planted:
    """Canonicalize with a change of its own."""

    def run_and_change(run: Callable[[], None], module: ModuleOp) -> None:
        run()
        change(module)

    return around(Canonicalize, run_and_change)


def test_a_pass_that_crashes_on_one_operator() -> None:
    def crash(module: ModuleOp) -> None:
        if tensor_operations(module, "exp"):
            raise KeyError("exp")

    with breaking(crash):
        reproducer = small(found := find(SOFTMAX))
    assert found is not None
    assert found.divergence.kind == "crash"
    assert (reproducer.size, reproducer.passes) == (Size(1, 1), ("canonicalize",))
    assert "pypto.exp" in reproducer.module


def test_a_pass_that_leaves_invalid_ir() -> None:
    def turn(module: ModuleOp) -> None:
        for op in tensor_operations(module, "max"):
            op.detach()
            parent = module.body.block.first_op
            assert parent is not None
            block = parent.regions[0].block
            assert block.last_op is not None
            block.insert_op_after(op, block.last_op)

    with breaking(turn):
        reproducer = small(found := find(CHAIN))
    assert found is not None
    assert found.divergence.kind == "law"
    assert reproducer.size == Size(1, 1)


def clipping(module: ModuleOp) -> None:
    """abs(x) never above 1000."""
    for op in tensor_operations(module, "abs"):
        if not any(isinstance(use.operation, TensorOperation) for use in op.results[0].uses):
            continue
        builder = builder_before(op)
        made = builder.apply(op.row, list(op.operands), {})
        replace(op, [builder.apply(ROWS["min"], [made, 1000.0], {})])


def test_inputs_that_matter_become_constants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, constants = CHAIN.module()
    inputs = [array * np.float32(1e6) for array in CHAIN.inputs()]
    with breaking(clipping):
        reproducer = small(bisect(module, constants, O2, inputs))
        assert main(command := replay(reproducer, tmp_path)) == 1
        assert "pass 'canonicalize' changed result 0" in capsys.readouterr().err
    assert "pypto.constant" in reproducer.module
    assert reproducer.size is not None
    assert reproducer.size.operators <= MOST_OPERATORS
    assert len(list(tmp_path.glob("sha256-*.npy"))) == reproducer.module.count("pypto.constant")
    assert main(command) == 0


def test_a_module_of_several_functions_keeps_them() -> None:
    text = """
    builtin.module attributes {pypto.name = "two", pypto.soc = "ascend910b1"} {
      func.func @part(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
        %0 = pypto.sub %x, %y : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
        func.return %0 : tensor<5xf32>
      }
      func.func @main(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
        %0 = func.call @part(%x, %y) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
        func.return %0 : tensor<5xf32>
      }
    }
    """
    module = parse_module(text, "two.mlir")
    swapped = next(bug for bug in BUGS if bug.name == "swapped operands")
    with swapped.plant():
        found = bisect(module, CHAIN.module()[1], "cse,canonicalize,dce,cse")
    reproducer = small(found)
    assert reproducer.passes == ("canonicalize",)
    assert reproducer.size is None
    assert reproducer.module == print_module(module, locations=False)


def planted(name: str) -> Planted:
    return next(bug for bug in BUGS if bug.name == name).plant()


def test_a_search_ends_at_its_limits() -> None:
    with planted("wrong valid shape"):
        found = find(SOFTMAX, limits=Limits(trials=3))
        assert found is not None
        assert (found.trials, found.is_complete) == (3, False)
        late = find(SOFTMAX, limits=Limits(seconds=0.0))
        assert late is not None
        assert (late.trials, late.reproducer, late.is_complete) == (0, None, False)


def test_ctrl_c_ends_the_search_with_what_it_has() -> None:
    calls = itertools.count()
    right = bisect_search.prove

    def prove(*arguments: object, **options: object) -> None:
        if next(calls) == 4:
            raise KeyboardInterrupt
        right(*arguments, **options)  # pyright: ignore

    with planted("wrong axis"), patch.object(bisect_search, "prove", prove):
        found = find(LAYER_NORM)
    assert found is not None
    assert not found.is_complete
    assert small(found).module
    assert next(calls) == 5


def test_progress_is_reported() -> None:
    seen: list[bisect_search.Progress] = []
    with planted("swapped operands"):
        finding = find(CHAIN, O0, report=seen.append)
    assert finding is not None
    assert seen[-1].size == small(finding).size
    assert [one.trials for one in seen] == sorted(one.trials for one in seen)
