"""Who is ordered before whom on one core: the clock rules of flags and barriers, on integers.

A core dispatches in program order into in-order pipes. One pipe *starts* its instructions in
order but may start the next before the last has ended; only flags and barriers order ends before
starts. ``Clock`` computes exactly what is ordered in every legal execution, without any timing::

    clock = Clock()
    load = clock.data(MTE2)                      # dispatch; the stamp of the instruction on MTE2
    clock.set_flag(MTE2, V, event=0)             # -> SetVerdict.SAFE
    clock.wait_flag(MTE2, V, event=0)            # -> True; False: no token yet, nothing changed
    add = clock.data(V)
    clock.ordered(V, MTE2, load)                 # True: the load has ended before V starts more

Call the methods in an order the machine can reach: dispatch order, or for a wait that stands
before its set in the program, as soon as the token is there. ``ordered(p, q, stamp)`` asks about
whatever is issued on ``p`` *next or last*, so for one instruction: ``data`` first, then
``ordered`` for each conflicting earlier access. Pipes are positions in ``PIPES`` (``S`` is 0);
an event may be any hashable value. ``copy`` forks the state, to explore arms of a branch.

What is known of a pipe is a prefix: a set and a barrier always cover *all* earlier instructions
of their pipe, so one integer per pair of pipes is the whole state.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import StrEnum
from typing import NamedTuple

from pypto.target.memory import PIPES, CoreKind, Pipe

PIPE_COUNT = PIPES.index(Pipe.ALL)
SCALAR = PIPES.index(Pipe.S)


class EventKey(NamedTuple):
    """One event bit: set by pipe ``source``, waited for by pipe ``target``."""

    source: int
    target: int
    event: Hashable


class SetVerdict(StrEnum):
    """Whether the bit is certainly 0 when a set takes effect."""

    SAFE = "safe"
    LATENT = "latent"  # the wait before it came in this order, but nothing makes it come first
    HAPPENED = "happened"  # no wait between this set and the one before


class Clock:
    """What each pipe of one core knows to have ended.

    ``issued[p]`` counts the instructions of p, synchronisation included; ``known[p][q]`` = m:
    instructions 1…m of q have ended before anything later on p starts; ``pending`` maps a
    flag to what each of its waits to come will learn, the k-th wait from the k-th set; ``waited``
    maps a flag to the stamp of its last wait on the target pipe.
    """

    def __init__(self) -> None:
        self.issued = [0] * PIPE_COUNT
        self.known = [[0] * PIPE_COUNT for _ in range(PIPE_COUNT)]
        self.pending: dict[EventKey, list[tuple[int, ...]]] = {}
        self.waited: dict[EventKey, int] = {}

    def copy(self) -> Clock:
        """An independent clock in the same state."""
        other = Clock()
        other.issued = self.issued.copy()
        other.known = [row.copy() for row in self.known]
        other.pending = {key: releases.copy() for key, releases in self.pending.items()}
        other.waited = self.waited.copy()
        return other

    def dispatched(self) -> tuple[int, ...]:
        """What the scalar unit knows now: hand it to an instruction that is issued later."""
        return tuple(self.known[SCALAR])

    def data(self, pipe: int, scalar: tuple[int, ...] | None = None) -> int:
        """Issue a data instruction on ``pipe`` and return its stamp there.

        ``scalar`` is what the scalar unit knew at dispatch, by default what it knows now.
        """
        self._learn(pipe, self.known[SCALAR] if scalar is None else scalar)
        self.issued[pipe] += 1
        return self.issued[pipe]

    def ordered(self, pipe: int, other: int, stamp: int) -> bool:
        """Whether instruction ``stamp`` of ``other`` ends before the last of ``pipe`` starts."""
        return self.known[pipe][other] >= stamp

    def set_flag(
        self,
        source: int,
        target: int,
        event: Hashable,
        scalar: tuple[int, ...] | None = None,
    ) -> SetVerdict:
        """Issue a set on ``source``; its effect comes after everything before it has ended."""
        key = EventKey(source, target, event)
        stamp = self.data(source, scalar)
        verdict = SetVerdict.SAFE
        if self.pending.get(key):
            verdict = SetVerdict.HAPPENED
        elif self.waited.get(key, 0) > self.known[source][target]:
            verdict = SetVerdict.LATENT
        self.pending.setdefault(key, []).append(self._release(source, stamp))
        return verdict

    def wait_flag(
        self,
        source: int,
        target: int,
        event: Hashable,
        scalar: tuple[int, ...] | None = None,
    ) -> bool:
        """Issue a wait on ``target`` and learn what the set released; False: it must wait."""
        key = EventKey(source, target, event)
        releases = self.pending.get(key)
        if not releases:
            return False
        release = releases.pop(0)
        stamp = self.data(target, scalar)
        self._learn(target, release)
        # A wait of the scalar unit holds every later dispatch, so all pipes are after it.
        self.waited[key] = 0 if target == SCALAR else stamp
        return True

    def cross_set(self, pipe: int, scalar: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Issue a set for other cores on ``pipe``: what of this core is before its effect."""
        return self._release(pipe, self.data(pipe, scalar))

    def cross_wait(self, ended: tuple[int, ...]) -> None:
        """Issue a wait for other cores, which tells what of this core has ended for certain."""
        self.data(SCALAR)
        self._learn(SCALAR, ended)

    def barrier(self, pipe: int, scalar: tuple[int, ...] | None = None) -> None:
        """Issue a barrier: later instructions of ``pipe`` start after all earlier ones ended."""
        self.known[pipe][pipe] = self.data(pipe, scalar)

    def barrier_all(self) -> None:
        """Hold dispatch until everything dispatched so far has ended on every pipe."""
        self.data(SCALAR)
        for pipe in range(PIPE_COUNT):
            self._learn(SCALAR, self.known[pipe])
            self.known[SCALAR][pipe] = max(self.known[SCALAR][pipe], self.issued[pipe])

    def unbalanced(self) -> list[EventKey]:
        """The flags that are still set: at the end of a kernel there must be none."""
        return [key for key, releases in self.pending.items() if releases]

    def _release(self, pipe: int, stamp: int) -> tuple[int, ...]:
        release = self.known[pipe].copy()
        release[pipe] = stamp
        return tuple(release)

    def _learn(self, pipe: int, what: list[int] | tuple[int, ...]) -> None:
        row = self.known[pipe]
        for other, stamp in enumerate(what):
            if stamp > row[other]:
                row[other] = stamp


