"""``pyptoc compile`` and ``opt``: what they write, where, and what they refuse."""

from __future__ import annotations

import io
import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from pypto.cli.main import main
from pypto.target.assembly import assemble
from pypto.target.container import load

KERNELS = """\
import numpy as np
import pypto

WEIGHTS = np.arange(48, dtype=np.float16).reshape(8, 6)


@pypto.kernel
def product(x: pypto.Tensor[(4, 8), pypto.float16]):
    return x @ WEIGHTS


@pypto.kernel
def shifted(x):
    return x + 1


def example_inputs_shifted():
    return np.zeros((3, 5), np.float32)
"""


@pytest.fixture(autouse=True)
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.py").write_text(KERNELS)


def test_all_forms_are_the_same_executable() -> None:
    assert main(["compile", "k.py:product", "-o", "a.dvbin"]) == 0
    assert main(["compile", "k.py:product", "-o", "a.dvasm"]) == 0
    assert main(["compile", "k.py:product", "-o", "a.mlir"]) == 0
    assert main(["compile", "a.mlir", "-o", "b.dvbin"]) == 0
    assert main(["compile", "k.py:product", "--emit", "tensor", "-o", "c.mlir"]) == 0
    assert main(["compile", "c.mlir", "-o", "c.dvbin"]) == 0
    executable = load("a.dvbin")
    assert Path("b.dvbin").read_bytes() == Path("a.dvbin").read_bytes()
    assert Path("c.dvbin").read_bytes() == Path("a.dvbin").read_bytes()
    assert assemble(Path("a.dvasm").read_text()) == executable


def test_levels_go_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    for emit, word in (("tensor", "pypto.matmul"), ("tile", "tile.mma"), ("tik", "tik.mad.f16")):
        assert main(["compile", "k.py:product", "--emit", emit]) == 0
        assert word in capsys.readouterr().out
    assert main(["compile", "k.py"]) == 0
    assert capsys.readouterr().out.count(".soc ascend910b1") == 2


def test_json_says_what_was_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "k.py:shifted", "--json", "-O0"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["kernel"] == "shifted"
    assert made["opt_level"] == 0
    assert made["launches"] == len(made["programs"]) == 1
    assert made["text"].startswith(".soc")


def test_dumps_are_numbered_and_only_of_what_changed() -> None:
    assert main(["compile", "k.py:product", "--dump-ir", "ir", "--verify-each"]) == 0
    files = sorted(Path("ir").glob("*.mlir"))
    assert files[0].name == "00-input.mlir"
    bodies = [file.read_text().partition("\n")[2] for file in files]
    assert all(a != b for a, b in pairwise(bodies))
    assert len(list(Path("ir").glob("sha256-*.npy"))) == 1
    assert main(["compile", "k.py", "--dump-ir", "all"]) == 0
    assert {path.name for path in Path("all").iterdir()} == {"product", "shifted"}


def test_ir_is_printed_after_passes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compile", "k.py:shifted", "-o", "s.dvbin", "--print-ir-after", "outline"]
    assert main(words) == 0
    shown = capsys.readouterr().err
    assert shown.count("// ----- IR after") == 1
    assert "// ----- IR after outline -----" in shown
    assert main(["compile", "k.py:shifted", "-o", "s.dvbin", "--print-ir-after-all"]) == 0
    assert capsys.readouterr().err.count("// ----- IR after") > 8


def test_opt_reads_stdin_and_keeps_constants_beside_its_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", "k.py:product", "--emit", "tensor", "-o", "p.mlir"]) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO(Path("p.mlir").read_text()))
    assert main(["opt", "-", "-p", "O2"]) == 0
    lowered = capsys.readouterr().out
    assert main(["opt", "p.mlir", "-p", "O2", "-o", "out/p.mlir"]) == 0
    assert Path("out/p.mlir").read_text() == lowered
    assert main(["compile", "out/p.mlir", "-o", "out/p.dvbin"]) == 0
    assert main(["compile", "k.py:product", "-o", "p.dvbin"]) == 0
    assert Path("out/p.dvbin").read_bytes() == Path("p.dvbin").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["k.py", "-o", "x.dvbin"], "k.py has 2 kernels and -o names one file"),
        (["k.py:shifted", "-o", "x.elf"], "the suffix of x.elf does not say what to write"),
        (["k.py:shifted", "--print-ir-after", "fuze"], "there is no pass 'fuze'"),
        (["k.py:third"], "k.py has no kernel 'third'"),
        (["gone.mlir"], "there is no file gone.mlir"),
        (["k.py:shifted", "--soc", "gone.toml"], "SoC file gone.toml cannot be read"),
    ],
    ids=lambda value: str(value),
)
def test_refusals(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", *words]) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_string_that_does_not_end(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.mlir").write_text('// "fine"\n"a" "b\n')
    assert main(["opt", "s.mlir"]) == 1
    assert capsys.readouterr().err.startswith("s.mlir:2:5: error[IR_SYNTAX]: this string does not")


def test_a_module_half_way_down_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "k.py:shifted", "--emit", "tile", "-o", "t.mlir"]) == 0
    assert main(["compile", "t.mlir", "-o", "t.dvbin"]) == 1
    assert "NOT_MACHINE_LEVEL" in capsys.readouterr().err
