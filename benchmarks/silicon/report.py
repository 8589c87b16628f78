"""Writes docs/accuracy.md: ``python -m benchmarks.silicon.report docs/accuracy.md``.

Every row as it is: measured, emulated, the error, the error with strict figures, pipes.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.silicon import FAMILIES
from benchmarks.silicon.family import MISS, Family
from benchmarks.silicon.figures import DATA, Figure, figures
from pypto.cli.bench import Row
from pypto.cli.progress import progress

INTRODUCTION = """\
# Accuracy

How far the emulator is from measured silicon, row by row. Written by
`python -m benchmarks.silicon.report docs/accuracy.md` from `pyptoc bench silicon`;
[timing-model.md](timing-model.md) says what is modelled.

A row is a program of a public source, with the shape and the schedule of that source, written with
the builder of `pypto/target/structured.py` and fixed before its first run. Large ones run without
values. L2 is cold; for attention it is warm, as its source fills it first. Rows in microseconds
compare whole tasks, as profilers show them: kernel, `launch_us` of the SoC, and 7 us of prologue
where the source's figure holds one (msprof tasks of asc-devkit and of pto-isa's matrix
multiplications). Rows in cycles compare instructions, or a tile of a stage of attention.

`C`: the row stands behind a constant of the SoC file. `G`: part of its schedule is not public.
Neither is counted. *Strict* is the error with figures that only documents and the rows V2, V9,
V11 and G2 stand behind. Pipes are percent of the task, emulated (measured).

Figures are facts restated from public repositories, some of them under the CANN Open Software
License 2.0; no code or text was taken. The files `benchmarks/silicon/data/figures*.toml` name the
source of each.
"""


def error_of(row: Row) -> float:
    assert row.silicon_error is not None
    return row.silicon_error


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that is not below a share of them."""
    ordered = sorted(values)
    return ordered[ceil(share * len(ordered)) - 1]


def percent(value: float) -> str:
    return f"{100 * value:+.1f}"


def number(value: float) -> str:
    """Four digits that count."""
    return f"{value:.4g}" if value < 10_000 else f"{value:.0f}"


def mark(figure: Figure) -> str:
    return " ".join(
        letter for letter, text in (("C", figure.calibrates), ("G", figure.guessed)) if text
    )


def pipes(row: Row) -> str:
    """Pipes that silicon measured, or all, as percent of the task."""
    found, measured = row.pipes or {}, row.silicon_pipes or {}
    names = list(measured) or list(found)
    return ", ".join(
        f"{name} {found.get(name, 0):.0f}"
        + (f" ({measured[name]:.0f})" if name in measured else "")
        for name in names
    )


