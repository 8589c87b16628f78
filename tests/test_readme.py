"""The README is true: its program is run, and its commands print what it says they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pypto.cli.main import main as pyptoc
from tests.readme import README, ROOT, Piece, pieces, silent_commands

TEXT = README.read_text()
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("piece", list(pieces(TEXT)), ids=lambda piece: piece.source[:40])
def test_shown_output_is_real(piece: Piece, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    real = piece.real()
    assert piece.agrees(real), f"run `python -m tests.readme`; the real output is\n{real}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_that_show_no_output_work(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    for command in silent_commands(page.read_text()):
        assert pyptoc(command) == 0, f"{command}: {capsys.readouterr().err}"


def test_files_it_names_exist() -> None:
    for name in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / name).exists(), name
