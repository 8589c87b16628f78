"""Runs a pipeline string over a module: clear errors, verification, a look behind every pass."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, VerifyException

from pypto.dialects.verify import verify_module
from pypto.errors import CompileError
from pypto.passes import PASSES
from pypto.passes.base import Pass
from pypto.passes.pipelines import PIPELINES


@dataclass(frozen=True)
class Step:
    """A point in a run: ``name`` of the pass that just ran (``input`` before the first).

    ``done`` and ``remaining`` are pipeline strings: what has run and what is still to run.
    """

    index: int
    name: str
    done: str
    remaining: str


Observer = Callable[[ModuleOp, Step], None]


def parse_passes(pipeline: str) -> tuple[Pass, ...]:
    """The passes of a pipeline string; a level (``O2``) may stand where a pass may."""
    try:
        specs = list(parse_pipeline(re.sub(r"(^|,)\s+", r"\1", pipeline.rstrip())))
    except ArgSpecParseError as error:
        raise CompileError(
            "PIPELINE_SYNTAX",
            f"cannot read the pipeline {pipeline!r}: {str(error).splitlines()[-1].strip()}",
            fix="write 'pass{option=value option=value},pass'",
        ) from error
    passes: list[Pass] = []
    for spec in specs:
        if spec.name in PIPELINES and not spec.parameters:
            passes.extend(parse_passes(PIPELINES[spec.name]))
        else:
            passes.append(_pass_of(spec))
    return tuple(passes)


def _pass_of(spec: ArgSpec) -> Pass:
    entry = next((one for one in PASSES if one.name == spec.name), None)
    if entry is None:
        names = [*(one.name for one in PASSES), *PIPELINES]
        raise CompileError(
            "UNKNOWN_PASS",
            f"there is no pass {spec.name!r}",
            notes=(f"passes: {', '.join(names)}",),
            fix=_closest(spec.name, names),
        )
    pass_type = entry.load()
    options = [field.name.replace("_", "-") for field in dataclasses.fields(pass_type)]
    for option in spec.parameters:
        if option.replace("_", "-") not in options:
            raise CompileError(
                "UNKNOWN_PASS_OPTION",
                f"pass {spec.name!r} has no option {option!r}",
                notes=(f"options: {', '.join(options) or 'none'}",),
                fix=_closest(option, options),
            )
    try:
        return pass_type.from_spec(spec)
    except ValueError as error:
        raise CompileError("PASS_OPTION_VALUE", f"pass {spec.name!r}: {error}") from error


def _closest(name: str, names: Iterable[str]) -> str | None:
    found = difflib.get_close_matches(name, list(names), n=1)
    return f"did you mean {found[0]!r}?" if found else None


def needs(one: Pass) -> tuple[str, ...]:
    """What a pass requires of a module, as a note; none when it takes any module."""
    return (f"{one.name} requires: {one.requires}",) if one.requires else ()


class Guard:
    """Watches a run: applies the passes and judges the module before and behind them.

    This one verifies the module before the first pass, and behind the first and the last.
    """

    def begin(self, module: ModuleOp) -> None:
        """Judge the module before the first pass."""
        verify_module(module, "the input of the pipeline")

    def apply(self, one: Pass, context: Context, module: ModuleOp) -> None:
        """Run one pass."""
        try:
            one.apply(context, module)
        except VerifyException as error:
            raise CompileError(
                "PASS_FAILED", f"pass {one.name!r} failed: {error}", notes=needs(one)
            ) from error

    def judge(self, one: Pass, module: ModuleOp, step: Step) -> None:
        """Raise for a pass that broke the module."""
        if step.index == 1 or not step.remaining:
            verify_module(module, f"the module behind pass {one.name!r}")


def run_pipeline(
    module: ModuleOp,
    pipeline: str,
    context: Context,
    *,
    after_pass: Observer | None = None,
    guard: Guard | None = None,
) -> None:
    """Run ``pipeline`` over ``module`` in place.

    ``after_pass`` sees the module before the first pass and after every pass, before it is judged.
    """
    guard = guard or Guard()
    passes = parse_passes(pipeline)
    texts = [str(one) for one in passes]
    observe = after_pass or (lambda module, step: None)
    guard.begin(module)
    observe(module, Step(0, "input", "", ",".join(texts)))
    for index, one in enumerate(passes, start=1):
        step = Step(index, one.name, ",".join(texts[:index]), ",".join(texts[index:]))
        try:
            guard.apply(one, context, module)
            observe(module, step)
            guard.judge(one, module, step)
        except CompileError as error:
            if f"pass {one.name!r}" not in error.message:
                error.notes += (f"in pass {one.name!r}",)
            raise
