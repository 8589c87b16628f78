"""``pyptoc bisect`` as a user types it: exit codes, messages, JSON, the file it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pypto.cli.bisect import describe, shown
from pypto.cli.main import main
from pypto.passes.driver import parse_passes
from pypto.passes.pipelines import O1, O2
from pypto.runtime.bisect import Finding
from pypto.runtime.bisect_program import Size
from pypto.runtime.bisect_search import Progress
from pypto.runtime.prove import BrokenPass, Divergence
from tests.runtime.bugs import swapped_operands

FILE = """\
import numpy as np
import pypto


@pypto.kernel
def distance(x, y):
    return (x - y) * 0.5


@pypto.kernel
def total(x: pypto.Tensor[(3, 5), pypto.float32]):
    return pypto.sum(x)


def example_inputs_distance():
    return np.full((3, 5), 2, np.float32), np.ones((3, 5), np.float32)
"""

BROKEN = """\
distance: pass 'canonicalize' breaks the program (bits)
  pass 'canonicalize' changed result 0 of distance at [0, 0]: 0.5 became -0.5
"""

SHRUNK = f"""\
  program: 2 operators on up to 15 elements -> 1 operator on up to 1 element
  passes: {len(parse_passes(O2))} -> 1
  reproducer: small.mlir
  replay: pyptoc opt small.mlir -p 'canonicalize' --verify-each
"""

REPRODUCER = """\
// pyptoc opt small.mlir -p 'canonicalize' --verify-each
builtin.module attributes {pypto.name = "distance", pypto.soc = "ascend910b1"} {
  func.func @main(%0: tensor<1x1xf32>, %1: tensor<1x1xf32>) -> tensor<1x1xf32> {
    %2 = pypto.sub %0, %1 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    func.return %2 : tensor<1x1xf32>
  }
}
"""

LOWERED = """\
builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @k(%0: !tile.global<f32>) attributes {pypto.kernel = "vector"} {
    %1 = tik.block_idx
    func.return
  }
}
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernels.py").write_text(FILE)
    Path("lowered.mlir").write_text(LOWERED)


def test_nothing_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", "kernels.py"]) == 0
    out, error = capsys.readouterr()
    assert out == "distance: no pass breaks the program\ntotal: no pass breaks the program\n"
    assert error == ""
    assert not list(Path.cwd().glob("*_reproducer.mlir"))


def test_a_broken_pass_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with swapped_operands():
        assert main(["bisect", "kernels.py:distance", "-o", "small.mlir"]) == 1
        out = capsys.readouterr().out
        assert out.startswith(BROKEN)
        assert out.endswith(SHRUNK)
        assert Path("small.mlir").read_text() == REPRODUCER
        assert main(["bisect", "small.mlir", "-O0", "-o", "again.mlir"]) == 1
        assert capsys.readouterr().out.startswith("small: pass 'canonicalize' breaks")
        lines = Path("again.mlir").read_text().splitlines()
        assert lines[1:] == REPRODUCER.splitlines()[1:]
    assert main(["bisect", "small.mlir"]) == 0


def test_json_has_an_object_per_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    with swapped_operands():
        assert main(["bisect", "kernels.py", "--json", "-O1"]) == 1
    broken, fine = json.loads(capsys.readouterr().out)
    assert fine == {"kernel": "total", "soc": "ascend910b1", "opt_level": 1, "ok": True}
    assert broken["pass"] == "canonicalize"
    assert broken["size"] == {"operators": 2, "elements": 15, "passes": len(parse_passes(O1))}
    assert broken["reproducer"] == {
        "path": "distance_reproducer.mlir",
        "command": "pyptoc opt distance_reproducer.mlir -p 'canonicalize' --verify-each",
        "operators": 1,
        "elements": 1,
        "passes": 1,
    }
    assert broken["complete"]
    assert Path("distance_reproducer.mlir").is_file()


def test_the_machine_of_a_module_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    Path("small.mlir").write_text(REPRODUCER.replace("910b1", "910a"))
    assert main(["bisect", "small.mlir", "--json", "-O0"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["soc"] == "ascend910a"
    assert main(["bisect", "small.mlir", "--json", "-O0", "--soc", "ascend910b1"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["soc"] == "ascend910b1"


UNFIT = """


@pypto.kernel
def quotient(x: pypto.Tensor[(3, 5), pypto.float32]):
    return x // 2
"""


def test_a_kernel_that_cannot_be_compiled_stops_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("kernels.py").write_text(FILE + UNFIT)
    assert main(["bisect", "kernels.py"]) == 1
    out, error = capsys.readouterr()
    assert out == "distance: no pass breaks the program\ntotal: no pass breaks the program\n"
    assert "error[UNSUPPORTED_OPERATOR]" in error
    with swapped_operands():
        assert main(["bisect", "kernels.py", "--json"]) == 1
    broken, fine, unfit = json.loads(capsys.readouterr().out)
    assert broken["pass"] == "canonicalize"
    assert fine["ok"]
    assert (unfit["kernel"], unfit["ok"]) == ("quotient", False)
    assert unfit["error"]["code"] == "UNSUPPORTED_OPERATOR"
    assert unfit["error"]["location"].startswith("kernels.py:22:")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_what_is_found_is_told_before_it_is_written(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("folder.mlir").mkdir()
    command = ["bisect", "kernels.py:distance", "-O0", "-o", "folder.mlir", *options]
    with swapped_operands():
        assert main(command) == 1
    out, error = capsys.readouterr()
    assert "pass 'canonicalize' changed result 0 of distance" in out
    assert error.startswith("error[IO]: ")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["bisect", "kernels.py", "-o", "small.mlir"],
            1,
            "error[SEVERAL_KERNELS]: kernels.py has 2 kernels and -o names one file\n"
            "fix: name one: kernels.py:distance\n",
        ),
        (
            ["bisect", "lowered.mlir"],
            1,
            "error[WRONG_LEVEL]: lowered.mlir is at the tik level; bisect starts from the tensor "
            "level\n"
            "fix: prove the passes that are left with pyptoc opt lowered.mlir -p PASSES "
            "--verify-each\n",
        ),
        (["bisect"], 2, ""),
        (["bisect", "kernels.py", "-O9"], 2, ""),
    ],
)
def test_what_cannot_be_searched(
    words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    error = capsys.readouterr().err
    assert error == message or (code == 2 and "Traceback" not in error)


def test_a_search_without_a_result_says_so() -> None:
    broken = BrokenPass(Divergence("cse", "crash"), "pass 'cse' failed: KeyError: 1")
    finding = Finding(broken, None, Size(2, 15), 23, 0, False)
    assert describe(finding, Path("small.mlir")) == (
        "pass 'cse' breaks the program (crash)\n"
        "  pass 'cse' failed: KeyError: 1\n"
        "  no smaller program was found\n"
        "  the search was cut short; a smaller program may exist"
    )


def test_progress_is_one_line() -> None:
    assert shown(Progress(1, Size(2, 15), 1)) == (
        "shrinking: 1 program tried, 1 pass, 2 operators on up to 15 elements"
    )
