from __future__ import annotations

import pytest

from pypto.passes.tik.sync_events import EventsExhausted, assign_events
from pypto.passes.tik.sync_plan import Group, Kind, Plan

PAIR = (4, 1)


def plan_of(*groups: Group, units: int = 10) -> Plan:
    plan = Plan.empty(units)
    for group in groups:
        plan.add(group)
    return plan


def forward(source: int, target: int, slots: int = 2) -> Group:
    return Group(Kind.FORWARD, source, target, *PAIR, slots)


def test_every_group_has_numbers_of_its_own() -> None:
    groups = [forward(0, 5), forward(1, 6, slots=1), forward(2, 7)]
    other = Group(Kind.RING, 9, 0, 1, 4, 2)
    first = assign_events([plan_of(*groups, other)], 6)
    assert sorted(first[g] for g in groups) == [0, 2, 4] or len({first[g] for g in groups}) == 3
    assert first[other] == 0


def test_neighbours_are_merged_when_numbers_run_out() -> None:
    plan = plan_of(forward(0, 5), forward(1, 6), forward(3, 9), forward(2, 8))
    first = assign_events([plan], 6)
    merged = [g for g in first if (g.source, g.target) == (1, 5)]
    assert len(first) == 3
    assert len(merged) == 1
    assert merged[0] in plan.before[5]
    assert merged[0] in plan.after[1]


def test_a_set_never_comes_behind_its_wait() -> None:
    plan = plan_of(forward(0, 1), forward(2, 3), forward(4, 5), forward(6, 7))
    with pytest.raises(EventsExhausted):
        assign_events([plan], 6)


def test_rings_merge() -> None:
    rings = [Group(Kind.RING, source, target, 1, 4, 2) for source, target in ((5, 0), (6, 1))]
    first = assign_events([plan_of(*rings)], 2)
    assert [(g.source, g.target) for g in first] == [(6, 0)]
