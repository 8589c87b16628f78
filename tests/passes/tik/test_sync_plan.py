from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pypto.passes.tik.sync_plan import (
    Access,
    Accumulation,
    Group,
    Home,
    Kind,
    Plan,
    Shape,
    is_clean,
    loop_rounds,
    plan_block,
)
from pypto.target.memory import PIPES, Pipe
from tests.passes.tik import sync_oracle as oracle

V, MTE1, MTE2, MTE3, M, FIX = (
    PIPES.index(p) for p in (Pipe.V, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.M, Pipe.FIX)
)


class Buffers:
    """Cells of named buffers, one cell per slot."""

    def __init__(self, **slots: int) -> None:
        self.cells: dict[str, tuple[tuple[int, ...], ...]] = {}
        for number, (name, count) in enumerate(slots.items()):
            self.cells[name] = tuple((100 * number + slot,) for slot in range(count))

    def unit(self, pipe: int, reads: str = "", writes: str = "") -> tuple[Access, ...]:
        return tuple(
            Access(self.cells[name], pipe, name in writes.split())
            for name in dict.fromkeys(f"{reads} {writes}".split())
        )


def stream(units, plan: Plan, rounds: list[int]) -> Iterator[oracle.Step]:
    """The instructions of a block run for some rounds, rings set before and waited for after."""
    rings = [f for g in plan.groups() for f in g.flags() if f.kind is Kind.RING]

    def flags(kind, group: Group, turn: int | None):
        slots = range(group.slots) if turn is None else [turn % group.slots]
        return [
            kind(PIPES[group.source_pipe], PIPES[group.target_pipe], (id(group), s)) for s in slots
        ]

    for ring in rings:
        yield from flags(oracle.Set, ring, None)
    for trips in rounds:
        for turn in range(trips):
            for number, unit in enumerate(units):
                for group in plan.before[number]:
                    if group.kind is Kind.BARRIER:
                        yield oracle.Barrier(PIPES[group.target_pipe])
                    else:
                        yield from flags(oracle.Wait, group, turn)
                        if group.back is not None:
                            yield from flags(oracle.Set, group.back, turn)
                yield from data(unit, turn)
                for group in plan.after[number]:
                    if group.back is not None:
                        yield from flags(oracle.Wait, group.back, turn)
                    yield from flags(oracle.Set, group, turn)
    for ring in rings:
        yield from flags(oracle.Wait, ring, None)


def data(unit, turn: int) -> Iterator[oracle.Data]:
    for pipe in sorted({a.pipe for a in unit}):
        mine = [(a.cells[turn % len(a.cells)], a.writes) for a in unit if a.pipe == pipe]
        reads = frozenset(c for cells, writes in mine if not writes for c in cells)
        writes = frozenset(c for cells, writes in mine if writes for c in cells)
        yield oracle.Data(PIPES[pipe], reads, writes)


def text(plan: Plan) -> list[str]:
    """One line per unit: its waits and barriers, then its sets."""

    def name(group: Group, sign: str) -> str:
        if group.kind is Kind.BARRIER:
            return f"|{PIPES[group.target_pipe]}"
        source, target = PIPES[group.source_pipe], PIPES[group.target_pipe]
        back = "" if group.back is None else f" held by {group.back.kind}"
        return f"{sign}{group.kind}({source}>{target})x{group.slots}{back}"

    return [
        " ".join([*(name(g, "-") for g in b), "*", *(name(g, "+") for g in a)])
        for b, a in zip(plan.before, plan.after, strict=True)
    ]


def test_elementwise() -> None:
    buffers = Buffers(x=2, y=2, c=2)
    units = [
        buffers.unit(MTE2, writes="x"),
        buffers.unit(MTE2, writes="y"),
        buffers.unit(V, "x y", "c"),
        buffers.unit(MTE3, "c"),
    ]
    plan = plan_block(units, Shape((5, 5)))
    assert text(plan) == [
        "-ring(v>mte2)x2 *",
        "* +forward(mte2>v)x2",
        "-forward(mte2>v)x2 -ring(mte3>v)x2 * +ring(v>mte2)x2 +forward(v>mte3)x2",
        "-forward(v>mte3)x2 * +ring(mte3>v)x2",
    ]


def test_in_place_needs_one_ring() -> None:
    buffers = Buffers(x=2, y=2)
    units = [
        buffers.unit(MTE2, writes="x"),
        buffers.unit(MTE2, writes="y"),
        buffers.unit(V, "x y", "x"),
        buffers.unit(MTE3, "x"),
    ]
    kinds = [g.kind for g in plan_block(units, Shape((5, 5))).groups()]
    assert kinds.count(Kind.RING) == 1
    assert kinds.count(Kind.FORWARD) == 2


def test_matmul() -> None:
    buffers = Buffers(a=2, b=2, l0a=2, l0b=2)
    c = Accumulation("c", 128, 256)
    mad = (*buffers.unit(M, "l0a l0b"), Access(((99,),), M, True, Home.OUTSIDE, c))
    units = [
        buffers.unit(MTE2, writes="a"),
        buffers.unit(MTE2, writes="b"),
        buffers.unit(MTE1, "a", "l0a"),
        buffers.unit(MTE1, "b", "l0b"),
        mad,
    ]
    assert text(plan_block(units, Shape((5, 5)))) == [
        "-ring(mte1>mte2)x2 * +forward(mte2>mte1)x2",
        "-ring(mte1>mte2)x2 * +forward(mte2>mte1)x2",
        "-forward(mte2>mte1)x2 -ring(m>mte1)x2 * +ring(mte1>mte2)x2",
        "-forward(mte2>mte1)x2 * +ring(mte1>mte2)x2 +forward(mte1>m)x2",
        "-forward(mte1>m)x2 * +ring(m>mte1)x2",
    ]


