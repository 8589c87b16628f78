"""Runs of stored elements against the 32-byte blocks of a machine that copies only whole ones.

A copy of whole blocks that ends a run writes up to 31 bytes behind it. These lie behind the tensor,
or are kept by one of two ways (``Tail``). Only one of them needs a kernel to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pypto.passes.tile.arithmetic import ceil_div
from pypto.target.instructions import exists
from pypto.target.memory import BLOCK_BYTES
from pypto.target.soc import Soc

# A run longer than this has room within itself to put its last 32 bytes together.
ROOM_BYTES = 2 * BLOCK_BYTES


class Tail(StrEnum):
    """What becomes of the elements behind a run, up to the end of its last block.

    ``free``: there are none, or they belong to nobody. ``exact``: they are not touched.
    ``merge``: they are read and written back, so nobody else may write them meanwhile.
    """

    FREE = "free"
    EXACT = "exact"
    MERGE = "merge"


@dataclass(frozen=True)
class Runs:
    """``count`` runs of ``length`` neighbouring elements of ``size`` bytes that a kernel stores.

    None stands for a number known at launch. ``ends_tensor``: nothing lies behind the last run.
    ``adjacent``: so many runs follow each other without a gap, and tiles hold some of them.
    """

    size: int
    length: int | None
    count: int | None
    ends_tensor: bool = True
    adjacent: int | None = 1


def copies_whole_blocks(machine: Soc) -> bool:
    """Whether copies to global memory end on blocks of 32 bytes only."""
    return not exists("copy_ubuf_to_gm_align.b16", machine.architecture)


def tail_of(runs: Runs, piece: int, rows: int = 1) -> Tail:
    """How runs are stored in pieces of ``piece`` elements, the last one of a run being shorter.

    A tile holds ``rows`` adjacent runs, the last one fewer.

    >>> str(tail_of(Runs(size=4, length=741, count=1), 128))
    'free'
    >>> str(tail_of(Runs(size=4, length=741, count=37), 128))
    'exact'
    >>> str(tail_of(Runs(size=4, length=130, count=34), 128))
    'merge'
    >>> str(tail_of(Runs(size=4, length=5, count=64, adjacent=64), 5, 16))
    'exact'
    """
    if is_whole(piece, runs.size) and (is_last(runs) or is_whole(runs.length, runs.size)):
        return Tail.FREE
    if runs.length is None:
        return Tail.MERGE
    if is_last(runs) and runs.length <= piece:
        return Tail.FREE
    lengths = piece_lengths(runs.length, piece)
    if all(is_whole(length, runs.size) for length in lengths):
        return Tail.FREE
    has_room = all(length * runs.size > ROOM_BYTES for length in lengths)
    return Tail.EXACT if has_room or fills_room(runs, piece, rows) else Tail.MERGE


def fills_room(runs: Runs, piece: int, rows: int) -> bool:
    """Whether every tile holds whole runs, so many that they have room together."""
    if runs.length is None or runs.adjacent is None or piece < runs.length:
        return False
    fewest = min(piece_lengths(runs.adjacent, rows))
    return fewest >= 2 * runs_at_end(runs.length * runs.size)


def runs_at_end(bytes: int) -> int:
    """How many adjacent runs of so many bytes hold the last 32 bytes of them all."""
    return ceil_div(BLOCK_BYTES, bytes)


def is_last(runs: Runs) -> bool:
    """Whether there is one run, with nothing behind it."""
    return runs.count == 1 and runs.ends_tensor


def is_whole(length: int | None, size: int) -> bool:
    """Whether so many elements of ``size`` bytes surely fill whole blocks."""
    return length is not None and length * size % BLOCK_BYTES == 0


def piece_lengths(length: int, piece: int) -> set[int]:
    """The different lengths of the pieces of a run.

    >>> sorted(piece_lengths(741, 128))
    [101, 128]
    """
    return {min(length, piece), length % piece or min(length, piece)}