def line(figure: Figure, row: Row) -> str:
    """One row of a table."""
    emulated = figure.value * (1 + error_of(row))
    assert row.strict_error is not None
    cells = (
        figure.id, figure.what, number(figure.value), number(emulated),
        percent(error_of(row)), percent(row.strict_error),
        "" if figure.unit == "cycles" or figure.pipe else pipes(row), mark(figure),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def table(family: Family, rows: Mapping[str, Row]) -> list[str]:
    """The rows of a family, those in microseconds and those in cycles apart."""
    known = figures()
    lines = [f"### {family.name}: {family.summary}", ""]
    for unit in ("us", "cycles"):
        names = [name for name in family.rows if known[name].unit == unit]
        if names:
            lines += [
                f"| row | what | measured {unit} | emulated | error % | strict % | pipes | |",
                "|---|---|---|---|---|---|---|---|",
                *(line(known[name], rows[name]) for name in names),
                "",
            ]
    return lines


def summary(title: str, rows: Sequence[Row]) -> str:
    """A row of the table of medians."""
    if not rows:
        return f"| {title} | 0 | | | | |"
    errors = [abs(error_of(row)) for row in rows]
    tight = [abs(row.strict_error or 0.0) for row in rows]
    near = sum(error <= MISS for error in errors)
    figures_of_rows = [100 * median(errors), 100 * percentile(errors, 0.9), 100 * median(tight)]
    middle, most, strictly = (f"{value:.1f}" for value in figures_of_rows)
    cells = (title, str(len(rows)), middle, most, f"{near} of {len(rows)}", strictly)
    return f"| {' | '.join(cells)} |"


def summaries(rows: Mapping[str, Row]) -> list[str]:
    """Medians over the rows that count."""
    known = figures()
    counted = {name: row for name, row in rows.items() if known[name].counted}
    kinds: dict[str, list[Row]] = {"kernels": [], "single pipes of kernels": [], "instructions": []}
    for name, row in counted.items():
        kernel = "single pipes of kernels" if known[name].pipe else "kernels"
        kinds["instructions" if known[name].unit == "cycles" else kernel].append(row)
    by_family = [
        summary(family.name, [counted[name] for name in family.rows if name in counted])
        for family in FAMILIES
        if any(name in counted for name in family.rows)
    ]
    return [
        "## Summary", "",
        "Absolute errors in percent over the rows that calibrate nothing and whose schedule is "
        "public.", "",
        "| rows | count | median | nine of ten within | within 20 % | median, strict |",
        "|---|---|---|---|---|---|",
        *(summary(f"**{kind}**", chosen) for kind, chosen in kinds.items()),
        *by_family,
        "",
    ]  # fmt: skip


def misses(rows: Mapping[str, Row]) -> list[str]:
    """What lies behind errors above 20 %, guesses and calibration."""
    known = figures()
    causes = [
        f"* **{name}** ({percent(error_of(row))} %): {known[name].cause or 'cause not known'}"
        for name, row in rows.items()
        if abs(error_of(row)) > MISS
    ]
    guesses = [f"* {name}: {known[name].guessed}" for name in rows if known[name].guessed]
    stands: dict[str, list[str]] = {}
    for name in rows:
        if known[name].calibrates:
            stands.setdefault(known[name].calibrates, []).append(name)
    calibration = [f"* {', '.join(names)}: {text}" for text, names in stands.items()]
    sections = {
        "Misses above 20 %": causes,
        "What had to be guessed": guesses,
        "What calibration rows stand behind": calibration,
    }
    return [
        part
        for title, items in sections.items()
        for part in (f"## {title}", "", *(items or ["None."]), "")
    ]


@cache
def read(name: str) -> Mapping[str, Any]:
    return tomllib.loads((DATA / name).read_text())


def strict_figures() -> list[str]:
    lines = ["## Strict figures", "", "| figure | value | cause |", "|---|---|---|"]
    for name, entry in read("strict.toml").items():
        lines.append(f"| `{name}` | {entry['value']} | {entry['source']} |")
    return [*lines, ""]


def unmodelled() -> list[str]:
    """Published measurements for which there is no row."""
    lines = ["## Not yet modelled", ""]
    for name, entry in read("wanted.toml").items():
        prefix = entry.get("stands_as", name)
        if not any(re.fullmatch(rf"{prefix}([a-z_].*)?", known) for known in figures()):
            lines.append(f"* {name}: {entry['what']}: {entry.get('why', 'no program yet')}")
    for name, entry in read("golden_left_out.toml").items():
        lines.append(f"* tile operator {name}: {entry['why']}")
    return [*lines, ""]


def report(rows: Mapping[str, Row]) -> str:
    """The whole page; ``rows`` by the id of their figure."""
    tables = [text for family in FAMILIES for text in table(family, rows)]
    parts = [
        INTRODUCTION, *summaries(rows), "## Rows", "", *tables, *misses(rows), *strict_figures(),
        *unmodelled(),
    ]  # fmt: skip
    return "\n".join(parts).rstrip() + "\n"


def measure_all() -> dict[str, Row]:
    """Every row of every family."""
    rows: dict[str, Row] = {}
    for family in FAMILIES:
        for name in family.rows:
            with progress(f"{family.name}.{name}"):
                rows[name] = family.row(name, {})
    return rows


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(report(measure_all()))
