"""Searches the smallest program and pipeline that one pass still breaks in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pypto.dialects.constants import ConstantStore
from pypto.dialects.context import parse_module, print_module
from pypto.errors import CompileError
from pypto.ops.types import tensor_type_of
from pypto.passes.driver import parse_passes
from pypto.passes.pipelines import O0
from pypto.runtime import bisect_simpler as simpler
from pypto.runtime.bisect_program import Program, Size, build_program, read_program
from pypto.runtime.compiler import Stage, run_passes
from pypto.runtime.prove import BrokenPass, Divergence, prove

# Where errors point to while programs are tried.
TRIED = "reproducer.mlir"


@dataclass(frozen=True)
class Limits:
    """When a search ends at the latest; it never stops a proof that has begun."""

    trials: int = 400
    seconds: float = 120.0


@dataclass(frozen=True)
class Progress:
    """How far a search is."""

    trials: int
    size: Size | None
    passes: int


Report = Callable[[Progress], None]


class Trials:
    """Proves candidates, and counts: does the same pass break them in the same way?

    A candidate is tried as the text that would be written. When the limits are reached, or the
    user has pressed Ctrl-C, no candidate fails any more, so that a search ends with what it has.
    """

    def __init__(self, wanted: Divergence, limits: Limits) -> None:
        self.wanted = wanted
        self.limits = limits
        self.count = 0
        self.is_complete = True
        self._start = time.monotonic()
        self._known: dict[tuple[str, str], bool] = {}

    def fails(self, text: str, constants: ConstantStore, passes: Sequence[str]) -> bool:
        """Whether the proof of a module still names the wanted pass."""
        pipeline = ",".join(passes)
        if (text, pipeline) not in self._known:
            late = time.monotonic() - self._start > self.limits.seconds
            if late or self.count >= self.limits.trials:
                self.is_complete = False
            if not self.is_complete:
                return False
            self.count += 1
            try:
                found = divergence_of(parse_module(text, TRIED), constants, pipeline)
            except KeyboardInterrupt:
                self.is_complete = False
                return False
            self._known[text, pipeline] = found is not None and self._is_wanted(found)
        return self._known[text, pipeline]

    def _is_wanted(self, found: Divergence) -> bool:
        return (found.pass_name, found.kind) == (self.wanted.pass_name, self.wanted.kind)


def divergence_of(module: ModuleOp, constants: ConstantStore, pipeline: str) -> Divergence | None:
    """What the first broken pass does to a module on random inputs.

    None as well when the module is not what the pipeline takes.
    """
    try:
        prove(module, constants, pipeline)
    except BrokenPass as broken:
        return broken.divergence
    except CompileError:
        return None
    return None


def written(program: Program) -> tuple[str, ConstantStore]:
    """The text of a program, and its constants."""
    constants = ConstantStore()
    return print_module(build_program(program, constants), locations=False), constants


def fewer_passes(
    passes: Sequence[str], fails: Callable[[tuple[str, ...]], bool]
) -> tuple[str, ...]:
    """The passes without those in front of the last one that are not needed."""
    *left, broken = passes
    if left and fails((broken,)):
        return (broken,)
    for place in reversed(range(len(left))):
        rest = (*left[:place], *left[place + 1 :])
        if rest and fails((*rest, broken)):
            left = list(rest)
    return (*left, broken)


def is_needed(one: str) -> bool:
    """Whether later passes rely on a pass: at level 0 there is no other that ensures something."""
    found = parse_passes(one)[0]
    return bool(found.ensures) and found.name in {needed.name for needed in parse_passes(O0)}


class Search:
    """Makes a failing program and its pipeline smaller and smaller.

    The last of ``passes`` is the broken one. A pass that others need is left out only where it has
    nothing to do: what another pass makes of a program that is not ready for it says nothing.
    """

    def __init__(
        self, program: Program, passes: Sequence[str], trials: Trials, report: Report
    ) -> None:
        self.program = program
        self.passes = tuple(passes)
        self.trials = trials
        self.report = report
        self.needed: tuple[str, ...] = ()

    def run(self) -> None:
        """Change the program and the passes until nothing makes them smaller, or Ctrl-C."""
        try:
            self._shrink()
        except KeyboardInterrupt:
            self.trials.is_complete = False

    def _shrink(self) -> None:
        last = max(index for index, _ in self.programs())
        self.needed = tuple(filter(is_needed, self.passes[:last]))
        self.first(simpler.with_small_extents)
        self.start_late()
        before = ""
        while before != (before := written(self.program)[0] + ",".join(self.passes)):
            self.fewer_steps()
            self.fewer_passes()
            self.fewer_results()
            self.repeat(simpler.without_one_step)
            self.repeat(simpler.with_fewer_constants)
            self.repeat(simpler.with_simpler_numbers)
            for extent in simpler.extents_of(self.program):
                self.first(lambda program, e=extent: simpler.with_smaller_extent(program, e))
            self.repeat(simpler.with_shorter_axis)

    def accepts(self, candidate: Program, passes: Sequence[str] | None = None) -> bool:
        """Go on from a candidate if it fails."""
        passes = self.passes if passes is None else passes
        constants = ConstantStore()
        try:
            module = build_program(candidate, constants)
        except CompileError:
            return False
        rebuilt = read_program(module, constants)
        if rebuilt is None or len(rebuilt.steps) > len(candidate.steps):
            return False
        text = print_module(module, locations=False)
        if not self.is_ready(text, constants, passes):
            return False
        if not self.trials.fails(text, constants, passes):
            return False
        self.program, self.passes = rebuilt, tuple(passes)
        self.report(Progress(self.trials.count, rebuilt.size, len(self.passes)))
        return True

    def programs(self) -> list[tuple[int, Program]]:
        """The program before the first pass and behind others, while it is one function."""
        found: list[tuple[int, Program]] = []

        def see(stage: Stage) -> None:
            program = read_program(stage.module, stage.constants)
            if program is not None:
                found.append((stage.step.index, program))

        text, constants = written(self.program)
        before = ",".join(self.passes[:-1])
        run_passes(parse_module(text, TRIED), constants, before, observer=see)
        return found

    def is_ready(self, text: str, constants: ConstantStore, passes: Sequence[str]) -> bool:
        """Whether the needed passes that were left out have nothing to do."""
        if not any(parse_passes(one)[0].requires for one in passes):
            return True
        left_out = [one for one in self.needed if one not in passes]
        module = parse_module(text, TRIED)
        try:
            run_passes(module, constants, ",".join(left_out))
        except CompileError:
            return False
        return print_module(module, locations=False) == text

    def start_late(self) -> None:
        """Begin behind passes that are proven, as late as possible."""
        for index, program in reversed(self.programs()):
            if self.accepts(program, self.passes[index:]):
                return

    def first(self, ways: Callable[[Program], Iterator[Program]]) -> bool:
        """Go on from the first of the simpler programs that fails."""
        return any(map(self.accepts, ways(self.program)))

    def repeat(self, ways: Callable[[Program], Iterator[Program]]) -> None:
        """Make the program simpler in one way as often as possible."""
        while self.first(ways):
            pass

    def fewer_steps(self) -> None:
        program = self.program
        simpler.minimise(
            range(len(program.steps)), lambda kept: self.accepts(simpler.cut(program, kept))
        )

    def fewer_results(self) -> None:
        program = self.program
        simpler.minimise(
            program.results, lambda kept: self.accepts(simpler.with_results(program, kept))
        )

    def fewer_passes(self) -> None:
        program = self.program
        fewer_passes(self.passes, lambda passes: self.accepts(program, passes))


def frozen(program: Program, inputs: Sequence[np.ndarray]) -> Program:
    """The program with its inputs as constants."""
    arrays = dict(zip(program.arguments, inputs, strict=True))
    types = {ref: tensor_type_of(array) for ref, array in arrays.items()}
    return replace(
        program,
        arguments=(),
        constants={**arrays, **program.constants},
        types={**program.types, **types},
    )
