"""Families of programs for the silicon comparison, and the rows that come from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.silicon.figures import Figure, figures, machine_of, strict
from pypto.cli.bench import Benchmark, Row
from pypto.emulator.profile import Profile
from pypto.emulator.run import run
from pypto.emulator.state import WORKING_PIPES
from pypto.errors import CompileError
from pypto.target.executable import Executable
from pypto.target.memory import Pipe
from pypto.target.soc import Soc, soc

Setting = int | str
Settings = Mapping[str, Setting]
MISS = 0.2  # errors beyond it need a cause


@dataclass(frozen=True)
class Outcome:
    """What the emulator took: ``cycles`` of an instruction, or the profile of a run."""

    cycles: float
    profile: Profile | None = None

    def value(self, figure: Figure) -> float:
        """The figure as the emulator has it."""
        if figure.unit == "cycles":
            return self.cycles
        assert self.profile is not None
        if figure.pipe:
            return pipe_us(self.profile, figure.pipe)
        return self.profile.task_us + figure.prologue_us


@dataclass(frozen=True, kw_only=True)
class Family:
    """Programs with shape and schedule as settings; ``rows`` are those that silicon measured.

    ``rows`` maps the id of a figure to the settings that its source fixes, where they are not
    those of ``settings``. ``rows_only``: programs are right for the settings of rows alone.
    """

    name: str
    summary: str
    settings: Settings
    measure: Callable[[Soc, Settings], Outcome]
    rows: Mapping[str, Settings]
    rows_only: bool = False

    def benchmarks(self) -> tuple[Benchmark, ...]:
        """One entry for any settings, and one for each row."""
        any_settings = Benchmark(
            self.name,
            self.summary,
            self.row_of_settings,
            settings=("soc", *self.settings),
            on_request=True,
        )
        rows = (
            Benchmark(
                f"{self.name}.{name}", figures()[name].what, partial(self.row, name), settings=()
            )
            for name in self.rows
        )
        return any_settings, *rows

    def all_settings(self) -> list[Settings]:
        """The settings of every row, and those of none."""
        return [self.settings, *({**self.settings, **row} for row in self.rows.values())]

    def row_of_settings(self, given: Mapping[str, str]) -> Row:
        """A row for settings of the command line."""
        machine = soc(given.get("soc", "ascend910b1"))
        words = {name: word for name, word in given.items() if name != "soc"}
        settings = {**self.settings, **{n: _setting(self, n, w) for n, w in words.items()}}
        if self.rows_only and settings not in self.all_settings():
            named = ", ".join(f"{name} = {value}" for name, value in settings.items())
            raise _bad(self, named, f"name a row: pyptoc bench silicon.{self.name} --list")
        start = time.perf_counter()
        outcome = self.measure(machine, settings)
        return _row(self.name, machine, outcome, time.perf_counter() - start)

    def row(self, name: str, given: Mapping[str, str]) -> Row:
        """A row of silicon, beside the same with the strict constants."""
        figure, settings = figures()[name], {**self.settings, **self.rows[name]}
        machine = machine_of(figure)
        start = time.perf_counter()
        outcome = self.measure(machine, settings)
        seconds = time.perf_counter() - start
        outcome_strict = self.measure(strict(machine), settings)
        made = _row(f"{self.name}.{name}", machine, outcome, seconds)
        made.silicon_us = figure.value
        if figure.unit == "cycles":
            made.silicon_us = figure.value / machine.clock_mhz
            made.cycles = round(outcome.cycles)
        made.silicon_error = outcome.value(figure) / figure.value - 1
        made.strict_error = outcome_strict.value(figure) / figure.value - 1
        made.counted = figure.counted
        made.silicon_pipes = dict(figure.pipes) or None
        if figure.unit == "us" and not figure.pipe:
            made.task_us = outcome.value(figure)
        if figure.bar is not None:
            made.bar = figure.bar
            made.ok = abs(made.silicon_error) <= figure.bar
        return made


def _setting(family: Family, name: str, word: str) -> Setting:
    """The value of a setting, one that the program is known to take.

    Words are those of the family's rows; integers are not negative, and 0 only where a row says so.
    """
    used = {settings[name] for settings in family.all_settings()}
    if isinstance(family.settings[name], str):
        known = used | ({"yes", "no"} if used & {"yes", "no"} else set())
        if word not in known:
            raise _bad(
                family, f"{name} = {word!r}", f"name one of {', '.join(sorted(map(str, known)))}"
            )
        return word
    least = 0 if 0 in used else 1
    if not word.isdecimal() or int(word) < least:
        raise _bad(family, f"{name} = {word!r}", f"give an integer from {least} on")
    return int(word)


def _bad(family: Family, what: str, fix: str) -> CompileError:
    return CompileError("BAD_SETTING", f"silicon.{family.name} takes no {what}", fix=fix)


def _row(name: str, machine: Soc, outcome: Outcome, seconds: float) -> Row:
    profile = outcome.profile
    made = Row(name=name, soc=machine.name, cycles=round(outcome.cycles), host_seconds=seconds)
    if profile is not None:
        made.time_us = profile.time_us
        made.task_us = profile.task_us
        made.pipes = pipe_shares(profile)
    return made


def base_name(machine: Soc) -> str:
    """The name of the SoC that a machine varies."""
    return machine.name.split()[0]


def active_cycles(outcome: Outcome, pipe: Pipe, calls: int = 1) -> Outcome:
    """The same run, whose cycles are those in which a pipe of core 0 was at work, per call."""
    assert outcome.profile is not None
    launch = outcome.profile.launches[-1]
    return Outcome(float(launch.active[0, WORKING_PIPES.index(pipe)]) / calls, outcome.profile)


def pipe_us(profile: Profile, pipe: str) -> float:
    """How long a pipe has an instruction under way, as a mean over the cores that use it."""
    column = [one.value for one in WORKING_PIPES].index(pipe)
    cycles = 0.0
    for one in profile.launches:
        users = one.pipe_instructions[:, column] > 0
        if users.any():
            cycles += float(one.active[users, column].mean())
    return cycles / profile.soc.clock_mhz


def pipe_shares(profile: Profile) -> dict[str, float]:
    """Percent of the task's time in which each pipe has an instruction under way."""
    shares = {
        pipe.value: round(100 * pipe_us(profile, pipe.value) / profile.task_us, 1)
        for pipe in WORKING_PIPES[1:]
    }
    return {pipe: share for pipe, share in shares.items() if share}


def timed(executable: Executable, machine: Soc) -> Outcome:
    """The time of a run that computes no values, with a cold L2."""
    shapes = [executable.buffers[number].resolved_shape(()) for number in executable.inputs]
    dtypes = [executable.buffers[number].dtype.numpy for number in executable.inputs]
    inputs = [
        np.broadcast_to(np.zeros((), dtype), shape)
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    profile = run(executable, inputs, timing_only=True, machine=machine).profile
    return Outcome(profile.cycles, profile)
