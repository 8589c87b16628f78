"""Where flags and barriers go in one block, on plain data: instructions as sets of memory cells.

A block is a list of units: an instruction, or a whole nested loop or branch. The plan replays a
few executions of the block with the clock rules and repairs the first conflict nothing orders, at
the place where it is met: a barrier on one pipe, a *forward* flag within one execution of the
block, a *ring* of flags between executions. Flags stand in the block itself, so every execution
sets and waits for each exactly once and they balance for any trip count and any branch.

A flag must not be set again before it was waited for. Where the other flags of the block do not
make sure of that it has a flag *back*: set behind each wait, and waited for before each set. What
flags within a nested loop order does not count: the loop may run once, or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from pypto.target.clocks import (
    PIPE_COUNT,
    SCALAR,
    Clock,
    EventKey,
    SetVerdict,
    accumulation_is_ordered,
)
from pypto.target.memory import PIPES, Pipe

Release = tuple[int, ...]
ALL_PIPES = PIPES.index(Pipe.ALL)

# Groups times units up to which barriers, and flags, are tried for redundancy; beyond, the search
# takes too long, and what it finds costs little.
SMALL_WITH_BARRIERS = 500
SMALL = 2000


class Home(StrEnum):
    """Where the slot of a buffer is acquired, seen from a block."""

    HERE = "here"
    INSIDE = "inside"  # within the unit: its own plan orders all accesses of the unit
    OUTSIDE = "outside"  # around the block: the plans of both blocks order their part


class Accumulation(NamedTuple):
    """A multiplication that adds to C: the cube itself orders two of them on one large tile."""

    tile: object
    rows: object
    columns: object


class Access(NamedTuple):
    """One use of a buffer by a unit: the cells it touches, by the number of the execution.

    Execution ``i`` of the block touches ``cells[i % len(cells)]``; ``len(cells)`` is the number
    of slots that rotate with the block, 1 when the slot does not depend on the execution.
    """

    cells: tuple[tuple[int, ...], ...]
    pipe: int
    writes: bool
    home: Home = Home.HERE
    accumulation: Accumulation | None = None


Unit = tuple[Access, ...]


class Shape(NamedTuple):
    """How a block runs: so many executions in a row per round; slots restart each round.

    ``disjoint``: executions of one round touch different bytes of buffers held outside.
    """

    rounds: tuple[int, ...] = (1,)
    disjoint: bool = False


def loop_rounds(period: int, trips: int | None, nested: bool) -> tuple[int, ...]:
    """Trip counts that show every conflict of a loop whose slots repeat after ``period``.

    ``2 * period + 1`` trips show what consecutive executions do; a ``nested`` loop runs again,
    and from any slot it stopped at. ``trips``: the trip count where it is known.
    """
    longest = 2 * period + 1
    if trips is not None and trips <= longest:
        return (trips,) * (2 if nested else 1)
    if not nested:
        return (longest,)
    return (longest, longest) if period < 3 else (*range(period + 1, longest + 1),) * 2


class Kind(StrEnum):
    BARRIER = "barrier"
    FORWARD = "forward"
    RING = "ring"
    JOIN = "join"  # two pipes wait for each other, by a flag and its flag back


@dataclass(eq=False)
class Group:
    """What orders one pair of units: ``before`` unit ``target``, and ``after`` unit ``source``.

    ``slots`` event numbers rotate with the executions. ``unless``: the barrier is needed only
    when this accumulation is too small for the cube to order. ``back``: a flag the other way that
    holds each set until the wait before it is over.
    """

    kind: Kind
    source: int
    target: int
    source_pipe: int
    target_pipe: int
    slots: int = 1
    unless: Accumulation | None = None
    back: Group | None = None

    @property
    def pair(self) -> tuple[int, int]:
        return self.source_pipe, self.target_pipe

    def flags(self) -> tuple[Group, ...]:
        """The group and its flag back, as far as they need event numbers."""
        if self.kind is Kind.BARRIER:
            return ()
        return (self,) if self.back is None else (self, self.back)

    def crosses(self, unit: int) -> bool:
        """Whether the place before a unit always lies between a set and the wait for it."""
        if self.kind is Kind.FORWARD:
            return self.source < unit <= self.target
        return self.kind is Kind.RING and (unit > self.source or unit <= self.target)

    def hold(self) -> None:
        """Give the group a flag back; then nothing else must keep its sets apart."""
        kind = Kind.FORWARD if self.kind is Kind.RING else Kind.RING
        pipes = self.target_pipe, self.source_pipe
        self.back = Group(kind, self.target, self.source, *pipes, self.slots)


@dataclass
class Plan:
    """The groups of one block, by the unit they stand before and after, in order."""

    before: list[list[Group]]
    after: list[list[Group]]

    @classmethod
    def empty(cls, units: int) -> Plan:
        return cls([[] for _ in range(units)], [[] for _ in range(units)])

    def groups(self) -> list[Group]:
        """Every group once, in the order of the units that wait."""
        return [group for groups in self.before for group in groups]

    def add(self, group: Group) -> None:
        """The newest wait stands directly before its unit, the newest set directly after."""
        self.before[group.target].append(group)
        if group.kind is not Kind.BARRIER:
            self.after[group.source].insert(0, group)

    def stop_all(self, group: Group) -> None:
        """A barrier of all pipes in the place of a flag: nothing starts before all before ended."""
        self.after[group.source].remove(group)
        group.kind, group.back = Kind.BARRIER, None
        group.source_pipe = group.target_pipe = ALL_PIPES

    def join(self, unit: int, pair: tuple[int, int]) -> None:
        """Two pipes wait for each other before a unit; the flags that this replaces are gone.

        All joins of two pipes begin with the same one: so each of their flags is set behind a wait
        for the other.
        """
        one, other = sorted(pair)
        for flag in self.groups():
            if {*flag.pair} == {one, other} and flag.crosses(unit):
                self.before[flag.target].remove(flag)
                self.after[flag.source].remove(flag)
        join = Group(Kind.JOIN, unit, unit, one, other)
        join.back = Group(Kind.JOIN, unit, unit, other, one)
        self.before[unit].insert(0, join)

    def without(self, group: Group) -> Plan:
        """A copy that lacks one group."""
        return Plan(
            [[g for g in groups if g is not group] for groups in self.before],
            [[g for g in groups if g is not group] for groups in self.after],
        )


class _Record(NamedTuple):
    """The last use of a cell by one pipe."""

    execution: int
    unit: int
    pipe: int
    stamp: int
    access: Access


@dataclass
class _Cell:
    writes: dict[int, _Record] = field(default_factory=dict)
    reads: dict[int, _Record] = field(default_factory=dict)
    home: Home = Home.HERE


def plan_block(units: Sequence[Unit], shape: Shape) -> Plan:
    """The flags and barriers that order all conflicts between units of one block."""
    plan = Plan.empty(len(units))
    while _Replay(units, shape, plan).repairs():
        pass
    groups = plan.groups()
    if len(groups) * len(units) > SMALL_WITH_BARRIERS:
        groups = [group for group in groups if group.kind is not Kind.BARRIER]
    if len(groups) * len(units) > SMALL:
        return plan
    for group in groups:
        smaller = plan.without(group)
        if _Replay(units, shape, smaller).is_clean():
            plan = smaller
    return plan


def is_clean(units: Sequence[Unit], shape: Shape, plan: Plan) -> bool:
    """Whether a plan orders every conflict and never sets a flag that may still be up."""
    return _Replay(units, shape, plan).is_clean()


class _Replay:
    """One run of the clocks over the executions of a block."""

    def __init__(self, units: Sequence[Unit], shape: Shape, plan: Plan) -> None:
        self.units = units
        self.shape = shape
        self.plan = plan
        self.clock = Clock()
        self.cells: dict[int, _Cell] = {}
        self.unsafe: Group | None = None
        # What a set behind a unit would have released, per unit and pipe: (turn, release).
        self.history: dict[tuple[int, int], list[tuple[int, Release]]] = {}

    def repairs(self) -> bool:
        """Run and add what is missing; whether anything was.

        Flags that are not safe get a flag back one by one, and only when all conflicts are ordered:
        what orders them may make the flags safe.
        """
        self._lend()
        changed = False
        for execution, turn, number in self._steps():
            self._pass_groups(number, turn)
            while sources := list(self._unordered(turn, number)):
                self._repair(max(sources, key=lambda pair: pair[0][:3]), turn, number)
                changed = True
            self._commit(execution, turn, number)
        if not changed and self.unsafe is not None:
            self.unsafe.hold()
            return True
        return changed

    def is_clean(self) -> bool:
        """Run without repairing."""
        self._lend()
        for execution, turn, number in self._steps():
            self._pass_groups(number, turn)
            if next(self._unordered(turn, number), None) is not None:
                return False
            self._commit(execution, turn, number)
            if self.unsafe is not None:
                return False
        return True

    def _lend(self) -> None:
        """The tokens of all rings, set before the block runs for the first time."""
        for flag in (flag for group in self.plan.groups() for flag in group.flags()):
            if flag.kind is Kind.RING:
                for slot in range(flag.slots):
                    self._set(flag, slot)

    def _steps(self) -> Iterator[tuple[int, int, int]]:
        turns = (turn for trips in self.shape.rounds for turn in range(trips))
        for execution, turn in enumerate(turns):
            if turn == 0 or self.shape.disjoint:
                self._forget_outside()
            for number in range(len(self.units)):
                yield execution, turn, number

    def _forget_outside(self) -> None:
        """Conflicts between rounds on buffers held outside belong to the block that holds them."""
        self.cells = {
            key: cell for key, cell in self.cells.items() if cell.home is not Home.OUTSIDE
        }

    def _pass_groups(self, number: int, turn: int) -> None:
        for group in self.plan.before[number]:
            if group.target_pipe == ALL_PIPES:
                self.clock.barrier_all()
            elif group.kind is Kind.BARRIER:
                self.clock.barrier(group.target_pipe)
            elif group.kind is Kind.JOIN:
                for flag in group.flags():
                    self._set(flag, turn)
                    self._wait(flag, turn)
            else:
                self._wait(group, turn)
                if group.back is not None:
                    self._set(group.back, turn)

    def _wait(self, group: Group, turn: int) -> None:
        self.clock.wait_flag(*group.pair, (id(group), turn % group.slots))

    def _set(self, group: Group, turn: int) -> None:
        verdict = self.clock.set_flag(*group.pair, (id(group), turn % group.slots))
        if verdict is not SetVerdict.SAFE and self.unsafe is None:
            self.unsafe = group

    def _commit(self, execution: int, turn: int, number: int) -> None:
        unit = self.units[number]
        stamps = {pipe: self.clock.data(pipe) for pipe in {a.pipe for a in unit}}
        written = {c for a in unit if a.writes for c in a.cells[turn % len(a.cells)]}
        for cell in written:
            self.cells.pop(cell, None)
        for access in unit:
            record = _Record(execution, number, access.pipe, stamps[access.pipe], access)
            for cell in access.cells[turn % len(access.cells)]:
                state = self.cells.setdefault(cell, _Cell())
                state.home = access.home
                (state.writes if access.writes else state.reads)[access.pipe] = record
        for pipe, stamp in stamps.items():
            release = self.clock.known[pipe].copy()
            release[pipe] = stamp
            self.history.setdefault((number, pipe), []).append((turn, tuple(release)))
        for group in self.plan.after[number]:
            if group.back is not None:
                self._wait(group.back, turn)
            self._set(group, turn)

    def _unordered(self, turn: int, number: int) -> Iterator[tuple[_Record, Access]]:
        """Earlier uses that conflict with a unit about to start and may not have ended."""
        for access in self.units[number]:
            for cell in access.cells[turn % len(access.cells)]:
                state = self.cells.get(cell)
                if state is None:
                    continue
                for record in state.writes.values():
                    if self._conflicts(record, access, number):
                        yield record, access
                if access.writes:
                    for record in state.reads.values():
                        if self._conflicts(record, access, number):
                            yield record, access

    def _conflicts(self, record: _Record, access: Access, number: int) -> bool:
        # Whatever the scalar unit knows, all that is dispatched later knows.
        for pipe in (access.pipe, SCALAR):
            if self.clock.ordered(pipe, record.pipe, record.stamp):
                return False
        inside = record.access.home is Home.INSIDE and access.home is Home.INSIDE
        if inside and record.unit == number:
            return False
        return not _cube_orders(record.access.accumulation, access.accumulation)

    def _repair(self, conflict: tuple[_Record, Access], turn: int, number: int) -> None:
        record, access = conflict
        group = Group(Kind.BARRIER, record.unit, number, record.pipe, access.pipe)
        if record.pipe == access.pipe:
            if same_tile(record.access.accumulation, access.accumulation):
                group.unless = access.accumulation
            self.plan.add(group)
            self.clock.barrier(access.pipe)
            return
        rotations = list(self._rotations(group))
        history = self.history[record.unit, record.pipe]
        if record.unit < number:
            group.kind, group.slots = Kind.FORWARD, min(rotations)
            self._pend(group, turn % group.slots, history[-1][1])
        else:
            group.kind, group.slots = Kind.RING, math.gcd(*rotations)
            for slot in range(group.slots):
                releases = (r for t, r in reversed(history) if t % group.slots == slot)
                self._pend(group, slot, next(releases, (0,) * PIPE_COUNT))
        self.plan.add(group)
        self._wait(group, turn)

    def _pend(self, group: Group, slot: int, release: Release) -> None:
        self.clock.pending[EventKey(*group.pair, (id(group), slot))] = [release]

    def _rotations(self, group: Group) -> Iterator[int]:
        """How many turns part the executions of two units that conflict, for each buffer.

        The number of its slots; less when they lie on slots that another buffer has at other turns.
        """
        for a in self.units[group.source]:
            for b in self.units[group.target]:
                if (a.pipe, b.pipe) != group.pair or not (a.writes or b.writes):
                    continue
                apart = [
                    i - j
                    for i, cells in enumerate(a.cells)
                    for j, others in enumerate(b.cells)
                    if not set(cells).isdisjoint(others)
                ]
                if apart:
                    yield math.gcd(len(a.cells), len(b.cells), *apart)


def same_tile(earlier: Accumulation | None, later: Accumulation | None) -> bool:
    """Whether two multiplications add to exactly the same tile."""
    return earlier is not None and earlier == later


def _cube_orders(earlier: Accumulation | None, later: Accumulation | None) -> bool:
    if later is None or not same_tile(earlier, later):
        return False
    rows, columns = later.rows, later.columns
    if not isinstance(rows, int) or not isinstance(columns, int):
        return False
    return accumulation_is_ordered(rows, columns)
