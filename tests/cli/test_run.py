"""``pyptoc run``: what it prints, and when it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pypto.cli.main import main

KERNELS = """\
import numpy as np
import pypto


@pypto.kernel
def right(x):
    return x + 1


@pypto.kernel
def wrong(x):
    return x + 1, x * 2


def example_inputs():
    return (np.arange(5, dtype=np.float32),)


def reference_wrong(x):
    return x + 1, x * 2.001
"""

FIELDS = [
    "kernel", "soc", "opt_level", "shapes", "dtypes", "cycles", "time_us", "task_us",
    "instructions", "data_instructions", "cores", "pipes", "bound", "bound_us",
    "roofline_fraction", "hbm_bytes", "max_abs_error", "max_rel_error", "ok", "compile_seconds",
    "host_seconds",
]  # fmt: skip


@pytest.fixture(autouse=True)
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.py").write_text(KERNELS)


def test_json_has_the_documented_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "k.py", "--json", "-O0"]) == 1
    right, wrong = json.loads(capsys.readouterr().out)
    assert list(right) == list(wrong) == FIELDS
    assert (right["kernel"], right["opt_level"], right["ok"]) == ("right", 0, True)
    assert right["shapes"] == [[5]]
    assert right["dtypes"] == ["float32"]
    assert right["time_us"] == pytest.approx(right["cycles"] / 1850)
    assert right["task_us"] == pytest.approx(right["time_us"] + 6.1)
    assert wrong["ok"] is False
    assert wrong["max_abs_error"] == pytest.approx(0.004, rel=0.01)
    assert wrong["max_rel_error"] == pytest.approx(0.0005, rel=0.01)


def test_text_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "k.py:right", "--check"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.startswith("right([5] float32) on ascend910b1 at -O2\ncycles  ")
    assert "(1 launch, 1 core)" in shown.out
    assert "largest error        0 absolute, 0 relative, within tolerance" in shown.out
    assert main(["run", "k.py:wrong"]) == 1
    assert "OUT OF tolerance" in capsys.readouterr().out


def test_timelines_of_several_kernels_have_their_names() -> None:
    assert main(["run", "k.py", "--timeline", "t/all.json"]) == 1
    assert {path.name for path in Path("t").iterdir()} == {"all_right.json", "all_wrong.json"}
    assert main(["run", "k.py:right", "--timeline", "one.json"]) == 0
    assert json.loads(Path("one.json").read_text())["traceEvents"]


def test_a_reference_of_another_shape(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.py").write_text(KERNELS.replace("return x + 1, x * 2.001", "return x[:2], x"))
    assert main(["run", "s.py:wrong"]) == 1
    assert "gives results of shapes [(5,), (5,)], its reference [(2,), (5,)]" in (
        capsys.readouterr().err
    )


def test_another_machine(capsys: pytest.CaptureFixture[str]) -> None:
    from pypto.target.soc import DIRECTORY

    text = (DIRECTORY / "ascend910b1.toml").read_text()
    Path("fast.toml").write_text(
        text.replace('name = "ascend910b1"', 'name = "fast"').replace(
            "clock_mhz = { value = 1850", "clock_mhz = { value = 3700"
        )
    )
    assert main(["run", "k.py:right", "--soc", "fast.toml", "--json"]) == 0
    (profile,) = json.loads(capsys.readouterr().out)
    assert profile["soc"] == "fast"
    assert profile["time_us"] == pytest.approx(profile["cycles"] / 3700)


RECORDS = """\
from dataclasses import dataclass

import numpy as np
import pypto


@dataclass
class Sums:
    rows: object
    parts: list
    count: int


@pypto.kernel
def sums(x):
    return Sums(pypto.sum(x, dim=-1), [x + 1, x * 2], x.shape[0])


@pypto.kernel
def broken(x):
    return x @ x


def example_inputs():
    return (np.arange(8, dtype=np.float32).reshape(2, 4),)


def reference_sums(x):
    return Sums(x.sum(axis=-1), [x + 1, x * FACTOR], 2)
"""


def test_references_give_records_too() -> None:
    Path("r.py").write_text(RECORDS.replace("FACTOR", "2"))
    assert main(["run", "r.py:sums"]) == 0
    Path("r.py").write_text(RECORDS.replace("FACTOR", "2.001"))
    assert main(["run", "r.py:sums"]) == 1


def test_a_kernel_that_fails_beside_others(capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.py").write_text(RECORDS.replace("FACTOR", "2"))
    assert main(["run", "r.py", "--json", "-O0"]) == 1
    right, broken = json.loads(capsys.readouterr().out)
    assert right["ok"] is True
    assert broken == {
        "kernel": "broken",
        "soc": "ascend910b1",
        "opt_level": 0,
        "ok": False,
        "error": {
            "code": "SHAPE_MISMATCH",
            "message": "matmul: (2, 4) @ (2, 4): inner extents differ: 4 and 2",
            "location": "r.py:21:12",
            "fix": "transpose an operand, or check its shape",
        },
    }
    assert main(["run", "r.py"]) == 1
    assert "error[SHAPE_MISMATCH]: matmul: " in capsys.readouterr().err
