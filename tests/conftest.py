"""Collects ``tests/filecheck/**/*.mlir``: each ``// RUN:`` line is one test, run in this process.

A RUN line is a pipe of ``pyptoc`` commands that ends in ``filecheck %s``; ``%s`` is the file.
``not pyptoc …`` demands that the command fails, and checks what it wrote to stderr.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FILECHECK = Path(__file__).parent / "filecheck"
MARK = "// RUN:"


def pytest_report_header() -> str:
    return f"drawn cases: PYPTO_SEED={os.environ.get('PYPTO_SEED', '0')}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """With ``PYPTO_STATUS=FILE``, write there what was run and how it ended."""
    target = os.environ.get("PYPTO_STATUS")
    if not target:
        return
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    ).stdout.strip()
    counts = ", ".join(
        f"{len(terminalreporter.stats[outcome])} {outcome}"
        for outcome in ("passed", "failed", "error", "skipped")
        if terminalreporter.stats.get(outcome)
    )
    seed = os.environ.get("PYPTO_SEED", "0")
    Path(target).write_text(
        "# Last run of all tests\n\nWritten by `make test-full`.\n\n"
        "| commit | seed | result |\n|---|---|---|\n"
        f"| {commit or 'unknown'} | {seed} | {counts} |\n"
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".mlir" and file_path.is_relative_to(FILECHECK):
        return CheckedFile.from_parent(parent, path=file_path)
    return None


class CheckedFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        lines = self.path.read_text().splitlines()
        runs = [line.removeprefix(MARK).strip() for line in lines if line.startswith(MARK)]
        if not runs:
            raise self.CollectError(f"{self.path} has no {MARK} line")
        for number, run in enumerate(runs):
            name = self.path.stem if len(runs) == 1 else f"{self.path.stem}[{number}]"
            yield CheckedRun.from_parent(self, name=name, command=run)


class CheckFailure(Exception):
    """A command of a RUN line ended otherwise than it should, or a check did not match."""


class CheckedRun(pytest.Item):
    def __init__(self, command: str, **rest: object) -> None:
        super().__init__(**rest)  # pyright: ignore[reportArgumentType]
        self.command = command

    def runtest(self) -> None:
        text = ""
        for part in self.command.split("|"):
            words = [w.replace("%s", str(self.path)) for w in shlex.split(part)]
            if words[0] == "filecheck":
                self.check(words[1:], text)
            else:
                text = self.run_command(words, text)

    def run_command(self, words: list[str], stdin: str) -> str:
        from pypto.cli.main import main

        must_fail = words[0] == "not"
        words = words[1:] if must_fail else words
        if words[0] != "pyptoc":
            raise CheckFailure(f"a RUN line runs pyptoc and filecheck only, not {words[0]}")
        out, err = io.StringIO(), io.StringIO()
        before = sys.stdin
        sys.stdin = io.StringIO(stdin)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(words[1:])
        finally:
            sys.stdin = before
        if (code != 0) != must_fail:
            raise CheckFailure(f"{shlex.join(words)} ended with {code}\n{err.getvalue()}")
        return err.getvalue() if must_fail else out.getvalue()

    def check(self, arguments: list[str], text: str) -> None:
        from filecheck.finput import FInput
        from filecheck.matcher import Matcher
        from filecheck.options import parse_argv_options
        from filecheck.parser import Parser

        options = parse_argv_options(["filecheck", *arguments])
        report = io.StringIO()
        with contextlib.redirect_stderr(report):
            code = Matcher(options, FInput("-", text), Parser.from_opts(options)).run()
        if code != 0:
            raise CheckFailure(f"{report.getvalue()}\nthe whole output:\n{text}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None):
        if isinstance(excinfo.value, CheckFailure):
            return f"RUN: {self.command}\n{excinfo.value}"
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name
