"""What the checker says: hazards with both instructions, the bytes, and a cure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from pypto.target.clocks import EVENT_PAIRS
from pypto.target.memory import CoreKind, Pipe, Space


class HazardKind(StrEnum):
    """What is wrong."""

    RACE = "RACE"
    DOUBLE_SET = "DOUBLE_SET"
    WAIT_BEFORE_SET = "WAIT_BEFORE_SET"
    UNBALANCED = "UNBALANCED"
    NOT_DRAINED = "NOT_DRAINED"
    DEADLOCK = "DEADLOCK"
    UNINIT_READ = "UNINIT_READ"
    UNWRITTEN = "UNWRITTEN"
    CROSS_OVERFLOW = "CROSS_OVERFLOW"
    CROSS_MIXED = "CROSS_MIXED"
    STALE_DCACHE = "STALE_DCACHE"
    DCACHE_DIRTY = "DCACHE_DIRTY"
    OUT_OF_BOUNDS = "OUT_OF_BOUNDS"
    ILLEGAL_OPERAND = "ILLEGAL_OPERAND"


CORES_CURE = "give the bytes to one core only, or split the work into two launches"
CROSS_CURE = (
    "put `ffts_cross_core_sync` after the first, on its pipe, and `wait_flag_dev` before the second"
)


@dataclass(frozen=True)
class Site:
    """One executed instruction. ``number`` counts what its core dispatched, from 0."""

    mnemonic: str
    pipe: Pipe
    core: int
    row: int
    line: str
    number: int

    def __str__(self) -> str:
        place = f"row {self.row}" + (f", {self.line}" if self.line else "")
        return f"{self.mnemonic} on {self.pipe} of core {self.core} ({place})"


@dataclass(frozen=True)
class Hazard:
    """One finding per pair of rows; ``count`` says how often it was seen.

    ``detail`` is RAW, WAR or WAW of a race, ``happened`` or ``latent`` of a double set and of a
    counter that is too high.
    ``start``..``stop`` are the bytes of ``space``, all occurrences together. ``warning``: wrong
    in compiled code only.
    """

    kind: HazardKind
    second: Site
    first: Site | None = None
    detail: str = ""
    space: Space | None = None
    buffer: str = ""
    start: int = 0
    stop: int = 0
    message: str = ""
    cure: str = ""
    count: int = 1
    warning: bool = False

    @property
    def code(self) -> str:
        """The stable name: ``RACE_RAW``, ``DEADLOCK``."""
        return f"{self.kind}_{self.detail.upper()}" if self.detail else str(self.kind)

    def __str__(self) -> str:
        head = f"{'warning' if self.warning else 'error'}[{self.code}]: {self.message}"
        lines = [head]
        if self.space is not None:
            where = f" of {self.buffer}" if self.buffer else ""
            lines.append(f"  bytes {self.start}..{self.stop - 1} of {self.space}{where}")
        if self.first is not None:
            lines.append(f"  first:  {self.first}")
        lines.append(f"  {'second: ' if self.first is not None else 'at: '}{self.second}")
        if self.count > 1:
            lines.append(f"  seen {self.count} times")
        if self.cure:
            lines.append(f"  cure: {self.cure}")
        return "\n".join(lines)


class Report:
    """Collects hazards, one per kind, detail and pair of rows, in order of appearance."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Hazard] = {}

    def add(self, hazard: Hazard) -> None:
        first = hazard.first.row if hazard.first is not None else None
        key = (hazard.kind, hazard.detail, first, hazard.second.row, hazard.space)
        known = self._found.get(key)
        if known is None:
            self._found[key] = hazard
            return
        self._found[key] = replace(
            known,
            count=known.count + hazard.count,
            start=min(known.start, hazard.start),
            stop=max(known.stop, hazard.stop),
        )

    def add_cures(self, core: int, kind: CoreKind, flags: list[Flag], mixed: bool) -> None:
        """Say how to cure the races of the core just followed, which dispatched ``flags``.

        ``mixed``: both kinds of cores run, so that sets and waits between them may help.
        """
        for key, hazard in self._found.items():
            if hazard.kind is not HazardKind.RACE or hazard.cure or hazard.first is None:
                continue
            if hazard.second.core != core:
                continue
            if hazard.first.core == core:
                cure = race_cure(hazard.first, hazard.second, kind, flags)
            else:
                cure = CROSS_CURE if mixed else CORES_CURE
            self._found[key] = replace(hazard, cure=cure)

    def hazards(self) -> list[Hazard]:
        return list(self._found.values())


def event(source: Pipe, target: Pipe) -> str:
    """The name of a pair: ``mte2->v``."""
    return f"{source}->{target}"


def third_pipe(source: Pipe, target: Pipe, core: CoreKind) -> Pipe | None:
    """A pipe with events from ``source`` and to ``target``, where there is none between them."""
    pairs = EVENT_PAIRS[core]
    between = (p for p in Pipe if (source, p) in pairs and (p, target) in pairs)
    return next(between, None)


@dataclass(frozen=True)
class Flag:
    """One set or wait of a pair of pipes, in order of dispatch."""

    site: Site
    sets: bool
    source: Pipe
    target: Pipe
    event: int


def race_cure(first: Site, second: Site, core: CoreKind, flags: list[Flag]) -> str:
    """How to order ``second`` after ``first``; ``flags`` is what the core dispatched."""
    if first.pipe == second.pipe:
        return f"put `pipe_barrier {second.pipe}` directly before the second"
    source, target = first.pipe, second.pipe
    if (source, target) not in EVENT_PAIRS[core]:
        between = third_pipe(source, target, core)
        if between is None:
            return f"there is no way from {source} to {target} on a {core} core"
        return (
            f"there is no {event(source, target)} event: use two flags, "
            f"{event(source, between)} after the first and {event(between, target)} before "
            "the second"
        )
    moved = _move(first, second, [f for f in flags if (f.source, f.target) == (source, target)])
    if moved:
        return moved
    pair = f"{source}, {target}, ID"
    if first.row < second.row:
        return f"put `set_flag {pair}` after the first and `wait_flag {pair}` before the second"
    return (
        f"order the loop: `wait_flag {pair}` before the second and `set_flag {pair}` after the "
        "first, with one set before the loop and one wait after it"
    )


def _move(first: Site, second: Site, flags: list[Flag]) -> str:
    """The set or the wait that is there but stands on the wrong side, if there is one."""
    sets: dict[int, list[Flag]] = {}
    for flag in flags:
        queue = sets.setdefault(flag.event, [])
        if flag.sets:
            queue.append(flag)
            continue
        if not queue:
            continue
        name = f"{event(flag.source, flag.target)} id {flag.event}"
        start = queue.pop(0).site.number
        stop = flag.site.number
        if start < first.number < stop < second.number:
            return (
                f"move the set of {event(flag.source, flag.target)} id {flag.event} after the first"
            )
        if first.number < start < second.number < stop:
            return f"move the wait of {name} before the second"
    return ""
