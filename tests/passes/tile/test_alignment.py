"""Runs against blocks: a tail is free only where whole blocks write nobody else's elements."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto.passes.tile import alignment
from pypto.passes.tile.alignment import Runs, Tail, tail_of
from pypto.target.memory import BLOCK_BYTES


def test_examples():
    assert doctest.testmod(alignment).failed == 0


def pieces(length, piece):
    """Start and length of every piece of a run."""
    return [(start, min(piece, length - start)) for start in range(0, length, piece)]


@given(st.sampled_from([1, 2, 4]), st.integers(1, 300), st.integers(1, 70), st.integers(1, 3))
def test_free_tails_write_only_behind_the_tensor(size, length, piece, count):
    tensor = length * count
    spills = [
        run * length + start + step < tensor
        for run in range(count)
        for start, held in pieces(length, piece)
        for step in range(held, -(-held * size // BLOCK_BYTES) * BLOCK_BYTES // size)
    ]
    if tail_of(Runs(size, length, count), piece) is Tail.FREE:
        assert not any(spills)
    elif count > 1:
        assert any(spills)


@given(st.sampled_from([1, 2, 4]), st.integers(1, 300), st.integers(1, 70), st.integers(1, 3))
def test_exact_tails_have_room_in_every_piece(size, length, piece, count):
    shortest = min(held for _, held in pieces(length, piece)) * size
    if tail_of(Runs(size, length, count), piece) is Tail.EXACT:
        assert shortest > alignment.ROOM_BYTES


@given(st.sampled_from([1, 2, 4]), st.integers(1, 70), st.integers(1, 300), st.integers(1, 300))
def test_tiles_of_short_rows_have_room_for_their_end_twice(size, length, adjacent, rows):
    runs = Runs(size, length, adjacent, adjacent=adjacent)
    fewest = min(held for _, held in pieces(adjacent, rows)) * length * size
    if tail_of(runs, length, rows) is Tail.EXACT:
        assert fewest >= alignment.ROOM_BYTES
    elif adjacent > 1 and length * size % BLOCK_BYTES:
        assert fewest < alignment.ROOM_BYTES + 2 * length * size


@pytest.mark.parametrize(
    ("runs", "piece", "tail"),
    [
        (Runs(4, None, 1), 128, Tail.FREE),  # the flat tensor of a launch
        (Runs(4, None, 1), 104, Tail.FREE),
        (Runs(4, None, 1), 101, Tail.MERGE),
        (Runs(4, None, None), 128, Tail.MERGE),
        (Runs(4, 128, None), 128, Tail.FREE),
        (Runs(4, 5, 1), 8, Tail.FREE),
        (Runs(4, 5, 1, ends_tensor=False), 8, Tail.MERGE),
        (Runs(1, 33, 2), 64, Tail.MERGE),
        (Runs(2, 33, 2), 64, Tail.EXACT),
        (Runs(4, 16, 1), 1, Tail.MERGE),
        (Runs(4, 1, 1), 1, Tail.FREE),
    ],
)
def test_tails(runs, piece, tail):
    assert tail_of(runs, piece) is tail
