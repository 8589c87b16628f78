"""The data caches of the scalar units, as far as programs must keep them coherent.

A line that was loaded stays as it is while pipes or other cores write its bytes, and what was
stored is nobody else's to read until ``dcci`` writes it back. Lines never leave by themselves: a
program must be right for every cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto.emulator.hazards_context import Context, Entry
from pypto.emulator.hazards_report import HazardKind
from pypto.emulator.hazards_shadow import Box
from pypto.target.memory import Space
from pypto.target.soc import DCACHE_LINE_BYTES


@dataclass
class Line:
    """A line in a cache: bits of its bytes that others have written, and that it has written."""

    stale: int = 0
    dirty: int = 0
    store: Entry | None = None


class DataCache:
    """What the cache of one core may hold; ``others`` are the caches of all cores."""

    def __init__(self, context: Context, others: list[DataCache]) -> None:
        self.context = context
        self.others = others
        self.lines: dict[int, Line] = {}
        others.append(self)

    def load(self, entry: Entry, where: list[Box]) -> None:
        """A scalar load: it must not find bytes that others have written since."""
        for number, bits in lines_of(where):
            line = self.lines.setdefault(number, Line())
            if line.stale & bits:
                self.context.add(
                    HazardKind.STALE_DCACHE,
                    entry,
                    space=Space.GM,
                    start=where[0].start,
                    stop=where[0].start + where[0].length,
                    message="the data cache may still hold what was there before",
                    cure="put `dcci` with its address between the write and the load",
                )
        self._read(entry, where)

    def store(self, entry: Entry, where: list[Box]) -> None:
        """A scalar store: it stays in the cache."""
        self._written(where, self)
        for number, bits in lines_of(where):
            line = self.lines.setdefault(number, Line())
            line.dirty |= bits
            line.stale &= ~bits
            line.store = entry

    def drop(self, address: int, everything: bool) -> None:
        """Write back and forget a line, or all."""
        if everything:
            self.lines.clear()
        else:
            self.lines.pop(address // DCACHE_LINE_BYTES, None)

    def transfer(self, entry: Entry, where: list[Box], writes: bool) -> None:
        """A pipe of the core reads or writes global memory past all caches."""
        if not any(cache.lines for cache in self.others):
            return
        if writes:
            self._written(where, None)
        else:
            self._read(entry, where, past=self)

    def finish(self) -> None:
        """The kernel ends: nothing may be left to be written back."""
        for number, line in self.lines.items():
            if line.dirty and line.store is not None:
                self._report(line, number, line.store, "the kernel ends")

    def _read(self, entry: Entry, where: list[Box], past: DataCache | None = None) -> None:
        for cache in self.others:
            for number, bits in lines_of(where) if cache is not self or past else ():
                line = cache.lines.get(number)
                if line is not None and line.dirty & bits:
                    self._report(line, number, entry, "it is read past the cache")

    def _report(self, line: Line, number: int, entry: Entry, when: str) -> None:
        start = number * DCACHE_LINE_BYTES
        self.context.add(
            HazardKind.DCACHE_DIRTY,
            entry,
            first=None if line.store in (None, entry) else self.context.site(line.store),
            space=Space.GM,
            start=start,
            stop=start + DCACHE_LINE_BYTES,
            message=f"a scalar store is still in the data cache when {when}",
            cure="put `dcci` with its address, and `dsb`, behind the store",
        )

    def _written(self, where: list[Box], writer: DataCache | None) -> None:
        for cache in self.others:
            for number, bits in lines_of(where) if cache is not writer and cache.lines else ():
                if number in cache.lines:
                    cache.lines[number].stale |= bits


def lines_of(where: list[Box]) -> Iterator[tuple[int, int]]:
    """The lines that boxes touch, with the bits of the bytes."""
    for start, outer, outer_stride, inner, inner_stride, length in where:
        for i in range(outer):
            for j in range(inner):
                low = start + i * outer_stride + j * inner_stride
                yield from _lines(low, low + length)


def _lines(low: int, stop: int) -> Iterator[tuple[int, int]]:
    for number in range(low // DCACHE_LINE_BYTES, -(-stop // DCACHE_LINE_BYTES)):
        base = number * DCACHE_LINE_BYTES
        first, last = max(low - base, 0), min(stop - base, DCACHE_LINE_BYTES)
        yield number, (1 << last) - (1 << first)
