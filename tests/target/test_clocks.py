"""The clock rules, one by one."""

from __future__ import annotations

import pytest

from pypto.target.clocks import (
    EVENT_PAIRS,
    PIPE_COUNT,
    Accumulation,
    Clock,
    EventKey,
    SetVerdict,
    same_pipe_is_ordered,
)  # fmt: skip
from pypto.target.memory import PIPES, CoreKind, Pipe

S, V, M, MTE1, MTE2, MTE3, FIX = range(PIPE_COUNT)


def test_pipes_are_positions() -> None:
    assert [PIPES[i] for i in range(PIPE_COUNT)] == [p for p in Pipe if p is not Pipe.ALL]


def test_a_flag_orders_what_stands_before_its_set_before_what_stands_after_its_wait() -> None:
    clock = Clock()
    before = clock.data(MTE2)
    clock.set_flag(MTE2, V, 0)
    after = clock.data(MTE2)
    early = clock.data(V)
    assert not clock.ordered(V, MTE2, before)
    assert clock.wait_flag(MTE2, V, 0)
    clock.data(V)
    assert clock.ordered(V, MTE2, before)
    assert not clock.ordered(V, MTE2, after)
    assert not clock.ordered(MTE2, V, early)


def test_a_set_is_no_barrier_of_its_own_pipe() -> None:
    clock = Clock()
    first = clock.data(V)
    clock.set_flag(V, MTE3, 0)
    clock.data(V)
    assert not clock.ordered(V, V, first)
    clock.barrier(V)
    clock.data(V)
    assert clock.ordered(V, V, first)


def test_knowledge_is_handed_on() -> None:
    clock = Clock()
    load = clock.data(MTE2)
    clock.set_flag(MTE2, V, 0)
    clock.wait_flag(MTE2, V, 0)
    clock.set_flag(V, MTE3, 0)
    clock.wait_flag(V, MTE3, 0)
    clock.data(MTE3)
    assert clock.ordered(MTE3, MTE2, load)


def test_a_wait_without_a_set_changes_nothing() -> None:
    clock = Clock()
    assert not clock.wait_flag(MTE2, V, 0)
    assert clock.issued == [0] * PIPE_COUNT


def test_double_sets() -> None:
    clock = Clock()
    assert clock.set_flag(MTE2, V, 0) is SetVerdict.SAFE
    assert clock.set_flag(MTE2, V, 1) is SetVerdict.SAFE
    assert clock.set_flag(MTE2, V, 0) is SetVerdict.HAPPENED
    clock.wait_flag(MTE2, V, 0)
    clock.wait_flag(MTE2, V, 0)
    assert clock.set_flag(MTE2, V, 0) is SetVerdict.LATENT
    clock.wait_flag(MTE2, V, 0)
    clock.set_flag(V, MTE2, 0)
    clock.wait_flag(V, MTE2, 0)
    assert clock.set_flag(MTE2, V, 0) is SetVerdict.SAFE
    assert set(clock.unbalanced()) == {EventKey(MTE2, V, 0), EventKey(MTE2, V, 1)}


def test_barrier_all_orders_every_pipe_before_all_that_is_dispatched_later() -> None:
    clock = Clock()
    stamps = {pipe: clock.data(pipe) for pipe in (V, MTE2, MTE3)}
    clock.barrier_all()
    for pipe in (V, MTE2, MTE3):
        clock.data(pipe)
        assert all(clock.ordered(pipe, other, stamp) for other, stamp in stamps.items())


def test_the_scalar_unit_as_partner() -> None:
    clock = Clock()
    work = clock.data(V)
    clock.set_flag(V, S, 0)
    clock.wait_flag(V, S, 0)
    clock.data(MTE3)
    assert clock.ordered(MTE3, V, work)
    # All later dispatch is after the wait, so setting again is safe.
    assert clock.set_flag(V, S, 0) is SetVerdict.SAFE


def test_an_instruction_issued_late_knows_what_the_scalar_unit_knew_at_dispatch() -> None:
    clock = Clock()
    then = clock.dispatched()
    work = clock.data(V)
    clock.barrier_all()
    clock.data(MTE3, then)
    assert not clock.ordered(MTE3, V, work)


def test_copies_are_independent() -> None:
    clock = Clock()
    load = clock.data(MTE2)
    other = clock.copy()
    other.set_flag(MTE2, V, 0)
    other.wait_flag(MTE2, V, 0)
    assert other.ordered(V, MTE2, load)
    assert not clock.ordered(V, MTE2, load)
    assert clock.issued != other.issued


BIG, SMALL = Accumulation(0, 128, 256, True), Accumulation(0, 32, 64, True)


@pytest.mark.parametrize(
    ("pipe", "earlier", "later", "ordered"),
    [
        (S, None, None, True),
        (V, None, None, False),
        (M, BIG, BIG, True),
        (M, BIG._replace(accumulates=False), BIG, True),
        (M, BIG, BIG._replace(accumulates=False), False),
        (M, SMALL, SMALL, False),
        (M, BIG, BIG._replace(base=1024), False),
        (M, BIG, BIG._replace(rows=144), False),
        (M, BIG._replace(rows=79, columns=47), BIG._replace(rows=79, columns=47), False),
        (M, BIG._replace(rows=80, columns=32), BIG._replace(rows=80, columns=32), True),
    ],
)
def test_same_pipe(
    pipe: int, earlier: Accumulation | None, later: Accumulation | None, ordered: bool
) -> None:
    assert same_pipe_is_ordered(pipe, earlier, later) is ordered


def test_event_pairs() -> None:
    assert (Pipe.MTE2, Pipe.V) in EVENT_PAIRS[CoreKind.VECTOR]
    assert (Pipe.V, Pipe.V) not in EVENT_PAIRS[CoreKind.AICORE]
    assert (Pipe.M, Pipe.FIX) in EVENT_PAIRS[CoreKind.CUBE]
    assert (Pipe.M, Pipe.V) in EVENT_PAIRS[CoreKind.AICORE]
    assert EVENT_PAIRS[CoreKind.VECTOR] < EVENT_PAIRS[CoreKind.AICORE]
    both = {(Pipe.V, Pipe.M), (Pipe.M, Pipe.V), (Pipe.V, Pipe.MTE1), (Pipe.MTE1, Pipe.V)}
    assert both < EVENT_PAIRS[CoreKind.AICORE]
    assert not any(Pipe.FIX in pair for pair in EVENT_PAIRS[CoreKind.AICORE])
