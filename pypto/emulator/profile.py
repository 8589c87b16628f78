"""What a run cost: cycles, and for every pipe of every core a name for each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pypto.emulator.state import STALL_KINDS, WORKING_PIPES
from pypto.target.memory import CoreKind
from pypto.target.soc import Soc


@dataclass(frozen=True)
class LaunchProfile:
    """One launch on cores of these ``kinds``, those of one kind together.

    ``busy`` is int64[cores, pipes], ``stalls`` int64[cores, pipes, kinds].
    ``active`` is int64[cores, pipes]: cycles in which the pipe has an instruction under way, its
    latency included, which is what profilers on silicon count.
    ``instructions`` counts every dispatch, ``data_instructions`` those that are neither scalar
    nor synchronisation; ``hbm_read_bytes`` and ``hbm_write_bytes`` what the die moved.
    """

    name: str
    kinds: tuple[CoreKind, ...]
    cycles: int
    busy: np.ndarray
    active: np.ndarray
    stalls: np.ndarray
    pipe_instructions: np.ndarray
    instructions: int
    data_instructions: int
    hbm_read_bytes: int
    hbm_write_bytes: int

    @property
    def cores(self) -> int:
        return len(self.kinds)

    def of_kind(self) -> dict[CoreKind, slice]:
        """The cores of each kind there is; those of a kind stand together."""
        first = {kind: self.kinds.index(kind) for kind in dict.fromkeys(self.kinds)}
        return {k: slice(i, i + self.kinds.count(k)) for k, i in first.items()}

    @property
    def hbm_bytes(self) -> int:
        return self.hbm_read_bytes + self.hbm_write_bytes


@dataclass(frozen=True)
class PipeProfile:
    """One pipe summed over cores and launches; ``cycles`` are busy plus all stalls."""

    busy: int
    cycles: int
    stalls: dict[str, int]

    @property
    def utilization(self) -> float:
        return self.busy / self.cycles if self.cycles else 0.0

    def as_json(self) -> dict[str, Any]:
        return {"busy": self.busy, "utilization": self.utilization, "stalls": self.stalls}


@dataclass(frozen=True)
class Profile:
    """All launches of a run, in order. Times are of the kernels alone unless said."""

    soc: Soc
    launches: tuple[LaunchProfile, ...] = field(default=())

    @property
    def cycles(self) -> int:
        return sum(launch.cycles for launch in self.launches)

    @property
    def time_us(self) -> float:
        return self.cycles / self.soc.clock_mhz

    @property
    def task_us(self) -> float:
        """Kernel times plus the launch overhead of each."""
        return self.time_us + self.soc.launch_us * len(self.launches)

    @property
    def instructions(self) -> int:
        return sum(launch.instructions for launch in self.launches)

    @property
    def data_instructions(self) -> int:
        return sum(launch.data_instructions for launch in self.launches)

    @property
    def hbm_bytes(self) -> int:
        return sum(launch.hbm_bytes for launch in self.launches)

    @property
    def cores(self) -> int:
        """The most cores that a launch used."""
        return max((launch.cores for launch in self.launches), default=0)

    def pipes(self) -> dict[str, PipeProfile]:
        """Every pipe that ran an instruction, summed over the kinds of cores that used it."""
        found: dict[str, PipeProfile] = {}
        for i, pipe in enumerate(WORKING_PIPES):
            users = [
                (one, cores)
                for one in self.launches
                for cores in one.of_kind().values()
                if one.pipe_instructions[cores, i].sum() > 0
            ]
            if not users:
                continue
            stalls = np.sum([one.stalls[cores, i].sum(axis=0) for one, cores in users], axis=0)
            named = {k: int(n) for k, n in zip(STALL_KINDS, stalls, strict=True) if n > 0}
            busy = sum(int(one.busy[cores, i].sum()) for one, cores in users)
            cycles = sum(one.cycles * len(one.busy[cores]) for one, cores in users)
            found[pipe.value] = PipeProfile(busy, cycles, named)
        return found

    def summary(self) -> str:
        """Launches and pipes as a table for people."""
        lines = [
            f"{self.cycles} cycles, {self.time_us:.2f} us on {self.soc.name}, "
            f"{self.instructions} instructions ({self.data_instructions} on data), "
            f"{self.hbm_bytes} bytes through HBM"
        ]
        for one in self.launches:
            kinds = [f"{one.kinds.count(kind)} {kind} cores" for kind in one.of_kind()]
            lines.append(f"  {one.name}: {one.cycles} cycles on {' and '.join(kinds)}")
        for name, pipe in self.pipes().items():
            worst = sorted(pipe.stalls.items(), key=lambda item: -item[1])
            shares = ", ".join(f"{kind} {100 * n / pipe.cycles:.1f} %" for kind, n in worst)
            lines.append(f"  {name:<5} busy {100 * pipe.utilization:5.1f} %  {shares}")
        return "\n".join(lines)
