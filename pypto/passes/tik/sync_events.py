"""Event numbers for the flags of a kernel: a few per pair of pipes, shared when they run out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pypto.passes.tik.sync_plan import Group, Kind, Plan


class EventsExhausted(Exception):
    """A pair of pipes has fewer event numbers than its flags want."""

    def __init__(self, pair: tuple[int, int], wanted: int) -> None:
        super().__init__(f"{wanted} events wanted for pair {pair}")
        self.pair = pair


def flags(plans: Sequence[Plan]) -> Iterator[Group]:
    """The groups that need event numbers, in program order of their plans."""
    for plan in plans:
        seen: dict[Group, None] = {}
        for before, after in zip(plan.before, plan.after, strict=True):
            seen |= dict.fromkeys(before) | dict.fromkeys(after)
        yield from (group for group in seen if group.kind is not Kind.BARRIER)


def assign_events(plans: Sequence[Plan], available: int) -> dict[Group, int]:
    """The first event number of every group; ``slots`` numbers from there on are its own.

    Merges neighbouring groups of a pair, in place, until its ``available`` numbers suffice.
    """
    for pair in dict.fromkeys(group.pair for group in flags(plans)):
        while (wanted := events_wanted(plans, pair)) > available:
            if not _merge_closest(plans, pair):
                raise EventsExhausted(pair, wanted)
    used: Counter[tuple[int, int]] = Counter()
    first: dict[Group, int] = {}
    for group in flags(plans):
        first[group] = used[group.pair]
        used[group.pair] += group.slots
    return first


def events_wanted(plans: Sequence[Plan], pair: tuple[int, int]) -> int:
    """Event numbers all groups of a pair take together."""
    return sum(group.slots for group in flags(plans) if group.pair == pair)


def _merge_closest(plans: Sequence[Plan], pair: tuple[int, int]) -> bool:
    """Replace the two groups of a pair that lie closest together by one; False: none fit."""
    best: tuple[int, Plan, Group, Group] | None = None
    for plan in plans:
        groups = [group for group in flags([plan]) if group.pair == pair]
        for i, first in enumerate(groups):
            for second in groups[i + 1 :]:
                distance = _distance(first, second)
                if distance is not None and (best is None or distance < best[0]):
                    best = (distance, plan, first, second)
    if best is None:
        return False
    _, plan, first, second = best
    _merge(plan, first, second)
    return True


def _distance(first: Group, second: Group) -> int | None:
    """How far merging moves a set and a wait; None when the set would come behind the wait."""
    if first.kind is not second.kind or first.slots != second.slots:
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
    for groups in (*plan.before, *plan.after):
        groups[:] = [group for group in groups if group is not first and group is not second]
    plan.before[joined.target].append(joined)
    plan.after[joined.source].insert(0, joined)
