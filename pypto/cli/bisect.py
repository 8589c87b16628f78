"""``pyptoc bisect``: the first pass that breaks a kernel, and the smallest program it breaks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr

from pypto.cli.ir_file import read_module, read_text
from pypto.cli.kernel_file import KernelCase, load_cases
from pypto.cli.output import error_value, print_json
from pypto.dialects.constants import ConstantStore
from pypto.dialects.host import SOC
from pypto.errors import CompileError, PyptoError
from pypto.frontend.module import build_module
from pypto.passes.pipelines import PIPELINES
from pypto.runtime import signature
from pypto.runtime.bisect import Finding, Reproducer, bisect
from pypto.runtime.bisect_program import Size
from pypto.runtime.bisect_search import Progress, Report
from pypto.runtime.compiler import check_tensors, level_of
from pypto.target.soc import DEFAULT_SOC
from pypto.target.soc import soc as load_soc

Subject = tuple[ModuleOp, ConstantStore, tuple[np.ndarray, ...] | None]


def bisect_command(
    target: str, *, soc: str | None, opt_level: int, output: Path | None, as_json: bool
) -> bool:
    """Prove every pass for what the target names; False when one is broken.

    Without ``soc`` a module keeps the machine it names. With ``as_json`` a kernel that cannot be
    compiled has its error in place of what was found, and the others are searched.
    """
    subjects = subjects_of(target, soc)
    if len(subjects) > 1 and output is not None:
        raise CompileError(
            "SEVERAL_KERNELS",
            f"{target} has {len(subjects)} kernels and -o names one file",
            fix=f"name one: {target}:{next(iter(subjects))}",
        )
    rows: list[dict[str, Any]] = []
    unsaved: list[tuple[Finding | None, Path]] = []
    for name, make in subjects.items():
        head: dict[str, Any] = {"kernel": name, "soc": soc or DEFAULT_SOC, "opt_level": opt_level}
        path = output or Path(f"{name}_reproducer.mlir")
        try:
            module, constants, inputs = make()
            head["soc"] = machine_of(module)
            with watched(f"proving {name}") as report:
                pipeline = PIPELINES[f"O{opt_level}"]
                finding = bisect(module, constants, pipeline, inputs, report=report)
        except PyptoError as error:
            if not as_json:
                raise
            rows.append(head | {"ok": False, "error": error_value(error)})
            continue
        rows.append(head | as_value(finding, path))
        if as_json:
            unsaved.append((finding, path))
        else:
            print(f"{name}: {describe(finding, path)}")
            save(finding, path)
    if as_json:
        print_json(rows)
    for finding, path in unsaved:
        save(finding, path)
    return all(row["ok"] for row in rows)


def save(finding: Finding | None, path: Path) -> None:
    """Write the small program; what was found has been told before, for this may fail."""
    if finding is not None and finding.reproducer is not None:
        finding.reproducer.write(path)


def subjects_of(target: str, soc: str | None) -> dict[str, Callable[[], Subject]]:
    """By their names what makes the programs of a target, with their inputs where it has some."""
    if target == "-" or target.endswith(".mlir"):
        name = "stdin" if target == "-" else Path(target).stem
        return {name: partial(subject_of_file, target, soc)}
    machine = soc or DEFAULT_SOC
    return {case.name: partial(subject_of_case, case, machine) for case in load_cases(target)}


def machine_of(module: ModuleOp) -> str:
    """The machine a module names, else the default one."""
    known = module.attributes.get(SOC)
    return known.data if isinstance(known, StringAttr) else DEFAULT_SOC


def subject_of_file(file: str, soc: str | None) -> Subject:
    """A module of the tensor level."""
    module, constants = read_module(read_text(file), file)
    level = level_of(module)
    if level != "tensor":
        raise CompileError(
            "WRONG_LEVEL",
            f"{file} is at the {level} level; bisect starts from the tensor level",
            fix=f"prove the passes that are left with pyptoc opt {file} -p PASSES --verify-each",
        )
    prepare(module, soc or machine_of(module))
    return module, constants, None


def subject_of_case(case: KernelCase, soc: str) -> Subject:
    """A kernel on its example inputs, else on random ones of its declared types."""
    function = case.kernel.function
    types, inputs = signature.declared_types(function), None
    if case.example_inputs is not None or types is None:
        call = signature.bind(function, case.inputs(), {})
        types, inputs = call.types, tuple(call.arrays)
    module, constants = build_module(function, types, name=case.name)
    prepare(module, soc)
    return module, constants, inputs


def prepare(module: ModuleOp, soc: str) -> None:
    load_soc(soc)
    module.attributes[SOC] = StringAttr(soc)
    check_tensors(module, soc)


@contextmanager
def watched(what: str) -> Iterator[Report]:
    """Shows how far a search is on a terminal; gives what to call with its progress."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …") as status:
        yield lambda progress: status.update(f"{shown(progress)} … (Ctrl-C ends here)")


def shown(progress: Progress) -> str:
    """How far a search is, in a line."""
    size = "" if progress.size is None else f", {sized(progress.size)}"
    passes = counted(progress.passes, "pass", "passes")
    tried = counted(progress.trials, "program", "programs")
    return f"shrinking: {tried} tried, {passes}{size}"


def describe(finding: Finding | None, path: Path) -> str:
    """What was found, for people."""
    if finding is None:
        return "no pass breaks the program"
    divergence, small = finding.divergence, finding.reproducer
    lines = [f"pass '{divergence.pass_name}' breaks the program ({divergence.kind})"]
    lines += [f"  {line}" for line in finding.broken.message.splitlines()]
    if finding.broken.location is not None:
        lines.append(f"  at {finding.broken.location}")
    lines += [f"  {note}" for note in finding.broken.notes]
    if small is None:
        lines.append("  no smaller program was found")
    else:
        lines += shrunk_lines(finding, small, path)
    if not finding.is_complete:
        lines.append("  the search was cut short; a smaller program may exist")
    return "\n".join(lines)


def shrunk_lines(finding: Finding, small: Reproducer, path: Path) -> Iterator[str]:
    """How far a program was shrunk, and how to replay it."""
    if finding.size is not None and small.size is not None:
        yield f"  program: {sized(finding.size)} -> {sized(small.size)}"
    yield f"  passes: {finding.passes} -> {len(small.passes)}"
    yield f"  reproducer: {path}"
    yield f"  replay: {small.command(path)}"


def as_value(finding: Finding | None, path: Path) -> dict[str, Any]:
    """What was found, for programs."""
    if finding is None:
        return {"ok": True}
    divergence, small = finding.divergence, finding.reproducer
    return {
        "ok": False,
        "pass": divergence.pass_name,
        "kind": divergence.kind,
        "message": finding.broken.message,
        "result": divergence.result,
        "position": divergence.position,
        "before": divergence.before,
        "after": divergence.after,
        "size": size_value(finding.size) | {"passes": finding.passes},
        "reproducer": small
        and {
            "path": str(path),
            "command": small.command(path),
            **size_value(small.size),
            "passes": len(small.passes),
        },
        "trials": finding.trials,
        "complete": finding.is_complete,
    }


def size_value(size: Size | None) -> dict[str, int | None]:
    if size is None:
        return {"operators": None, "elements": None}
    return {"operators": size.operators, "elements": size.elements}


def sized(size: Size) -> str:
    operators = counted(size.operators, "operator", "operators")
    return f"{operators} on up to {counted(size.elements, 'element', 'elements')}"


def counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
