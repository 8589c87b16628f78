"""The arithmetic of moving elements: axes with a stride on either side, merged where possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class MoveAxis:
    """An axis of a move: its extent, and elements from one index to the next on either side."""

    extent: int
    source: int
    target: int


def merge_axes(axes: Sequence[MoveAxis]) -> tuple[MoveAxis, ...]:
    """The same move with fewer axes: those of extent 1 go, neighbours that are one run join.

    >>> merge_axes([MoveAxis(2, 12, 12), MoveAxis(3, 4, 4), MoveAxis(4, 1, 1)])
    (MoveAxis(extent=24, source=1, target=1),)
    """
    merged: list[MoveAxis] = []
    for axis in axes:
        if axis.extent == 1:
            continue
        if merged:
            last = merged[-1]
            span = (axis.source * axis.extent, axis.target * axis.extent)
            if (last.source, last.target) == span:
                merged[-1] = MoveAxis(last.extent * axis.extent, axis.source, axis.target)
                continue
        merged.append(axis)
    return tuple(merged)


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Elements from one index to the next along each axis of a dense tensor."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


@dataclass(frozen=True)
class Part:
    """Equal pieces of an axis: ``count`` tiles of ``size`` elements from ``start``."""

    start: int
    count: int
    size: int


def parts(extent: int, size: int) -> Iterator[Part]:
    """An axis as whole tiles, then a shorter one if tiles do not divide it.

    >>> list(parts(10, 4))
    [Part(start=0, count=2, size=4), Part(start=8, count=1, size=2)]
    """
    whole, rest = divmod(extent, size)
    if whole:
        yield Part(0, whole, size)
    if rest:
        yield Part(whole * size, 1, rest)
