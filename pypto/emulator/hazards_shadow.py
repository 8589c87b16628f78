"""Who touched each byte last: stamps per pipe and kind of access, exact to the byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from pypto.target.instruction import Access

PAGE_BYTES = 4096
READ, WRITE = -2, -1  # kinds of access; an atomic of mode m is a kind of its own, m > 0


class Box(NamedTuple):
    """``outer`` x ``inner`` whole runs of ``length`` bytes from ``start``."""

    start: int
    outer: int
    outer_stride: int
    inner: int
    inner_stride: int
    length: int


def boxes(access: Access) -> list[Box]:
    """An access as boxes of whole runs, those that touch joined."""
    start, outer, outer_stride, inner, inner_stride, length, edge, last_inner, last_edge = access
    if outer <= 0:
        return []
    if length == edge == last_edge and inner == last_inner:
        found = [Box(start, outer, outer_stride, inner, inner_stride, length)]
    else:
        tail = start + (inner - 1) * inner_stride
        last = start + (outer - 1) * outer_stride
        last_tail = last + (last_inner - 1) * inner_stride
        found = [
            Box(start, outer - 1, outer_stride, inner - 1, inner_stride, length),
            Box(tail, outer - 1, outer_stride, min(inner, 1), 0, edge),
            Box(last, 1, 0, last_inner - 1, inner_stride, length),
            Box(last_tail, 1, 0, min(last_inner, 1), 0, last_edge),
        ]
    return [_joined(box) for box in found if box.outer > 0 and box.inner > 0 and box.length > 0]


def _joined(box: Box) -> Box:
    start, outer, outer_stride, inner, inner_stride, length = box
    if inner == 1 or inner_stride == length:
        length, inner, inner_stride = length * inner, 1, 0
        if outer == 1 or outer_stride == length:
            length, outer, outer_stride = length * outer, 1, 0
    return Box(start, outer, outer_stride, inner, inner_stride, length)


def view(array: np.ndarray, box: Box, origin: int = 0) -> np.ndarray:
    """The items of ``array``, one per byte from address ``origin``, that a box covers."""
    at = box.start - origin
    if box.outer == box.inner == 1:
        return array[at : at + box.length]
    size = array.itemsize
    return np.ndarray(
        (box.outer, box.inner, box.length),
        array.dtype,
        array,
        at * size,
        (box.outer_stride * size, box.inner_stride * size, size),
    )


class Touched(NamedTuple):
    """Last stamps of a kind of access by a pipe to the bytes of a box; below ``floor``: ordered."""

    core: int
    pipe: int
    kind: int
    box: Box
    stamps: np.ndarray
    floor: int

    def unordered(self) -> Iterator[int]:
        """The stamps above the floor, latest first."""
        stamp = int(self.stamps.max())
        while stamp > self.floor:
            yield stamp
            older = self.stamps[self.stamps < stamp]
            stamp = int(older.max()) if older.size else 0

    def addresses(self, stamp: int) -> tuple[int, int]:
        """First address of a stamp and first one behind its last."""
        _, outer, outer_stride, inner, inner_stride, length = self.box
        shaped = self.stamps.reshape(outer, inner, length)
        row, run, byte = np.nonzero(shaped == stamp)
        found = self.box.start + row * outer_stride + run * inner_stride + byte
        return int(found.min()), int(found.max()) + 1


def clash(one: int, other: int) -> bool:
    """Whether two kinds of access to one byte conflict."""
    if one == READ or other == READ:
        return one != other
    return one == WRITE or other == WRITE or one != other


class Last(NamedTuple):
    """Stamps of the last access to each byte, and which pages were ever touched."""

    stamps: np.ndarray  # int32[bytes]
    pages: np.ndarray  # bool[pages]


class Shadow:
    """The last accesses to ``size`` bytes from address ``origin``, by core, pipe and kind.

    Stamps count the instructions of one pipe of one core from 1; 0 means never.
    """

    def __init__(self, size: int, origin: int = 0) -> None:
        self.size = size
        self.origin = origin
        self.last: dict[tuple[int, int, int], Last] = {}

    def conflicts(
        self, kind: int, where: list[Box], floor: Callable[[int, int], int]
    ) -> Iterator[Touched]:
        """Where clashing accesses are not known to have ended.

        ``floor(core, pipe)`` is how many instructions of a pipe have ended for certain.
        """
        for (core, pipe, other), last in self.last.items():
            if not clash(kind, other):
                continue
            ended = floor(core, pipe)
            for box in where:
                if not last.pages[self._pages(box)].any():
                    continue
                items = view(last.stamps, box, self.origin)
                if items.max() > ended:
                    yield Touched(core, pipe, other, box, items, ended)

    def record(self, core: int, pipe: int, kind: int, where: list[Box], stamp: int) -> None:
        """Instruction ``stamp`` of a pipe touches the boxes."""
        key = (core, pipe, kind)
        if key not in self.last:
            pages = np.zeros(self.size // PAGE_BYTES + 1, np.bool_)
            # Memory that is never touched costs nothing.
            self.last[key] = Last(np.zeros(self.size, np.int32), pages)
        last = self.last[key]
        for box in where:
            view(last.stamps, box, self.origin)[...] = stamp
            last.pages[self._pages(box)] = True

    def _pages(self, box: Box) -> slice:
        """The pages from the first to the last byte of a box."""
        start = box.start - self.origin
        reach = (box.outer - 1) * box.outer_stride + (box.inner - 1) * box.inner_stride
        return slice(start // PAGE_BYTES, (start + reach + box.length - 1) // PAGE_BYTES + 1)
