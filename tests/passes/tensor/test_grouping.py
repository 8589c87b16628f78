"""Greedy merging: no cycles between groups, whatever the graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pypto.passes.tensor.grouping import Grouping, ordered_units


def test_a_chain_becomes_one_group() -> None:
    grouping = Grouping([(), (0,), (1,)], lambda nodes: True)
    grouping.merge_along_edges([0, 1, 2])
    assert grouping.members == {0: (0, 1, 2)}


def test_a_node_between_two_keeps_them_apart() -> None:
    grouping = Grouping([(), (0,), (0, 1)], lambda nodes: True)
    grouping.merge_along_edges([0, 2])
    assert grouping.members == {0: (0,), 1: (1,), 2: (2,)}


def test_fits_is_asked_with_ascending_nodes() -> None:
    asked = []
    grouping = Grouping([(), (0,), (1,)], lambda nodes: asked.append(nodes) or len(nodes) < 3)
    grouping.merge_along_edges([0, 1, 2])
    assert grouping.members == {0: (0, 1), 2: (2,)}
    assert asked == [(0, 1, 2), (0, 1)]


def test_units_are_ordered_behind_what_they_read() -> None:
    assert ordered_units([0, 1, 0], [(), (), (1,)]) == [1, 0]
    assert ordered_units([0, 1, 2], [(), (0,), ()]) == [0, 1, 2]


@st.composite
def graphs(draw) -> list[list[int]]:
    size = draw(st.integers(1, 12))
    return [draw(st.lists(st.integers(0, n - 1), max_size=3) if n else st.just([])) for n in
            range(size)]  # fmt: skip


@given(graphs(), st.sets(st.integers(0, 11)), st.integers(1, 6))
def test_groups_never_form_a_cycle(sources, chosen, largest) -> None:
    nodes = [n for n in range(len(sources)) if n in chosen]
    grouping = Grouping(sources, lambda members: len(members) <= largest)
    grouping.merge_along_edges(nodes)
    order = ordered_units(grouping.group_of, sources)
    place = {unit: index for index, unit in enumerate(order)}
    for node, read in enumerate(sources):
        for source in read:
            assert place[grouping.group_of[source]] <= place[grouping.group_of[node]]
    assert sorted(n for members in grouping.members.values() for n in members) == list(
        range(len(sources))
    )
    assert all(len(members) <= largest for members in grouping.members.values())
