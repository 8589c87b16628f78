"""docs/kernels.md is true: its rows are kernels that run, its programs print what it shows."""

from __future__ import annotations

import linecache
import re
import textwrap
from typing import Any

import numpy as np
import pytest

import pypto
from tests.readme import ROOT, Piece, pieces

TEXT = (ROOT / "docs" / "kernels.md").read_text()
ROWS = re.findall(r"^\| ([^|]+) \| (`.*`) \|$", TEXT, re.MULTILINE)
X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)

EXPECTED: dict[str, Any] = {
    "operators": -(X + 1) * 2 / np.abs(X - 9) ** 2,
    "comparisons make boolean tensors": np.where((X > 0) & ~(X == 1), X, 0),
    "functions of pypto, also as methods": np.exp(X).sum(axis=-1, keepdims=True),
    "indexing and slicing": X[1:, ::2] + X[0, None, :3],
    "shapes are numbers": X + 6,
    "element types": X.astype(np.float16),
    "static `if`, chained comparisons": X,
    "`assert` and `raise` on static values": X,
    "loops over static values, up to 1,024 times": X + 3,
    "comprehensions": np.concatenate([X, X * 2]),
    "unpacking with stars": X[:, :2] + X[:, 4:],
    "stars in calls": np.abs(X),
    "assignment expressions": (X + 1) ** 2,
    "lists and dictionaries it made itself": -X,
    "functions inside, with defaults and keywords": X * 6,
    "lambdas, also for builtins": X * 3,
    "`isinstance`, `len`, `min`, `zip`, …": X,
    "several results": (X, [X + 1], {"twice": X * 2}),
}


def kernel_of(row: str) -> pypto.Kernel:
    """The kernel a row shows: statements between backquotes, one or more lines of them."""
    lines = [line for part in row.split("<br>") for line in [part.strip("`")]]
    text = "def shown(x):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"
    name = f"<docs/kernels.md: {lines[0]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"pypto": pypto}
    exec(compile(text, name, "exec"), names)
    return pypto.kernel(names["shown"])


def compare(result: Any, expected: Any) -> None:
    if isinstance(expected, np.ndarray):
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-6)
        return
    assert type(result) is type(expected)
    inner = (
        (result.values(), expected.values()) if isinstance(expected, dict) else (result, expected)
    )
    for one, other in zip(*inner, strict=True):
        compare(one, other)


def test_every_row_is_tested() -> None:
    assert [title for title, _ in ROWS] == list(EXPECTED)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_row(row: tuple[str, str]) -> None:
    title, code = row
    compare(kernel_of(code)(X), EXPECTED[title])


@pytest.mark.parametrize("piece", list(pieces(TEXT)), ids=lambda piece: piece.source[:20])
def test_shown_output_is_real(piece: Piece) -> None:
    assert piece.real() == piece.shown
