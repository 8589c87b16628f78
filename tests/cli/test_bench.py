"""``pyptoc bench``: suites, rows, settings and bars."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pypto.cli.main import main

ROOT = Path(__file__).parents[2]

SUITE = """\
from pypto.cli.bench import Benchmark, Row


def measured(settings):
    value = float(settings.get("value", 1))
    return Row(name="row", value=value, unit="s", bar=2.0, ok=value <= 2.0)


SUITE = (
    Benchmark("row", "a number", measured, settings=("value",)),
    Benchmark("other", "another", lambda settings: Row(name="other", shape=[[2, 3], [4]])),
)
"""


@pytest.fixture(autouse=True)
def suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("benchmarks").mkdir()
    Path("benchmarks/mine.py").write_text(SUITE)


def test_rows_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "mine", "--json", "value=2"]) == 1  # `other` has no such setting
    assert main(["bench", "mine.row", "--json", "value=2"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["suite"] == "mine"
    assert report["machine"]["cores"] >= 1
    (row,) = report["rows"]
    assert (row["name"], row["value"], row["ok"], row["cycles"]) == ("row", 2.0, True, None)


def test_a_missed_bar_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "mine.row", "value=3"]) == 1
    assert "NO" in capsys.readouterr().out


def test_text_shows_filled_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("suite mine\nname ")
    assert "2x3 4" in shown
    assert "cycles" not in shown


def test_listing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--list", "--json"]) == 0
    names = [row["name"] for row in json.loads(capsys.readouterr().out)]
    assert names == ["mine.row", "mine.other"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["yours"], "there is no suite 'yours'\nfix: name one of mine"),
        (["mine.rwo"], "suite mine has no row 'rwo'\nfix: name one of row, other"),
        (["mine.row", "speed=3"], "mine.row has no setting 'speed'\nfix: its settings: value"),
        (["mine.row", "fast"], "'fast' is no setting"),
    ],
)
def test_refusals(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *words]) == 1
    assert message in capsys.readouterr().err


PACKAGE = """\
from benchmarks.package.rows import SUITE
"""
PACKAGE_ROWS = """\
from functools import partial

from pypto.cli.bench import Benchmark, Row


def measured(name, settings):
    return Row(name=name, value=float(settings.get("m", 1)), pipes={"m": 51.6, "v": 3.0})


SUITE = (
    Benchmark("copy", "any", partial(measured, "copy"), settings=("m",), on_request=True),
    Benchmark("copy.V9", "a row", partial(measured, "copy.V9")),
    Benchmark("copy.V10", "another", partial(measured, "copy.V10")),
    Benchmark("copying", "no copy", partial(measured, "copying")),
)
"""


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A suite that is a package; what it imports is forgotten again."""
    folder = Path("benchmarks/package")
    folder.mkdir()
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").write_text(PACKAGE)
    (folder / "rows.py").write_text(PACKAGE_ROWS)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if is_suite(name)}
    yield
    for name in [name for name in sys.modules if is_suite(name)]:
        del sys.modules[name]
    sys.modules.update(before)


def is_suite(name: str) -> bool:
    return name.split(".")[0] == "benchmarks"


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["package"], ["copy.V9", "copy.V10", "copying"]),
        (["package.copy"], ["copy.V9", "copy.V10"]),
        (["package.copy.V10"], ["copy.V10"]),
        (["package.copy", "m=2"], ["copy"]),
    ],
)
def test_a_package_with_groups(
    words: list[str], names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A group runs its rows, with settings the program behind them."""
    assert main(["bench", *words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in rows] == names
    assert main(["bench", *words]) == 0
    assert "m 52 v 3" in capsys.readouterr().out


def test_the_repository_has_suites(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert main(["bench", "--list", "--json"]) == 0
    names = {row["name"] for row in json.loads(capsys.readouterr().out)}
    assert names >= {"host.import", "host.cold_run", "kernels.ffn"}


def test_another_package_of_the_folders_name_is_not_taken(tmp_path: Path) -> None:
    """site-packages has a package ``benchmarks`` of its own once pypto is installed."""
    (tmp_path / "site" / "benchmarks").mkdir(parents=True)
    (tmp_path / "site" / "benchmarks" / "__init__.py").touch()
    environment = os.environ | {"PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{ROOT}"}
    found = subprocess.run(
        [sys.executable, "-m", "pypto.cli.main", "bench", "silicon", "--list"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "silicon.gemm" in found.stdout
