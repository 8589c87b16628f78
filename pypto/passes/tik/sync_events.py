"""Event numbers for the flags of a kernel: a few per pair of pipes, shared when they run out.

Flags of one pair are merged first. Then their two pipes wait for each other, in the place of some
flags. One number each way serves all these *joins*, wherever they stand and however often they run:
each of the two flags is set behind a wait for the other. A join between two operations of the
kernel's own block frees the numbers of all flags before it for those behind it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from pypto.passes.tik.sync_plan import Group, Kind, Plan

Pair = tuple[int, int]


class EventsExhausted(Exception):
    """A pair of pipes has fewer event numbers than its flags want.

    ``plans``: the positions of the plans that want them at the same time.
    """

    def __init__(self, pair: Pair, wanted: int, plans: Sequence[int]) -> None:
        super().__init__(f"{wanted} events wanted for pair {pair}")
        self.pair = pair
        self.plans = plans


@dataclass(frozen=True)
class KernelPlan:
    """The plans of all blocks of a kernel, its own block first.

    ``units``: for each further block, which unit of the first it lies in.
    """

    plans: list[Plan]
    units: Sequence[int] = ()

    def unit_of(self, position: int, group: Group) -> int:
        """The unit of the kernel's own block at which a group of a plan begins."""
        return group.source if position == 0 else self.units[position - 1]


class _Flag(NamedTuple):
    """A group that needs numbers of a pair: its plan, its unit in the kernel, and the group."""

    plan: int
    unit: int
    group: Group


def flags(plans: Sequence[Plan]) -> Iterator[Group]:
    """The flags that need event numbers, in program order of their plans."""
    for plan in plans:
        for group in _in_order(plan):
            yield from group.flags()


def assign_events(kernel: KernelPlan, available: int) -> dict[Group, int]:
    """The first event number of every flag; ``slots`` numbers from there on are its own.

    Merges neighbouring groups of a pair, in place, until its ``available`` numbers suffice.
    """
    pairs = dict.fromkeys(flag.pair for flag in flags(kernel.plans))
    for pair in pairs:
        while crowd := _crowd(kernel, pair, available):
            if not _merge_closest(kernel, crowd):
                raise EventsExhausted(pair, _numbers(crowd), sorted({one.plan for one in crowd}))
    first = {flag: 0 for flag in flags(kernel.plans) if flag.kind is Kind.JOIN}
    for pair in pairs:
        for phase in _phases(kernel, pair):
            used = _joins(kernel, pair)
            for flag in (flag for one in phase for flag in one.group.flags() if flag.pair == pair):
                first[flag] = used
                used += flag.slots
    return first


def join_pipes(kernel: KernelPlan, pair: Pair, available: int) -> bool:
    """Join two pipes in the kernel's own block where numbers run out; False: that is no help."""
    crowd = _crowd(kernel, pair, available)
    if not crowd:
        return False
    begin, end = min(one.unit for one in crowd), max(map(_end, crowd))
    places = range(begin + 1, end + 1)
    if not places:
        return False

    def wanted(place: int) -> int:
        return sum(one.group.slots for one in crowd if _end(one) < place)

    fitting = [place for place in places if wanted(place) < available]
    kernel.plans[0].join(max(fitting, default=places[0]), pair)
    return True


def events_wanted(kernel: KernelPlan, pair: Pair) -> int:
    """How many numbers the flags of a pair take at most at one time."""
    return max(map(_numbers, _phases(kernel, pair)), default=0) + _joins(kernel, pair)


def _crowd(kernel: KernelPlan, pair: Pair, available: int) -> list[_Flag]:
    """The flags between two joins of a pair that want too many numbers; none when all fit."""
    available -= _joins(kernel, pair)
    return next((phase for phase in _phases(kernel, pair) if _numbers(phase) > available), [])


def _phases(kernel: KernelPlan, pair: Pair) -> list[list[_Flag]]:
    """What needs numbers of a pair, parted by the joins of its pipes."""
    joins = [
        unit
        for unit, groups in enumerate(kernel.plans[0].before)
        if any(_is_join(group, pair) for group in groups)
    ]
    phases: list[list[_Flag]] = [[] for _ in range(len(joins) + 1)]
    for position, plan in enumerate(kernel.plans):
        for group in _in_order(plan):
            if group.kind is not Kind.JOIN and any(flag.pair == pair for flag in group.flags()):
                unit = kernel.unit_of(position, group)
                phases[bisect_right(joins, unit)].append(_Flag(position, unit, group))
    return phases


def _joins(kernel: KernelPlan, pair: Pair) -> int:
    """The number that all joins of a pair take together."""
    groups = (group for plan in kernel.plans for group in plan.groups())
    return int(any(_is_join(group, pair) for group in groups))


def _is_join(group: Group, pair: Pair) -> bool:
    return group.kind is Kind.JOIN and {*group.pair} == {*pair}


def _numbers(phase: Sequence[_Flag]) -> int:
    return sum(one.group.slots for one in phase)


def _end(one: _Flag) -> int:
    """The unit of the kernel's own block at which the last wait for a flag stands."""
    return one.group.target if one.plan == 0 else one.unit


def _in_order(plan: Plan) -> Iterator[Group]:
    seen: dict[Group, None] = {}
    for before, after in zip(plan.before, plan.after, strict=True):
        seen |= dict.fromkeys(before) | dict.fromkeys(after)
    yield from (group for group in seen if group.kind is not Kind.BARRIER)


def _merge_closest(kernel: KernelPlan, crowd: Sequence[_Flag]) -> bool:
    """Replace the two of these flags that lie closest together by one; False: none fit."""
    best: tuple[int, _Flag, _Flag] | None = None
    for first, second in combinations(crowd, 2):
        if first.plan == second.plan:
            distance = _distance(first.group, second.group)
            if distance is not None and (best is None or distance < best[0]):
                best = (distance, first, second)
    if best is None:
        return False
    _, first, second = best
    _merge(kernel.plans[first.plan], first.group, second.group)
    return True


def _distance(first: Group, second: Group) -> int | None:
    """How far merging moves a set and a wait; None when the set would come behind the wait."""
    if (first.kind, first.slots, first.pair) != (second.kind, second.slots, second.pair):
        return None
    source, target = max(first.source, second.source), min(first.target, second.target)
    if first.kind is Kind.FORWARD and source >= target:
        return None
    return abs(first.source - second.source) + abs(first.target - second.target)


def _merge(plan: Plan, first: Group, second: Group) -> None:
    """One group instead of two: it sets at the later place and waits at the earlier one."""
    joined = Group(
        first.kind,
        max(first.source, second.source),
        min(first.target, second.target),
        *first.pair,
        first.slots,
    )
    if first.back is not None or second.back is not None:
        joined.hold()
    for groups in (*plan.before, *plan.after):
        groups[:] = [group for group in groups if group is not first and group is not second]
    plan.before[joined.target].append(joined)
    plan.after[joined.source].insert(0, joined)
