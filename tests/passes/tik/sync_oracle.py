"""An oracle without clocks: the event graph of a stream of instructions, and what it orders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Data(NamedTuple):
    """A data instruction on ``pipe`` that reads and writes cells."""

    pipe: str
    reads: frozenset[object]
    writes: frozenset[object]


class Set(NamedTuple):
    source: str
    target: str
    event: object


class Wait(NamedTuple):
    source: str
    target: str
    event: object


class Barrier(NamedTuple):
    pipe: str


Step = Data | Set | Wait | Barrier


def errors(stream: Iterable[Step]) -> list[str]:
    """Races, double sets, unbalanced flags and waits without a set of one core."""
    graph = _Graph()
    for step in stream:
        graph.add(step)
    return graph.verdict()


class _Graph:
    """Nodes are numbered in program order; ``known[i]`` is the bit set of nodes before node i."""

    def __init__(self) -> None:
        self.known: list[int] = []
        self.last: dict[str, int] = {}
        self.ends: dict[str, list[int]] = {}
        self.data: list[tuple[Data, int, int]] = []
        self.sets: dict[tuple, list[int]] = {}
        self.waits: dict[tuple, list[int]] = {}
        self.found: list[str] = []

    def node(self, before: Iterable[int]) -> int:
        known = 0
        for other in before:
            known |= self.known[other] | 1 << other
        self.known.append(known)
        return len(self.known) - 1

    def issue(self, pipe: str, before: Iterable[int] = ()) -> int:
        earlier = [self.last[pipe]] if pipe in self.last else []
        self.last[pipe] = self.node([*earlier, *before])
        return self.last[pipe]

    def add(self, step: Step) -> None:
        match step:
            case Data():
                start = self.issue(step.pipe)
                end = self.node([start])
                self.ends.setdefault(step.pipe, []).append(end)
                self.data.append((step, start, end))
            case Set():
                start = self.issue(step.source)
                effect = self.node([start, *self.ends.get(step.source, [])])
                self.sets.setdefault(tuple(step), []).append(effect)
            case Wait():
                position = len(self.waits.setdefault(tuple(step), []))
                effects = self.sets.get(tuple(step), [])
                if position >= len(effects):
                    self.found.append(f"deadlock {step}")
                    return
                self.waits[tuple(step)].append(self.issue(step.target, [effects[position]]))
            case Barrier():
                self.issue(step.pipe, self.ends.get(step.pipe, []))

    def before(self, a: int, b: int) -> bool:
        return bool(self.known[b] >> a & 1)

    def verdict(self) -> list[str]:
        for later, (b, start, _) in enumerate(self.data):
            for a, _, end in self.data[:later]:
                shared = a.writes & (b.reads | b.writes) or a.reads & b.writes
                if shared and not self.before(end, start):
                    self.found.append(f"race {a} {b}")
        for key, effects in self.sets.items():
            waits = self.waits.get(key, [])
            if len(waits) != len(effects):
                self.found.append(f"unbalanced {key}")
            for wait, effect in zip(waits, effects[1:], strict=False):
                if not self.before(wait, effect):
                    self.found.append(f"double set {key}")
        return self.found
