"""What type checkers make of a user's file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

USER = """
import numpy as np
import pypto

Rows = pypto.Tensor[("M", "K"), pypto.float16]
WEIGHTS = np.ones((4, 4), np.float32)


@pypto.kernel
def kernel(x: pypto.Tensor, rows: Rows, scale: float = 1.0) -> pypto.Tensor:
    total = pypto.sum(x, dim=-1) + pypto.mean(x, axis=-1) + pypto.softmax(x, dim=-1).max(dim=0)
    joined = pypto.concat([x, WEIGHTS @ x, rows], dim=0)
    return pypto.where(x > 0, x @ WEIGHTS, 2 * x - total) * scale + joined[:4]


print(kernel(WEIGHTS, WEIGHTS, scale=2.0), kernel.compile(), kernel.lower(level="tile"))
"""
WRONG = """

pypto.softmax()
pypto.exp("text")
"""


def errors(text: str, folder: Path) -> list[int]:
    """The lines a type checker complains of."""
    file = folder / "user.py"
    file.write_text(text)
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--pythonpath",
        sys.executable,
        "--outputjson",
        file,
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return [one["range"]["start"]["line"] for one in json.loads(said.stdout)["generalDiagnostics"]]


def test_a_users_file(tmp_path: Path) -> None:
    lines = USER.count("\n")
    assert errors(USER + WRONG, tmp_path) == [lines + 2, lines + 3]
