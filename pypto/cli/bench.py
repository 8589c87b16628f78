"""``pyptoc bench``: runs the suites of the folder ``benchmarks``, each a Python file."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from pypto.cli.output import print_json, print_table
from pypto.cli.progress import progress
from pypto.errors import CompileError


@dataclass(kw_only=True)
class Row:
    """One measurement; what does not apply is None. ``ok`` is False when it misses its bar.

    Of rows that silicon measured: ``silicon_error`` and ``strict_error`` are relative, the latter
    with documented constants only; ``counted`` says whether the row judges the model; ``pipes``
    and ``silicon_pipes`` are percent of the task in which a pipe is at work.
    """

    name: str
    soc: str | None = None
    shape: list[list[int]] | None = None
    dtype: str | None = None
    cycles: int | None = None
    time_us: float | None = None
    task_us: float | None = None
    utilization: float | None = None
    bound: str | None = None
    bound_us: float | None = None
    roofline_fraction: float | None = None
    baseline_us: float | None = None
    hand_us: float | None = None
    silicon_us: float | None = None
    silicon_error: float | None = None
    strict_error: float | None = None
    counted: bool | None = None
    pipes: dict[str, float] | None = None
    silicon_pipes: dict[str, float] | None = None
    host_seconds: float | None = None
    value: float | None = None
    unit: str | None = None
    bar: float | None = None
    ok: bool = True


@dataclass(frozen=True)
class Benchmark:
    """A row of a suite before it is measured; ``settings`` are the keys ``measure`` knows.

    One ``on_request`` is measured when it is named, with settings if rows begin with its name.
    """

    name: str
    summary: str
    measure: Callable[[Mapping[str, str]], Row]
    settings: tuple[str, ...] = ()
    on_request: bool = False


def bench_command(target: str, settings: tuple[str, ...], *, listing: bool, as_json: bool) -> bool:
    """Run ``SUITE``, ``SUITE.NAME`` or everything; False when a row misses its bar."""
    suite_name, _, row_name = target.partition(".")
    suites = load_suites(suite_name)
    if listing:
        list_suites(suites, as_json=as_json)
        return True
    options = parse_settings(settings)
    reports = []
    for name, suite in suites.items():
        rows = list(measure(name, suite, row_name, options))
        report = {
            "suite": name,
            "machine": machine_facts(),
            "rows": [dataclasses.asdict(row) for row in rows],
        }
        reports.append(report)
        if not as_json:
            print_rows(name, rows)
    if as_json:
        print_json(reports[0] if suite_name else reports)
    return all(row["ok"] for report in reports for row in report["rows"])


def load_suites(wanted: str) -> dict[str, tuple[Benchmark, ...]]:
    """The suites of ``benchmarks/``, or the one of a name."""
    folder = benchmark_folder()
    files = {path.stem: path for path in folder.glob("*.py") if not path.stem.startswith("_")}
    files |= {path.parent.name: path for path in folder.glob("*/__init__.py")}
    names = sorted(files)
    if wanted and wanted not in names:
        raise CompileError(
            "UNKNOWN_SUITE", f"there is no suite {wanted!r}", fix=f"name one of {', '.join(names)}"
        )
    chosen = [wanted] if wanted else names
    return {name: load_module(folder, files[name]).SUITE for name in chosen}


def benchmark_folder() -> Path:
    """``benchmarks`` in the current folder, or beside the package in a checkout."""
    for folder in (Path.cwd(), Path(__file__).parents[2]):
        if (folder / "benchmarks").is_dir():
            return folder / "benchmarks"
    raise CompileError(
        "NO_BENCHMARKS",
        "there is no folder benchmarks here",
        fix="run it in a checkout of the repository; the suites are not part of the package",
    )


def load_module(folder: Path, path: Path) -> ModuleType:
    """A suite: a file, or a package that imports its own files as ``benchmarks.NAME``."""
    if path.name == "__init__.py":
        # In front, as site-packages may hold another package of the folder's name.
        sys.path.insert(0, str(folder.parent))
        return importlib.import_module(f"{folder.name}.{path.parent.name}")
    specification = importlib.util.spec_from_file_location(f"_suite_{path.stem}", path)
    if specification is None or specification.loader is None:
        raise CompileError("NO_BENCHMARKS", f"{path} cannot be imported")
    module = importlib.util.module_from_spec(specification)
    sys.modules[module.__name__] = module
    specification.loader.exec_module(module)
    return module


def parse_settings(settings: tuple[str, ...]) -> dict[str, str]:
    """``KEY=VALUE`` words as a dictionary."""
    options = {}
    for word in settings:
        key, separator, value = word.partition("=")
        if not separator:
            raise CompileError(
                "BAD_SETTING", f"{word!r} is no setting", fix="write KEY=VALUE, for example m=512"
            )
        options[key] = value
    return options


def measure(
    suite_name: str, suite: tuple[Benchmark, ...], wanted: str, options: Mapping[str, str]
) -> Iterator[Row]:
    """The rows of a suite, or the one of a name."""
    chosen = chosen_of(suite, wanted, bool(options))
    if not chosen:
        names = [benchmark.name for benchmark in suite]
        raise CompileError(
            "UNKNOWN_BENCHMARK",
            f"suite {suite_name} has no row {wanted!r}",
            fix=f"name one of {', '.join(names)}",
        )
    for benchmark in chosen:
        check_settings(suite_name, benchmark, options)
    for benchmark in chosen:
        with progress(f"{suite_name}.{benchmark.name}: {benchmark.summary}"):
            row = benchmark.measure(options)
        yield row


def chosen_of(suite: tuple[Benchmark, ...], wanted: str, has_options: bool) -> list[Benchmark]:
    """The rows that a name asks for: one, those that begin with it, or all."""
    if not wanted:
        return [one for one in suite if not one.on_request]
    below = [one for one in suite if one.name.startswith(f"{wanted}.")]
    if below and not has_options:
        return below
    return [one for one in suite if one.name == wanted]


def check_settings(suite_name: str, benchmark: Benchmark, options: Mapping[str, str]) -> None:
    """Raise for a setting that a benchmark does not have."""
    for key in options:
        if key not in benchmark.settings:
            known = ", ".join(benchmark.settings) or "none"
            raise CompileError(
                "BAD_SETTING",
                f"{suite_name}.{benchmark.name} has no setting {key!r}",
                fix=f"its settings: {known}",
            )


def list_suites(suites: Mapping[str, tuple[Benchmark, ...]], *, as_json: bool) -> None:
    rows = [(f"{name}.{b.name}", b.summary) for name, suite in suites.items() for b in suite]
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in rows])
    else:
        print_table(("row", "what it measures"), rows)


def print_rows(name: str, rows: list[Row]) -> None:
    """The columns of a suite that any of its rows fills."""
    columns = [
        field.name
        for field in dataclasses.fields(Row)
        if any(getattr(row, field.name) is not None for row in rows)
    ]
    cells = [[cell(getattr(row, column)) for column in columns] for row in rows]
    print(f"suite {name}")
    print_table(columns, cells, numbers=[c for c in columns if c not in ("name", "unit", "ok")])


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return " ".join(f"{key} {part:.0f}" for key, part in value.items())
    if isinstance(value, list):
        return " ".join("x".join(map(str, shape)) for shape in value)
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def machine_facts() -> dict[str, Any]:
    """The host the figures were taken on."""
    import os
    import platform

    return {
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
