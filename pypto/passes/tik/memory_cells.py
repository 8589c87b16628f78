"""Local memory cut into cells: two buffers share bytes exactly when they share a cell."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pypto.target.memory import Space


class Range(NamedTuple):
    """Bytes ``start`` .. ``stop`` - 1 of a memory space."""

    space: Space
    start: int
    stop: int


class MemoryCells:
    """Numbers the pieces between all ends of some byte ranges."""

    def __init__(self, ranges: Iterable[Range]) -> None:
        ends: dict[Space, set[int]] = {}
        for space, start, stop in ranges:
            ends.setdefault(space, set()).update((start, stop))
        self.ends: dict[Space, Sequence[int]] = {s: sorted(found) for s, found in ends.items()}
        self.first: dict[Space, int] = {}
        count = 0
        for space, found in self.ends.items():
            self.first[space] = count
            count += len(found)
        self.count = count

    def of(self, piece: Range) -> tuple[int, ...]:
        """The cells of one of the ranges."""
        ends, first = self.ends[piece.space], self.first[piece.space]
        return tuple(
            range(first + bisect_left(ends, piece.start), first + bisect_left(ends, piece.stop))
        )