class Accumulation(NamedTuple):
    """The L0C tile of a matrix multiplication: byte address, valid extents, adds to what is."""

    base: int
    rows: int
    columns: int
    accumulates: bool


# Fractals (16 x 16 elements, whole ones) of C from which the cube orders an accumulation itself
# [V asc-devkit, Mmad.md and mmad_compute.h].
ORDERED_FRACTALS = 10


def accumulation_is_ordered(rows: int, columns: int) -> bool:
    """Whether a multiplication may add to the C tile of the one before without a barrier."""
    return (rows // 16) * (columns // 16) >= ORDERED_FRACTALS


def same_pipe_is_ordered(
    pipe: int, earlier: Accumulation | None = None, later: Accumulation | None = None
) -> bool:
    """Whether hardware orders two conflicting instructions of one pipe without a barrier.

    Only scalar accesses, and a multiplication that accumulates on exactly the tile of an earlier
    one, are; the vendor promises nothing else, reads before writes included.
    """
    if pipe == SCALAR:
        return True
    if earlier is None or later is None or not later.accumulates:
        return False
    same_tile = earlier[:3] == later[:3]
    return same_tile and accumulation_is_ordered(later.rows, later.columns)


def _pairs(text: str) -> frozenset[tuple[Pipe, Pipe]]:
    words = (word.split("_") for word in text.split())
    return frozenset((Pipe(source.lower()), Pipe(target.lower())) for source, target in words)


_VECTOR_PAIRS = _pairs(
    "MTE2_V V_MTE2 MTE3_V V_MTE3 MTE3_MTE2 MTE2_MTE3 S_V V_S S_MTE2 MTE2_S S_MTE3 MTE3_S"
)
_CUBE_PAIRS = _pairs(
    "MTE2_MTE1 MTE1_MTE2 MTE1_M M_MTE1 MTE3_MTE1 MTE1_MTE3 MTE2_M M_MTE2 M_FIX FIX_M "
    "MTE3_MTE2 MTE2_MTE3 S_MTE2 MTE2_S S_MTE3 MTE3_S MTE2_FIX FIX_MTE2 FIX_S M_S FIX_MTE3 "
    "MTE1_FIX FIX_MTE1"
)

# Pairs (source, target) that have an event [V asc-devkit, kernel_event.h]. A dependence on any
# other pair goes through a third pipe.
EVENT_PAIRS: dict[CoreKind, frozenset[tuple[Pipe, Pipe]]] = {
    CoreKind.VECTOR: _VECTOR_PAIRS,
    CoreKind.CUBE: _CUBE_PAIRS,
    CoreKind.AICORE: frozenset(
        pair
        for pair in _VECTOR_PAIRS | _CUBE_PAIRS | _pairs("V_M M_V V_MTE1 MTE1_V")
        if Pipe.FIX not in pair
    ),
}
