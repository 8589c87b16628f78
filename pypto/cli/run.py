"""``pyptoc run``: compiles the kernels of a file, runs and compares them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pypto.cli.kernel_file import KernelCase, load_cases
from pypto.cli.output import error_value, print_json
from pypto.cli.progress import progress
from pypto.errors import PyptoError
from pypto.runtime import signature
from pypto.runtime.compare import compare
from pypto.runtime.profile import Profile


def run_command(
    target: str,
    *,
    soc: str,
    opt_level: int,
    check: bool,
    as_json: bool,
    timeline: Path | None,
    verify_each: bool,
    use_cache: bool,
) -> bool:
    """Run every kernel the target names; False when a result is out of its tolerance.

    With ``as_json`` a kernel that fails has its error in place of its figures, and the others run.
    """
    cases = load_cases(target)
    rows: list[dict[str, Any]] = []
    for case in cases:
        path = timeline
        if timeline is not None and len(cases) > 1:
            path = timeline.with_name(f"{timeline.stem}_{case.name}{timeline.suffix}")
        try:
            profile = run_case(case, soc, opt_level, check, path, verify_each, use_cache)
        except PyptoError as error:
            if not as_json:
                raise
            rows.append({"kernel": case.name, "soc": soc, "opt_level": opt_level, "ok": False})
            rows[-1]["error"] = error_value(error)
            continue
        rows.append(profile.as_json())
        if not as_json:
            print(profile.table(), end="\n" if case is cases[-1] else "\n\n")
    if as_json:
        print_json(rows)
    return all(row["ok"] for row in rows)


def run_case(
    case: KernelCase,
    soc: str,
    opt_level: int,
    check: bool,
    timeline: Path | None,
    verify_each: bool,
    use_cache: bool,
) -> Profile:
    """Run one kernel on its example inputs and compare the results."""
    kernel = case.kernel.with_options(
        soc=soc, opt_level=opt_level, verify_each=verify_each, use_cache=use_cache
    )
    inputs = case.inputs()
    doing = "proving and running" if verify_each else "running"
    with progress(f"{doing} {case.name}"):
        run = kernel.run(inputs, check_hazards=check, timeline=timeline)
        call = signature.bind(kernel.function, inputs, {})
        accuracy = compare(
            kernel.function, call.known_types, call.arrays, run.results, case.expected(inputs)
        )
    return run.profile.with_accuracy(accuracy)
