"""What cores learn of one another, and who belongs to whom in a launch."""

from __future__ import annotations

import pytest

from pypto.target.clocks import PIPE_COUNT, SetVerdict
from pypto.target.clocks_cross import CrossClock
from pypto.target.groups import ALL_OF_KIND, GROUP, PAIR, has_mode, members, targets

PIPE = 5


def ended(stamp: int) -> tuple[int, ...]:
    return (0,) * PIPE + (stamp,) + (0,) * (PIPE_COUNT - PIPE - 1)


# Two groups: cube cores 0 and 1, vector cores 2 to 5.
@pytest.mark.parametrize(
    ("core", "mode", "sources", "reached"),
    [
        (1, ALL_OF_KIND, (0, 2), (0, 2)),
        (4, ALL_OF_KIND, (2, 6), (2, 6)),
        (5, PAIR, (4, 6), (4, 6)),
        (1, GROUP, (1, 2), (4, 6)),
        (3, GROUP, (2, 4), (0, 1)),
    ],
)
def test_groups(core: int, mode: int, sources: tuple[int, int], reached: tuple[int, int]) -> None:
    assert has_mode(core, mode, 2, 6)
    assert members(core, mode, 2, 6) == sources
    assert targets(core, mode, 2, 6) == reached


def test_modes_of_groups_need_groups() -> None:
    assert not has_mode(0, PAIR, 2, 6)
    assert not has_mode(0, GROUP, 6, 6)
    assert not has_mode(0, GROUP, 0, 6)


def test_the_nth_wait_learns_the_nth_set_of_every_member() -> None:
    clock = CrossClock(1, 3)
    clock.set(1, PIPE, GROUP, 0, ended(3), clock.known(1))
    assert not clock.wait(0, 0)
    assert clock.missing(0, 0) == [2]
    clock.set(2, PIPE, GROUP, 0, ended(4), clock.known(2))
    clock.set(1, PIPE, GROUP, 0, ended(9), clock.known(1))
    assert clock.wait(0, 0)
    assert clock.ended[0] == {1: ended(3), 2: ended(4)}
    assert not clock.wait(0, 0)
    assert clock.unbalanced() == [(1, GROUP, 0)]


def test_knowledge_is_passed_on() -> None:
    clock = CrossClock(1, 3)
    for vector in (1, 2):
        clock.set(vector, PIPE, GROUP, 0, ended(vector), clock.known(vector))
    assert clock.wait(0, 0)
    clock.set(0, PIPE, GROUP, 1, ended(7), clock.known(0))
    assert clock.wait(1, 1)
    assert clock.ended[1] == {0: ended(7), 1: ended(1), 2: ended(2)}


def test_room_in_a_counter_must_be_proven() -> None:
    clock = CrossClock(1, 3)

    def push() -> SetVerdict:
        return clock.set(0, PIPE, GROUP, 0, ended(1), clock.known(0))

    assert {push() for _ in range(15)} == {SetVerdict.SAFE}
    for vector in (1, 2):
        assert clock.wait(vector, 0)
    assert push() is SetVerdict.LATENT
    for vector in (1, 2):
        assert clock.wait(vector, 0)
        clock.set(vector, PIPE, GROUP, 1, ended(1), clock.known(vector))
    assert clock.wait(0, 1)
    assert push() is SetVerdict.SAFE
    assert push() is SetVerdict.HAPPENED


def test_an_id_of_two_pipes_or_modes_is_mixed() -> None:
    clock = CrossClock(1, 3)
    assert not clock.is_mixed(1, PIPE, GROUP, 0)
    assert not clock.is_mixed(1, PIPE, GROUP, 0)
    assert clock.is_mixed(1, PIPE, PAIR, 0)
    assert clock.is_mixed(1, PIPE - 1, GROUP, 0)