@pytest.mark.parametrize(("rows", "columns", "barriers"), [(128, 256, 0), (32, 64, 1)])
def test_small_accumulations_need_a_barrier(rows: int, columns: int, barriers: int) -> None:
    c = Accumulation("c", rows, columns)
    units = [(Access(((0,),), M, True, Home.OUTSIDE, c),)]
    plan = plan_block(units, Shape((3, 3)))
    assert len(plan.groups()) == barriers


def test_a_nested_loop_is_one_unit() -> None:
    # The tiles of the outer loop: k steps on M, inside which L1 and L0 are ordered, then a drain.
    loop = (
        Access(((0,),), M, True),
        Access(((1,),), MTE2, True, Home.INSIDE),
        Access(((1,),), MTE1, False, Home.INSIDE),
    )
    units = [loop, (Access(((0,),), FIX, False),)]
    assert text(plan_block(units, Shape((3, 3)))) == [
        "-ring(fix>m)x1 * +forward(m>fix)x1",
        "-forward(m>fix)x1 * +ring(fix>m)x1",
    ]


def test_disjoint_executions_do_not_conflict() -> None:
    units = [(Access(((0,),), V, True, Home.OUTSIDE),)]
    assert not plan_block(units, Shape((3, 3), disjoint=True)).groups()
    assert plan_block(units, Shape((3, 3))).groups()


def test_a_loop_that_may_run_once_does_not_keep_sets_apart() -> None:
    # A nested loop reads what it stores: MTE2 must wait for MTE3 and the other way round. Between a
    # wait before the loop and the set behind it, nothing but the loop leads from pipe to pipe.
    loop = (Access(((0,),), MTE2, False, Home.INSIDE), Access(((0,),), MTE3, True))
    (line,) = text(plan_block([loop], Shape((3, 3))))
    assert line.split(" * ") == [
        "-ring(mte3>mte2)x1 held by forward |mte3 -ring(mte2>mte3)x1 held by forward",
        "+ring(mte2>mte3)x1 held by forward +ring(mte3>mte2)x1 held by forward",
    ]


def test_slots_that_buffers_share_at_different_turns_are_lent_as_one() -> None:
    units = [
        (Access(((0,), (1,)), V, True),),
        (Access(((1,), (2,)), MTE3, False),),
    ]
    plan = plan_block(units, SHAPE)
    assert [group.slots for group in plan.groups()] == [1, 1]
    for rounds in ([1], [2], [5], [1, 2, 3, 1]):
        assert not oracle.errors(stream(units, plan, rounds))


def test_two_pipes_that_meet_replace_flags_across() -> None:
    buffers = Buffers(x=1, y=1)
    units = [
        buffers.unit(MTE2, writes="x"),
        buffers.unit(V, "x", "y"),
        buffers.unit(MTE3, "y"),
    ]
    plan = plan_block(units, Shape((5, 5)))
    plan.join(1, (V, MTE2))
    assert text(plan)[:2] == [
        "-ring(v>mte2)x1 *",
        "-join(v>mte2)x1 held by join -ring(mte3>v)x1 * +ring(v>mte2)x1 +forward(v>mte3)x1",
    ]
    assert is_clean(units, Shape((5, 5)), plan)
    assert not is_clean(units, Shape((5, 5)), plan.without(plan.before[1][0]))


def test_a_barrier_of_all_pipes_replaces_any_flag() -> None:
    buffers = Buffers(x=1)
    units = [buffers.unit(MTE2, writes="x"), buffers.unit(V, "x", "x")]
    for kind in (Kind.FORWARD, Kind.RING):
        plan = plan_block(units, Shape((5, 5)))
        plan.stop_all(next(group for group in plan.groups() if group.kind is kind))
        assert is_clean(units, Shape((5, 5)), plan)


def drawn_block(seed: int):
    draw = random.Random(seed)
    buffers = Buffers(**{name: draw.choice((1, 2, 2, 3)) for name in "abcd"})
    pipes = (MTE2, V, MTE3, MTE1)
    units = []
    for _ in range(draw.randint(2, 5)):
        names = draw.sample("abcd", draw.randint(1, 3))
        split = draw.randint(0, len(names) - 1)
        units.append(
            buffers.unit(draw.choice(pipes), " ".join(names[:split]), " ".join(names[split:]))
        )
    return units


SHAPE = Shape(loop_rounds(6, None, nested=True))


@pytest.mark.parametrize("seed", range(150))
def test_drawn_blocks_are_ordered(seed: int) -> None:
    units = drawn_block(seed)
    plan = plan_block(units, SHAPE)
    assert is_clean(units, SHAPE, plan)
    for rounds in ([], [1], [2], [3], [7], [1, 1], [2, 3, 1], [4, 5]):
        assert not oracle.errors(stream(units, plan, rounds)), rounds


@pytest.mark.parametrize("seed", range(40))
def test_every_group_of_a_drawn_block_is_needed(seed: int) -> None:
    units = drawn_block(seed)
    plan = plan_block(units, SHAPE)
    for group in plan.groups():
        smaller = plan.without(group)
        runs = ([13, 13], [4, 5], [5, 5], [9, 8], [10, 7], [2, 3, 2], [1, 1, 4])
        assert any(oracle.errors(stream(units, smaller, run)) for run in runs), text(plan)
