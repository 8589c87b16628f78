from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pypto.passes.tik.bank_uses import Use, lost_cycles
from pypto.passes.tik.packing import Interval, extent, pack, pack_apart
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.soc import soc

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


@given(INTERVALS, st.integers(0, 3000))
def test_buffers_apart_do_not_overlap_either(intervals: list[Interval], limit: int) -> None:
    offsets = pack_apart(intervals, limit, lambda i, places: places[i] % 7)
    if offsets is None:
        return
    assert all(offset % 256 == 0 for offset in offsets)
    assert extent(intervals, offsets) <= limit
    for i, a in enumerate(intervals):
        for j, b in enumerate(intervals[:i]):
            if a.meets(b):
                assert offsets[i] + a.bytes <= offsets[j] or offsets[j] + b.bytes <= offsets[i]


def test_no_room_is_said() -> None:
    assert pack_apart([Interval(0, 1, 600), Interval(1, 2, 600)], 1200, lambda i, places: 0) is None


def test_two_sources_and_a_target_lie_in_different_banks() -> None:
    """c = a + b of 16 KB each: every second cycle was lost where they lie end to end."""
    machine = soc("ascend910b1")
    zeros = dict.fromkeys(("dst", "src0", "src1"), 0)
    fields = BY_MNEMONIC["vadd.f32"].family.make(**zeros, repeat=64)
    uses = [Use("vadd.f32", tuple(fields), ((0, 2), (1, 0), (2, 1)), 1)]
    intervals = [Interval(0, 9, 16384)] * 3
    plain = dict(enumerate(pack(intervals, 32)))
    assert lost_cycles(uses, plain, machine) == 64
    offsets = pack_apart(intervals, 188416, lambda i, places: lost_cycles(uses, places, machine))
    assert offsets is not None
    assert lost_cycles(uses, dict(enumerate(offsets)), machine) == 0
