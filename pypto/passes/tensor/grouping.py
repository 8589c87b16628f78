"""Which operations share a kernel: greedy merging on a graph whose nodes are numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


class Grouping:
    """A partition of the nodes of an acyclic graph that stays acyclic between its groups.

    Node ``n`` reads the nodes ``sources[n]``, all smaller than ``n``. ``fits`` says whether nodes,
    in ascending order, may form one group. A group is named by its smallest node.
    """

    def __init__(
        self, sources: Sequence[Iterable[int]], fits: Callable[[tuple[int, ...]], bool]
    ) -> None:
        self.sources = [tuple(sorted(set(read))) for read in sources]
        self.readers: list[list[int]] = [[] for _ in sources]
        for node, read in enumerate(self.sources):
            for source in read:
                self.readers[source].append(node)
        self.group_of = list(range(len(sources)))
        self.members: dict[int, tuple[int, ...]] = {n: (n,) for n in range(len(sources))}
        self._fits = fits
        self._known: dict[tuple[int, ...], bool] = {}

    def merge_along_edges(self, nodes: Sequence[int]) -> None:
        """Merge ``nodes`` with the nodes they read, nearest first, until nothing changes."""
        candidates = set(nodes)
        for component in self._components(candidates):
            if len(component) > 1:
                self._merge_all(component)
        changed = True
        while changed:
            changed = False
            for node in nodes:
                for source in reversed(self.sources[node]):
                    if source in candidates and self.merge(node, source):
                        changed = True

    def merge(self, a: int, b: int) -> bool:
        """Put the groups of two nodes together if that is legal; whether it was done."""
        first, second = sorted((self.group_of[a], self.group_of[b]))
        if first == second:
            return False
        merged = tuple(sorted(self.members[first] + self.members[second]))
        if merged not in self._known:
            self._known[merged] = self._fits(merged)
        if not self._known[merged] or self._connected_outside(first, second):
            return False
        self.members[first] = merged
        for node in self.members.pop(second):
            self.group_of[node] = first
        return True

    def _components(self, candidates: set[int]) -> list[tuple[int, ...]]:
        """The candidates in sets that edges between them connect."""
        components = []
        waiting = set(candidates)
        while waiting:
            component, border = set(), [waiting.pop()]
            while border:
                node = border.pop()
                component.add(node)
                near = waiting.intersection((*self.sources[node], *self.readers[node]))
                waiting -= near
                border.extend(near)
            components.append(tuple(sorted(component)))
        return components

    def _merge_all(self, component: tuple[int, ...]) -> None:
        """Make single nodes one group at once, when they fit: far cheaper than edge by edge."""
        inside = set(component)
        beyond = {reader for node in component for reader in self.readers[node]} - inside
        waiting = list(beyond)
        while waiting:
            new = set(self.readers[waiting.pop()]) - beyond
            if new & inside:
                return
            beyond |= new
            waiting.extend(new)
        self._known[component] = self._fits(component)
        if not self._known[component]:
            return
        first = component[0]
        self.members[first] = component
        for node in component[1:]:
            del self.members[node]
            self.group_of[node] = first

    def _connected_outside(self, a: int, b: int) -> bool:
        """Whether a third group reads one of two groups and is, at last, read by the other."""
        return self._reaches(a, b) or self._reaches(b, a)

    def _reaches(self, start: int, end: int) -> bool:
        waiting = [group for group in self._reading_groups(start) if group != end]
        seen = {start, *waiting}
        while waiting:
            for group in self._reading_groups(waiting.pop()):
                if group == end:
                    return True
                if group not in seen:
                    seen.add(group)
                    waiting.append(group)
        return False

    def _reading_groups(self, group: int) -> set[int]:
        readers = {self.group_of[r] for node in self.members[group] for r in self.readers[node]}
        return readers - {group}


def ordered_units(unit_of: Sequence[int], sources: Sequence[Iterable[int]]) -> list[int]:
    """The units of a graph so that each comes behind those it reads, else by first member.

    Node ``n`` belongs to unit ``unit_of[n]`` and reads the nodes ``sources[n]``.
    """
    reads: dict[int, set[int]] = {unit: set() for unit in unit_of}
    for node, unit in enumerate(unit_of):
        reads[unit] |= {unit_of[source] for source in sources[node]} - {unit}
    ordered: dict[int, None] = {}
    for root in reads:
        stack = [root]
        while stack:
            unit = stack[-1]
            missing = [read for read in sorted(reads[unit]) if read not in ordered]
            if missing:
                stack.extend(reversed(missing))
            else:
                ordered[stack.pop()] = None
    return list(ordered)
