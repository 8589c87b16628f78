"""The README is true: its program is run, and its commands print what it says they print."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from pypto.cli.main import main

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
VARIES = re.compile(r"^this computer .*$", re.MULTILINE)


def comparable(text: str) -> str:
    """Output without what depends on the computer, and without blanks at line ends."""
    return "\n".join(line.rstrip() for line in VARIES.sub("this computer", text).splitlines())


def blocks(kind: str) -> list[str]:
    return [text for found, text in BLOCKS if found == kind]


def test_the_program_prints_what_stands_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (program,) = blocks("python")
    (expected,) = blocks("text")
    path = tmp_path / "example.py"
    path.write_text(program)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(program, str(path), "exec"), {"__name__": "__main__"})
    assert comparable(shown.getvalue()) == comparable(expected)


def sessions() -> list[tuple[str, str]]:
    """(command, output) of every ``$ pyptoc …`` that is shown with output."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if output.strip():
                found.append((command, output))
    return found


@pytest.mark.parametrize(("command", "output"), sessions(), ids=lambda text: text[:40])
def test_commands(command: str, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    program, *words = command.split()
    assert program == "pyptoc"
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        assert main(words) == 0
    wanted = comparable(output).splitlines()
    if "…" not in wanted:
        assert comparable(shown.getvalue()) == "\n".join(wanted)
        return
    # A line with an ellipsis stands for any lines.
    found = comparable(shown.getvalue())
    pattern = ".*".join(map(re.escape, "\n".join(wanted).split("…")))
    assert re.fullmatch(pattern, found, re.DOTALL), found


def test_files_it_names_exist() -> None:
    for name in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / name).exists(), name
