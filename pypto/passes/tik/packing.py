"""Where buffers that live at different times may share memory: pure arithmetic on intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Interval(NamedTuple):
    """A buffer of ``bytes`` that is alive from ``start`` to ``end``, both included."""

    start: int
    end: int
    bytes: int

    def meets(self, other: Interval) -> bool:
        """Whether both are alive at one time."""
        return self.start <= other.end and other.start <= self.end


def pack(intervals: Sequence[Interval], align: int) -> list[int]:
    """An offset, a multiple of ``align``, for each: those alive at one time do not overlap.

    Greedy: the largest first, each at the lowest offset that is free during its life.
    """
    order = sorted(range(len(intervals)), key=lambda i: (-intervals[i].bytes, intervals[i].start))
    offsets = [0] * len(intervals)
    placed: list[int] = []
    for current in order:
        taken = sorted(
            (offsets[i], offsets[i] + intervals[i].bytes)
            for i in placed
            if intervals[i].meets(intervals[current])
        )
        offset = 0
        for start, stop in taken:
            if offset + intervals[current].bytes <= start:
                break
            offset = max(offset, -(-stop // align) * align)
        offsets[current] = offset
        placed.append(current)
    return offsets


def extent(intervals: Sequence[Interval], offsets: Sequence[int]) -> int:
    """Bytes from offset 0 to the end of the last buffer."""
    return max((o + i.bytes for i, o in zip(intervals, offsets, strict=True)), default=0)
