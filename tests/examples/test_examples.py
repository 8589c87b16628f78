"""The examples run, are right, and show what the README says they show."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pypto.cli.main import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run_json(target: str, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict]:
    assert main(["run", str(EXAMPLES / target), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_elementwise_for_one_shape_and_for_any_length(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fixed, dynamic = run_json("elementwise.py", capsys, "--check")
    assert fixed["shapes"] == [[37, 741], [37, 741]]
    assert dynamic["shapes"] == [[27417], [27417]]
    assert fixed["ok"]
    assert dynamic["ok"]
    assert fixed["max_abs_error"] == 0


def test_softmax(capsys: pytest.CaptureFixture[str]) -> None:
    (profile,) = run_json("softmax.py", capsys, "--check")
    assert profile["ok"]
    assert profile["pipes"].keys() >= {"S", "V", "MTE2", "MTE3"}


def test_fusion_halves_the_time_of_the_ffn(capsys: pytest.CaptureFixture[str]) -> None:
    (fused,) = run_json("ffn.py", capsys, "-O2")
    (plain,) = run_json("ffn.py", capsys, "-O0")
    assert fused["ok"]
    assert plain["ok"]
    assert fused["cycles"] <= 0.5 * plain["cycles"]


def test_the_demo(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "digits.py"), "--output", str(tmp_path)]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "same class as NumPy  1,797 of 1,797" in shown
    unseen = next(line for line in shown.splitlines() if "on unseen images" in line)
    assert float(unseen.split()[3].rstrip("%")) >= 96
    (sums,) = (line for line in shown.splitlines() if line.startswith("sum "))
    assert sums.split()[1:] == ["100.0%"] * 7
    assert (tmp_path / "ir" / "00-input.mlir").exists()
    assert json.loads((tmp_path / "timeline.json").read_text())["traceEvents"]


def test_the_weights_are_what_the_script_trains() -> None:
    """Shapes and origin; training anew takes seconds and depends on NumPy's version."""
    weights = np.load(EXAMPLES / "data" / "digits_mlp.npz")
    shapes = {name: weights[name].shape for name in weights.files}
    assert shapes == {"w1": (64, 128), "b1": (128,), "w2": (128, 10), "b2": (10,)}
    assert {weights[name].dtype for name in weights.files} == {np.dtype(np.float16)}
    digits = np.load(EXAMPLES / "data" / "digits.npz")
    assert digits["images"].shape == (1797, 64)
    assert digits["images"].max() == 16
