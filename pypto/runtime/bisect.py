"""Finds the first pass that breaks a program, and the smallest program it breaks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pypto.dialects.constants import ConstantStore
from pypto.dialects.context import print_module
from pypto.passes.driver import parse_passes
from pypto.runtime.bisect_program import Program, Size, read_program
from pypto.runtime.bisect_search import (
    Limits,
    Report,
    Search,
    Trials,
    fewer_passes,
    frozen,
    written,
)
from pypto.runtime.prove import BrokenPass, Divergence, prove


@dataclass(frozen=True)
class Reproducer:
    """A module and the passes that break it; ``size`` is None when it is no plain program."""

    module: str
    constants: ConstantStore
    passes: tuple[str, ...]
    size: Size | None

    def command(self, path: Path) -> str:
        """The command that replays it from a file."""
        return f"pyptoc opt {shlex.quote(str(path))} -p '{','.join(self.passes)}' --verify-each"

    def write(self, path: Path) -> None:
        """Write the file, its constants beside it; the first line is the command."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// {self.command(path)}\n{self.module}", encoding="utf-8")
        self.constants.save(path.parent)


@dataclass(frozen=True)
class Finding:
    """A broken pass: how the proof of the whole program named it, and the smallest program.

    ``reproducer`` is None when random inputs do not show it and no constants do.
    ``is_complete`` says that the search was not cut short.
    """

    broken: BrokenPass
    reproducer: Reproducer | None
    size: Size | None
    passes: int
    trials: int
    is_complete: bool

    @property
    def divergence(self) -> Divergence:
        """What the pass does to the whole program."""
        return self.broken.divergence


def bisect(
    module: ModuleOp,
    constants: ConstantStore,
    pipeline: str,
    inputs: Sequence[np.ndarray] | None = None,
    *,
    limits: Limits | None = None,
    report: Report = lambda progress: None,
) -> Finding | None:
    """The first pass of ``pipeline`` that breaks a module, None when all keep it.

    Raises:
        CompileError: the program cannot be compiled, whatever the passes do.
    """
    try:
        prove(module.clone(), constants, pipeline, inputs)
    except BrokenPass as broken:
        found = broken
    else:
        return None
    passes = tuple(str(one) for one in parse_passes(pipeline))
    trials = Trials(found.divergence, limits or Limits())
    program = read_program(module, constants)
    if program is None:
        text = print_module(module, locations=False)
        reproducer = shrunk_pipeline(text, constants, passes, trials)
    else:
        reproducer = shrunk(program, inputs, passes, trials, report)
    size = None if program is None else program.size
    return Finding(found, reproducer, size, len(passes), trials.count, trials.is_complete)


def shrunk(
    program: Program,
    inputs: Sequence[np.ndarray] | None,
    passes: tuple[str, ...],
    trials: Trials,
    report: Report,
) -> Reproducer | None:
    """The smallest program and pipeline; inputs that matter become constants."""
    starts = [program] if inputs is None else [program, frozen(program, inputs)]
    for start in starts:
        needed = broken_prefix(*written(start), passes, trials)
        if needed is not None:
            search = Search(start, needed, trials, report)
            search.run()
            text, constants = written(search.program)
            return Reproducer(text, constants, search.passes, search.program.size)
    return None


def shrunk_pipeline(
    text: str, constants: ConstantStore, passes: tuple[str, ...], trials: Trials
) -> Reproducer | None:
    """The module as it is with the fewest passes."""
    needed = broken_prefix(text, constants, passes, trials)
    if needed is None:
        return None
    fewest = fewer_passes(needed, lambda some: trials.fails(text, constants, some))
    return Reproducer(text, constants, fewest, None)


def broken_prefix(
    text: str, constants: ConstantStore, passes: Sequence[str], trials: Trials
) -> tuple[str, ...] | None:
    """The passes up to the first of the broken pass's name that fails, None when none does."""
    for end, one in enumerate(passes, start=1):
        is_named = parse_passes(one)[0].name == trials.wanted.pass_name
        if is_named and trials.fails(text, constants, passes[:end]):
            return tuple(passes[:end])
    return None
