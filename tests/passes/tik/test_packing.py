from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pypto.passes.tik.packing import Interval, extent, pack

INTERVALS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 8), st.integers(1, 500)).map(
        lambda drawn: Interval(drawn[0], drawn[0] + drawn[1], drawn[2])
    ),
    max_size=12,
)


@given(INTERVALS)
def test_buffers_alive_together_do_not_overlap(intervals: list[Interval]) -> None:
    offsets = pack(intervals, 32)
    assert all(offset % 32 == 0 for offset in offsets)
    for i, a in enumerate(intervals):
        for j, b in enumerate(intervals[:i]):
            if a.meets(b):
                assert offsets[i] + a.bytes <= offsets[j] or offsets[j] + b.bytes <= offsets[i]


def test_buffers_of_different_times_share() -> None:
    intervals = [Interval(0, 1, 64), Interval(2, 3, 64), Interval(1, 2, 32)]
    offsets = pack(intervals, 32)
    assert offsets[0] == offsets[1] == 0
    assert extent(intervals, offsets) == 96


def test_a_gap_is_used() -> None:
    long = Interval(0, 9, 100)
    assert pack([long, Interval(0, 3, 96), Interval(4, 9, 64)], 32) == [0, 128, 128]
