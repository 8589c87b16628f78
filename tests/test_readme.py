"""The README is true: its program is run, and its commands print what it says they print."""

from __future__ import annotations

import re

import pytest

from tests.readme import README, ROOT, Piece, pieces

TEXT = README.read_text()


@pytest.mark.parametrize("piece", list(pieces(TEXT)), ids=lambda piece: piece.source[:40])
def test_shown_output_is_real(piece: Piece, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    real = piece.real()
    assert piece.agrees(real), f"run `python -m tests.readme`; the real output is\n{real}"


def test_files_it_names_exist() -> None:
    for name in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / name).exists(), name
