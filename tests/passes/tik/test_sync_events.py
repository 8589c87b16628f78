from __future__ import annotations

import pytest

from pypto.passes.tik.sync_events import (
    EventsExhausted,
    KernelPlan,
    assign_events,
    events_wanted,
    join_pipes,
)
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
    first = assign_events(KernelPlan([plan_of(*groups, other)]), 6)
    assert sorted(first[g] for g in groups) == [0, 2, 4] or len({first[g] for g in groups}) == 3
    assert first[other] == 0


def test_neighbours_are_merged_when_numbers_run_out() -> None:
    plan = plan_of(forward(0, 5), forward(1, 6), forward(3, 9), forward(2, 8))
    first = assign_events(KernelPlan([plan]), 6)
    merged = [g for g in first if (g.source, g.target) == (1, 5)]
    assert len(first) == 3
    assert len(merged) == 1
    assert merged[0] in plan.before[5]
    assert merged[0] in plan.after[1]


def test_a_set_never_comes_behind_its_wait() -> None:
    plan = plan_of(forward(0, 1), forward(2, 3), forward(4, 5), forward(6, 7))
    with pytest.raises(EventsExhausted):
        assign_events(KernelPlan([plan]), 6)


def test_rings_merge() -> None:
    rings = [Group(Kind.RING, source, target, 1, 4, 2) for source, target in ((5, 0), (6, 1))]
    first = assign_events(KernelPlan([plan_of(*rings)]), 2)
    assert [(g.source, g.target) for g in first] == [(6, 0)]


def test_a_merged_flag_keeps_its_flag_back() -> None:
    rings = [Group(Kind.RING, source, target, 1, 4) for source, target in ((5, 0), (6, 1))]
    rings[1].hold()
    (joined, back) = assign_events(KernelPlan([plan_of(*rings)]), 1)
    assert joined.back is back
    assert back.kind is Kind.FORWARD
    assert (back.source, back.target, back.pair) == (0, 6, PAIR)


def loops(count: int) -> KernelPlan:
    """Loops one behind the other, each with two flags of a pair inside and one to the next."""
    own = plan_of(*(forward(i, i + 1, slots=1) for i in range(count - 1)), units=count)
    inner = [plan_of(forward(0, 1), forward(2, 3, slots=1)) for _ in range(count)]
    return KernelPlan([own, *inner], range(count))


def test_pipes_meet_where_numbers_run_out() -> None:
    kernel = loops(6)
    with pytest.raises(EventsExhausted) as caught:
        assign_events(kernel, 8)
    assert caught.value.pair == PAIR
    assert join_pipes(kernel, PAIR, 8)
    assert join_pipes(kernel, PAIR, 8)
    assert not join_pipes(kernel, PAIR, 8)
    before = kernel.plans[0].before
    places = [i for i, groups in enumerate(before) if any(g.kind is Kind.JOIN for g in groups)]
    assert places == [2, 4]
    assert events_wanted(kernel, PAIR) == 8
    first = assign_events(kernel, 8)
    joins = [group for group in first if group.kind is Kind.JOIN]
    assert {group.pair for group in joins} == {PAIR, PAIR[::-1]}
    assert {first[group] for group in joins} == {0}
    own = [group for group in kernel.plans[0].groups() if group.kind is Kind.FORWARD]
    assert [(group.source, group.target) for group in own] == [(0, 1), (2, 3), (4, 5)]
    for between in own:
        inner = kernel.plans[1 + between.source : 3 + between.source]
        groups = [between, *(group for plan in inner for group in plan.groups())]
        numbers = [first[group] + slot for group in groups for slot in range(group.slots)]
        assert sorted(numbers) == list(range(1, 8))


def test_pipes_do_not_meet_where_one_loop_wants_all() -> None:
    kernel = loops(1)
    assert not join_pipes(kernel, PAIR, 2)
    with pytest.raises(EventsExhausted) as caught:
        assign_events(kernel, 2)
    assert caught.value.plans == [1]
