"""An independent judge of one core's instructions: a graph of events, no clocks, byte sets.

Every data instruction has a dispatch, a start and an end; every set an issue and an effect. The
edges say what must come before what; what no path orders may happen in either order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from pypto.target.instruction import byte_ranges
from pypto.target.rows import Form

S, ALL = 0, 7
Event = tuple[str, int]


@dataclass
class Verdict:
    """Pairs and numbers are positions in the list judged."""

    deadlock: bool = False
    races: set[tuple[int, int]] = field(default_factory=set)
    double_sets: set[int] = field(default_factory=set)
    unbalanced: set[tuple[int, ...]] = field(default_factory=set)


def judge(steps: Sequence[tuple[Form, tuple[int, ...]]], depth: int | None = None) -> Verdict:
    """The verdict on (form, resolved operands) in dispatch order; ``depth`` bounds the queues."""
    before: dict[Event, set[Event]] = defaultdict(set)
    ends: dict[int, list[Event]] = defaultdict(list)  # per pipe: when its entries are over
    queue: dict[int, list[Event]] = defaultdict(list)
    hold: list[Event] = []  # what every later dispatch comes after
    sets, waits = defaultdict(list), defaultdict(list)
    for i, (form, operands) in enumerate(steps):
        name, pipe, this = form.mnemonic, form.queue(operands), ("node", i)
        before["dispatch", i] |= {("dispatch", i - 1)} if i else set()
        before["dispatch", i] |= set(hold)
        if depth is not None and pipe != S and len(queue[pipe]) >= depth:
            before["dispatch", i].add(queue[pipe][-depth])
        before[this] |= {("dispatch", i), *queue[pipe][-1:]}
        queue[pipe].append(this)
        over = this
        if name == "set_flag":
            over = ("effect", i)
            before[over] |= {this, *ends[pipe]}
            sets[operands].append(i)
        elif name == "wait_flag":
            waits[operands].append(i)
        elif name == "pipe_barrier":
            every = [e for other in list(ends) for e in ends[other]]
            before[this] |= set(every if operands[0] == ALL else ends[pipe])
        else:
            over = ("end", i)
            before[over].add(this)
        ends[pipe].append(over)
        if pipe == S and name != "set_flag":
            hold = [this]
    verdict = Verdict()
    for key in sets.keys() | waits.keys():
        if len(waits[key]) > len(sets[key]):
            verdict.deadlock = True
        if len(sets[key]) > len(waits[key]):
            verdict.unbalanced.add(key)
        for set_, wait in zip(sets[key], waits[key], strict=False):
            before["node", wait].add(("effect", set_))
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        verdict.deadlock = True
    if verdict.deadlock:
        return verdict
    bit = {event: 1 << n for n, event in enumerate(order)}
    earlier: dict[Event, int] = {}
    for event in order:
        earlier[event] = 0
        for source in before[event]:
            earlier[event] |= earlier[source] | bit[source]
    for key in sets:
        for wait, again in zip(waits[key], sets[key][1:], strict=False):
            if not earlier["effect", again] & bit["node", wait]:
                verdict.double_sets.add(again)
        verdict.double_sets |= set(sets[key][len(waits[key]) + 1 :])
    touched = [_touched(form, operands) for form, operands in steps]
    for b in range(len(steps)):
        for a in range(b):
            if not _conflict(touched[a], touched[b]) or _excused(steps[a], steps[b]):
                continue
            if not earlier["node", b] & bit["end", a] and not earlier["node", a] & bit["end", b]:
                verdict.races.add((a, b))
    return verdict


def _touched(form: Form, operands: tuple[int, ...]) -> list[tuple[str, bool, int]]:
    """(space, whether written, bytes as the bits of an integer) of each address."""
    if form.row is None:
        return []
    fields = form.row.family.tuple_type(*operands)
    found = []
    addressed = [f for f in form.row.fields if f.space is not None]
    for one, access in zip(
        addressed, form.row.family.footprint(fields, form.row.facts), strict=True
    ):
        bits = 0
        for start, stop in byte_ranges(access):
            bits |= (1 << stop) - (1 << start)
        found += [(str(one.space), mode == "w", bits) for mode in one.role]
    return found


def _conflict(one: list[tuple[str, bool, int]], other: list[tuple[str, bool, int]]) -> bool:
    return any(
        space == other_space and (writes or other_writes) and bool(bits & other_bits)
        for space, writes, bits in one
        for other_space, other_writes, other_bits in other
    )


def _excused(one: tuple[Form, tuple[int, ...]], other: tuple[Form, tuple[int, ...]]) -> bool:
    """A large multiplication that adds to exactly the tile of the one before."""
    rows = (one[0].row, other[0].row)
    if any(row is None or row.family.name != "mad" for row in rows):
        return False
    first, second = (
        form.row.family.tuple_type(*operands)  # pyright: ignore[reportOptionalMemberAccess]
        for form, operands in (one, other)
    )
    same = (first.c, first.m, first.n) == (second.c, second.m, second.n)
    return same and not second.c_init and (second.m // 16) * (second.n // 16) >= 10
