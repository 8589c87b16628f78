"""Where buffers that live at different times may share memory: pure arithmetic on intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pypto.passes.tik.bank_uses import candidates


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


def pack_apart(
    intervals: Sequence[Interval], limit: int, lost: Callable[[int, Mapping[int, int]], int]
) -> list[int] | None:
    """Offsets below ``limit`` in different banks where possible; None: no room was found.

    ``lost(i, places)`` are the cycles that buffer i loses with others, all at ``places``. Greedy,
    the largest first, each where it loses the fewest with those placed before; then each moves
    once more to where it loses the fewest with all others.
    """
    order = sorted(range(len(intervals)), key=lambda i: (-intervals[i].bytes, intervals[i].start))
    places: dict[int, int] = {}
    for current in 2 * order:
        others = {i: place for i, place in places.items() if i != current}
        choices = {
            place: lost(current, others | {current: place})
            for place in free_places(intervals, others, current, limit)
        }
        if not choices:
            return None
        places[current] = min(choices, key=lambda place, choices=choices: (choices[place], place))
    return [places[i] for i in range(len(intervals))]


def free_places(
    intervals: Sequence[Interval], places: Mapping[int, int], current: int, limit: int
) -> Iterator[int]:
    """Places for a buffer where nothing else is during its life."""
    one = intervals[current]
    taken = sorted(
        (place, place + intervals[i].bytes)
        for i, place in places.items()
        if intervals[i].meets(one)
    )
    low = 0
    for start, stop in [*taken, (limit, limit)]:
        yield from candidates(low, start, one.bytes)
        low = max(low, stop)
