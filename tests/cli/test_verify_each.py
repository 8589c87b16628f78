"""``--verify-each`` of run, compile and opt: what a user reads."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from xdsl.dialects.builtin import FloatAttr, f64

from pypto.cli.main import main
from pypto.dialects.pypto import TensorOperation
from pypto.passes.tensor.canonicalize import Canonicalize

KERNEL = """\
import numpy as np
import pypto


@pypto.kernel
def scale(x: pypto.Tensor[(2, 3), pypto.float32]):
    return x * 2.0 + 1.0
"""
INPUTS = """

def example_inputs():
    return np.ones((2, 3), np.float32)
"""
MODULE = """\
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = pypto.add %x, 1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
"""
FIX = (
    "fix: run 'pyptoc bisect' on the kernel for the smallest program this pass breaks, or look at "
    "the IR before and behind it with --dump-ir DIR\n"
)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernel.py").write_text(KERNEL + INPUTS)
    Path("drawn.py").write_text(KERNEL)
    Path("module.mlir").write_text(MODULE)
    Path("kernels.mlir").write_text(MODULE.replace("@main", "@other"))


@pytest.fixture
def bug():
    """canonicalize turns x + 1 into x + 1.5."""
    right = Canonicalize.apply

    def apply(self, context, module) -> None:
        right(self, context, module)
        for op in module.walk():
            if isinstance(op, TensorOperation) and op.row.name == "add":
                op.properties["y"] = FloatAttr(1.5, f64)

    with patch.object(Canonicalize, "apply", apply):
        yield


def wrong(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(command) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["run", "kernel.py", "--verify-each", "--no-cache"],
        ["compile", "kernel.py", "--verify-each", "-o", "kernel.dvasm"],
        ["compile", "drawn.py", "--verify-each", "-o", "drawn.dvasm"],
        ["compile", "module.mlir", "--verify-each", "-o", "module.dvasm"],
        ["opt", "module.mlir", "--verify-each", "-p", "canonicalize,O2", "-o", "behind.mlir"],
        ["opt", "kernels.mlir", "--verify-each", "-p", "canonicalize", "-o", "behind.mlir"],
    ],
    ids=" ".join,
)
def test_right_passes(command) -> None:
    assert main(command) == 0


@pytest.mark.usefixtures("bug")
@pytest.mark.parametrize("command", [["run", "kernel.py"], ["compile", "kernel.py"]], ids=" ".join)
def test_a_wrong_pass_is_named_on_the_example_inputs(command, capsys) -> None:
    assert wrong([*command, "--verify-each"], capsys) == (
        "error[PASS_BROKE_PROGRAM]: pass 'canonicalize' changed result 0 of scale at [0, 0]: 3.0 "
        "became 3.5\n"
        "note: the pass is exact: every bit must stay as it was\n"
        "note: 6 of 6 elements of the result are wrong\n"
        "note: the inputs are the arguments given\n" + FIX
    )


@pytest.mark.usefixtures("bug")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["compile", "drawn.py"], "scale"),
        (["opt", "module.mlir", "-p", "cse,canonicalize,dce"], "@main"),
    ],
)
def test_a_wrong_pass_is_named_on_drawn_inputs(command, name, capsys) -> None:
    message = wrong([*command, "--verify-each"], capsys)
    assert message.startswith(
        f"error[PASS_BROKE_PROGRAM]: pass 'canonicalize' changed result 0 of {name} at [0, 0]: "
    )
    assert (
        "note: the inputs are drawn with seed 0: floats from a normal distribution, integers up to "
        "99\n"
    ) in message


@pytest.mark.usefixtures("bug")
def test_the_dump_shows_what_the_pass_did(capsys) -> None:
    wrong(["compile", "kernel.py", "--verify-each", "--dump-ir", "ir"], capsys)
    last = sorted(Path("ir").glob("*.mlir"))[-1]
    assert last.name.endswith("-canonicalize.mlir")
    assert "1.5" in last.read_text()


@pytest.mark.usefixtures("bug")
def test_without_the_option_nothing_is_proven() -> None:
    assert main(["compile", "kernel.py", "-o", "kernel.dvasm"]) == 0


def test_opt_says_when_a_module_is_not_executed(capsys) -> None:
    assert main(["opt", "kernels.mlir", "--verify-each", "-p", "canonicalize"]) == 0
    said = capsys.readouterr()
    assert said.err == "note: the module is not executed: it has no function @main\n"
    assert "@other" in said.out
    constant = '%0 = pypto.constant {resource = "sha256-0"} : tensor<2x3xf32>'
    add = next(line.strip() for line in MODULE.splitlines() if "pypto.add" in line)
    Path("module.mlir").write_text(MODULE.replace(add, constant))
    assert main(["opt", "module.mlir", "--verify-each", "-p", "canonicalize"]) == 0
    said = capsys.readouterr()
    assert said.err == "note: the module is not executed: the constant sha256-0 is not at hand\n"
