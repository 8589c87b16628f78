"""Runs what the README shows; ``python -m tests.readme`` writes the real output into it.

A ``python`` block is run as a program, its output is the ``text`` block that follows. Every
``$ pyptoc`` command of a ``console`` block is run; a line ``…`` of its output stands for any lines.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pypto.cli.main import main as pyptoc

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
VARIES = re.compile(r"^this computer .*$", re.MULTILINE)
ANY_LINES = "…\n"


@dataclass(frozen=True)
class Piece:
    """Something to run and the output the README shows for it."""

    source: str
    shown: str
    is_program: bool

    def real(self) -> str:
        """What running it prints."""
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            if self.is_program:
                run_program(self.source)
            else:
                assert pyptoc(shlex.split(self.source)[1:]) == 0
        return stream.getvalue()

    def agrees(self, real: str) -> bool:
        """Whether the shown output is the real one, apart from times of this computer."""
        parts = [re.escape(comparable(part)) for part in self.shown.split(ANY_LINES)]
        return re.fullmatch(r"(.*\n)?".join(parts), comparable(real), re.DOTALL) is not None


def run_program(text: str) -> None:
    """Run a program whose source lines can be looked up, as kernels need."""
    name = "<README>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), {"__name__": "readme"})


def comparable(text: str) -> str:
    """Output without what depends on the computer, and without blanks at line ends."""
    plain = VARIES.sub("this computer", text)
    return "".join(f"{line.rstrip()}\n" for line in plain.splitlines())


def pieces(readme: str) -> Iterator[Piece]:
    """Every program and every command with output, in order."""
    found = BLOCK.findall(readme)
    for index, (kind, text) in enumerate(found):
        if kind == "python":
            assert found[index + 1][0] == "text", "a program is followed by its output"
            yield Piece(text, found[index + 1][1], True)
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                if output.strip():
                    yield Piece(command, output, False)


def silent_commands(text: str) -> Iterator[list[str]]:
    """The arguments of every pyptoc command that shows no output, and says all it does."""
    for kind, block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] if kind == "console" else ():
            line, _, output = part.partition("\n")
            if output.strip() or "…" in line or "|" in line:
                continue
            for command in line.split("&&"):
                words = shlex.split(command, comments=True)
                if Path(words[0]).name in ("pyptoc", "pypto"):
                    yield words[1:]


def updated(readme: str) -> str:
    """The README with real outputs; outputs with an ellipsis are left alone."""
    for piece in list(pieces(readme)):
        real = piece.real()
        if ANY_LINES not in piece.shown and not piece.agrees(real):
            readme = readme.replace(piece.shown, comparable_lines(real))
    return readme


def comparable_lines(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


if __name__ == "__main__":
    README.write_text(updated(README.read_text()))
