"""docs/accuracy.md is what the report writes now, for every row that is quickly measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.silicon import FAMILIES, report
from benchmarks.silicon.figures import Figure, figures
from pypto.cli.bench import Row

PAGE = (Path(__file__).parents[2] / "docs" / "accuracy.md").read_text()
BY_NAME = {family.name: family for family in FAMILIES}
QUICK = ("mmad", "vector", "tile", "load", "bank", "copy", "repack")
REMAKE = "run python -m benchmarks.silicon.report docs/accuracy.md"


@pytest.mark.parametrize("name", QUICK)
def test_quick_rows_are_current(name: str) -> None:
    family = BY_NAME[name]
    rows = {row: family.row(row, {}) for row in family.rows}
    missing = [text for text in report.table(family, rows) if text not in PAGE.splitlines()]
    assert not missing, REMAKE


def test_what_needs_no_run_is_current() -> None:
    for part in ([report.INTRODUCTION.rstrip()], report.strict_figures(), report.unmodelled()):
        assert "\n".join(part).rstrip() in PAGE, REMAKE


def test_every_row_is_on_the_page() -> None:
    lines = PAGE.splitlines()
    for name, figure in figures().items():
        beginning = f"| {name} | {figure.what} | {report.number(figure.value)} |"
        assert sum(line.startswith(beginning) for line in lines) == 1, f"{name}: {REMAKE}"


def test_every_wanted_row_is_measured_or_listed() -> None:
    listed = {line.split(":")[0].removeprefix("* ") for line in report.unmodelled()}
    assert "H1" in listed
    assert not listed & {"V2", "V9", "V13", "V16"}


def figure(**values: object) -> Figure:
    common = {"id": "X1", "suite": "s", "what": "a copy", "soc": "ascend910b1", "source": "here"}
    return Figure(**(common | {"value": 200.0} | values))  # pyright: ignore[reportArgumentType]


def test_a_line_shows_the_row_as_it_is() -> None:
    row = Row(
        name="s.X1", silicon_error=-0.125, strict_error=0.5, pipes={"m": 51.6, "v": 3.0},
        silicon_pipes={"m": 54.5},
    )  # fmt: skip
    assert report.line(figure(), row) == (
        "| X1 | a copy | 200 | 175 | -12.5 | +50.0 | m 52 (54) |  |"
    )
    marked = figure(calibrates="hbm_read", guessed="tiles")
    row = replace(row, silicon_pipes=None)
    assert report.line(marked, row).endswith("| m 52, v 3 | C G |")


def test_medians_count_rows_that_calibrate_nothing() -> None:
    rows = [
        Row(name=str(i), silicon_error=error, strict_error=2 * error)
        for i, error in enumerate((-0.01, 0.02, 0.03, -0.3))
    ]
    assert report.summary("all", rows) == "| all | 4 | 2.5 | 30.0 | 3 of 4 | 5.0 |"
    assert report.summary("none", []) == "| none | 0 | | | | |"


@pytest.mark.parametrize(
    ("values", "share", "expected"), [([1, 2, 3], 0.9, 3), (range(1, 11), 0.9, 9), ([5], 0.5, 5)]
)
def test_percentiles(values: list[int], share: float, expected: int) -> None:
    assert report.percentile(values, share) == expected


def test_large_errors_name_their_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        "X1": figure(cause="its tiles are guessed"), "X2": figure(id="X2"),
        "X3": figure(id="X3", calibrates="hbm_read"), "X4": figure(id="X4", guessed="step sizes"),
    }  # fmt: skip
    monkeypatch.setattr(report, "figures", lambda: known)
    errors = {"X1": 0.25, "X2": -0.3, "X3": 0.1, "X4": 0.2}
    rows = {name: Row(name=name, silicon_error=error) for name, error in errors.items()}
    text = "\n".join(report.misses(rows))
    assert "* **X1** (+25.0 %): its tiles are guessed\n* **X2** (-30.0 %): cause not known" in text
    assert "* X4: step sizes" in text
    assert "* X3: hbm_read" in text
    assert "**X4**" not in text
