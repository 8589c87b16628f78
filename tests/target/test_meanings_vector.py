"""What instructions that move, choose and sort in UB mean, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.target.instructions import BY_MNEMONIC
from pypto.target.limits import LimitError, check_fields
from pypto.target.memory import Space
from pypto.target.quantisation import scale_word
from pypto.target.soc import soc
from tests.target.test_meanings import get, memories, put, run

RANDOM = np.random.default_rng(43)
LISTS = {"dst_step": 2, "dst_pair": 1, "src_step": 2, "src_pair": 1}


@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_bits_of_the_register_choose_the_same_way_in_every_repeat(dtype: str) -> None:
    kind = np.dtype(f"float{dtype[1:]}")
    lanes = 256 // kind.itemsize
    memory = memories()
    ub = memory[Space.UB]
    a, b = (RANDOM.integers(-3, 4, 2 * lanes).astype(kind) for _ in range(2))
    put(ub, 1024, a)
    put(ub, 4096, b)
    run(memory, f"vcmp_lt.{dtype}", src0=1024, src1=4096)
    sources = {"src0": 1024, "src1": 4096, "repeat": 2}
    run(memory, f"vsel_mode0.{dtype}", dst=8192, **sources)
    chosen = np.tile(a[:lanes] < b[:lanes], 2)
    assert np.array_equal(get(ub, 8192, 2 * lanes, kind), np.where(chosen, a, b))
    run(memory, "get_cmpmask.b128", dst=0)
    bits = np.unpackbits(ub[: lanes // 8], bitorder="little").astype(bool)
    assert np.array_equal(bits, chosen[:lanes])


def test_the_register_holds_the_scalar_of_a_selection() -> None:
    memory = memories()
    ub = memory[Space.UB]
    a = RANDOM.normal(size=128).astype(np.float32)
    put(ub, 0, np.array([2.5, 0, 0, 0], np.float32))
    put(ub, 1024, a)
    put(ub, 4096, np.frombuffer(RANDOM.bytes(16), np.uint8))
    run(memory, "set_cmpmask.b128", src=0)
    run(memory, "vsel_mode1.f32", dst=8192, src0=1024, src1=4096, repeat=2)
    bits = np.unpackbits(ub[4096:4112], bitorder="little").astype(bool)
    assert np.array_equal(get(ub, 8192, 128, np.float32), np.where(bits, a, np.float32(2.5)))


def test_lanes_that_are_off_compare_as_false() -> None:
    memory = memories()
    put(memory[Space.UB], 0, np.ones(128, np.float16))
    run(memory, "vcmp_eq.f16", src0=0, src1=0, mask_mode=1, mask_low=10)
    assert memory[Space.VR][:16].tolist() == [0xFF, 3, *[0] * 14]


KEPT = {1: slice(0, None, 2), 2: slice(1, None, 2), 3: slice(0, None, 4), 4: slice(1, None, 4),
        5: slice(2, None, 4), 6: slice(3, None, 4), 7: slice(None)}  # fmt: skip


@pytest.mark.parametrize("pattern", KEPT)
def test_patterns_choose_elements(pattern: int) -> None:
    memory = memories()
    data = RANDOM.integers(0, 2**32, 64 * 3, np.uint32)
    put(memory[Space.UB], 4096, data)
    place = {"dst": 0, "src0": 4096, "src1": 0}
    run(memory, "vreducev2.u32", **place, pattern=pattern, repeat=3)
    expected = data[KEPT[pattern]]
    assert np.array_equal(get(memory[Space.UB], 0, len(expected), np.uint32), expected)
    assert memory[Space.UB][4 * len(expected)] == 0xFF


def test_bits_choose_elements_and_counts_are_per_repeat() -> None:
    memory = memories()
    data = RANDOM.integers(0, 2**16, 400, np.uint16)
    bits = RANDOM.integers(0, 256, 64, np.uint8)
    put(memory[Space.UB], 4096, data)
    put(memory[Space.UB], 8192, bits)
    counted = {"mask_mode": 1, "mask_low": 150, "repeat": 2}
    place = {"dst": 0, "src0": 4096, "src1": 8192, "src0_repeat": 10, "src1_repeat": 1}
    run(memory, "vreducev2.u16", **place, pattern=0, **counted)
    on = [np.unpackbits(b, bitorder="little")[:150].astype(bool) for b in (bits[:19], bits[32:51])]
    expected = np.concatenate([data[:150][on[0]], data[160:310][on[1]]])
    assert np.array_equal(get(memory[Space.UB], 0, len(expected), np.uint16), expected)


def test_blocks_are_gathered() -> None:
    memory = memories()
    data = RANDOM.integers(0, 2**32, 512, np.uint32)
    order = RANDOM.permutation(64)[:16]
    put(memory[Space.UB], 8192, data)
    put(memory[Space.UB], 4096, (32 * order).astype(np.uint32))
    run(memory, "vgatherb.u32", dst=0, offsets=4096, base=8192, repeat=2, dst_block=0)
    got = get(memory[Space.UB], 0, 128, np.uint32).reshape(16, 8)
    assert np.array_equal(got, data.reshape(64, 8)[order])


PAIR = {2: np.dtype([("score", "f2"), ("gap", "u2"), ("index", "u4")]),
        4: np.dtype([("score", "f4"), ("index", "u4")])}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_sorting_is_stable_and_descending(dtype: str) -> None:
    kind = np.dtype(f"float{dtype[1:]}")
    memory = memories()
    scores = RANDOM.integers(-5, 5, 128).astype(kind)
    put(memory[Space.UB], 0, scores)
    put(memory[Space.UB], 1024, np.arange(128, dtype=np.uint32))
    run(memory, f"vbitsort.{dtype}", dst=4096, src0=0, src1=1024, repeat=4)
    pairs = get(memory[Space.UB], 4096, 128, PAIR[kind.itemsize])
    for i in range(4):
        order = 32 * i + np.argsort(-scores[32 * i : 32 * i + 32], kind="stable")
        assert np.array_equal(pairs["index"][32 * i : 32 * i + 32], order)
    lists = {f"src{i}": 4096 + 256 * i for i in range(4)}
    lengths = {f"length{i}": 32 for i in range(4)}
    run(memory, f"vmrgsort4.{dtype}", dst=8192, **lists, **lengths)
    merged = get(memory[Space.UB], 8192, 128, PAIR[kind.itemsize])
    assert np.array_equal(merged["index"], np.argsort(-scores, kind="stable"))
    assert np.array_equal(merged["score"], -np.sort(-scores))


def test_a_merge_may_stop_when_a_list_runs_out() -> None:
    memory = memories()
    pairs = np.zeros(8, PAIR[4])
    pairs["score"], pairs["index"] = [9, 8, 1, 0, 7, 6, 5, 4], np.arange(8)
    put(memory[Space.UB], 0, pairs)
    lists = {"src0": 0, "src1": 32, "src2": 0, "src3": 0, "valid": 3}
    lengths = {"length0": 2, "length1": 4, "length2": 0, "length3": 0}
    run(memory, "vmrgsort4.f32", dst=4096, **lists, **lengths, suspend=1)
    assert get(memory[Space.UB], 4096, 2, PAIR[4])["index"].tolist() == [0, 1]
    assert memory[Space.UB][4096 + 16] == 0xFF


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"valid": 5}, "valid = 5; .* 3, 7 or 15"),
        ({"repeat": 2, "suspend": 1}, "repeat = 2; .* 1 unless four lists of one length"),
        ({"repeat": 2, "src3": 1024}, "repeat = 2; .* 1 unless four lists of one length"),
        ({"dst": 32}, "src1 = 32; .* a list apart from dst"),
        ({"length0": 4096}, r"length0 = 4096; .* 0\.\.4095"),
    ],
)
def test_a_merge_that_the_machine_cannot_do_is_refused(
    changes: dict[str, int], message: str
) -> None:
    row = BY_MNEMONIC["vmrgsort4.f32"]
    values = {"dst": 4096, **{f"length{i}": 4 for i in range(4)}}
    values |= {f"src{i}": 32 * i for i in range(4)}
    check_fields(row, row.family.make(**values), soc())
    with pytest.raises(LimitError, match=message):
        check_fields(row, row.family.make(**values | changes), soc())


def test_one_repeat_alone_is_compared_to_the_register() -> None:
    row = BY_MNEMONIC["vcmp_eq.f32"]
    with pytest.raises(LimitError, match=r"mask_low = 65; .* 0\.\.64, the lanes of the one repeat"):
        check_fields(row, row.family.make(src0=0, src1=0, mask_mode=1, mask_low=65), soc())


@pytest.mark.parametrize(("high", "low"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_squares_of_bytes_lie_in_halves_of_blocks(high: int, low: int) -> None:
    memory = memories()
    data = RANDOM.integers(0, 256, (16, 32), np.uint8)
    put(memory[Space.UB], 4096, data)
    halves = {"dst_high": high, "src_high": low}
    run(memory, "scatter_vnchwconv.b8", dst=0, src=4096, **LISTS, **halves)
    got = get(memory[Space.UB], 0, 512, np.uint8).reshape(16, 2, 16)
    assert np.array_equal(got[:, high], data.reshape(16, 2, 16)[:, low].T)
    assert np.all(got[:, 1 - high] == 0xFF)


def test_words_turn_from_16_by_8_to_8_by_16() -> None:
    memory = memories()
    data = RANDOM.integers(0, 2**32, (16, 8), np.uint32)
    put(memory[Space.UB], 4096, data)
    run(memory, "scatter_vnchwconv.b32", dst=0, src=4096, **LISTS)
    assert np.array_equal(get(memory[Space.UB], 0, 128, np.uint32).reshape(8, 16), data.T)


def test_a_square_is_turned() -> None:
    memory = memories()
    data = RANDOM.integers(0, 2**16, (16, 16), np.uint16)
    put(memory[Space.UB], 4096, data)
    run(memory, "vtranspose.u16", dst=4096, src=4096)
    assert np.array_equal(get(memory[Space.UB], 4096, 256, np.uint16).reshape(16, 16), data.T)


def test_i32_become_halves_by_a_scale() -> None:
    memory = memories()
    values = np.array([0, 3, -7, 2**30, -(2**31)], np.int32)
    put(memory[Space.UB], 4096, values)
    scale = int(np.float16(2.0**-16).view(np.uint16))
    run(memory, "vconv_deq", dst=0, src=4096, scale=scale, mask_mode=1, mask_low=5)
    expected = (values / 65536).astype(np.float16)
    assert np.array_equal(get(memory[Space.UB], 0, 5, np.float16), expected)


def test_i16_become_bytes_in_half_blocks() -> None:
    memory = memories()
    values = np.arange(-8, 8, dtype=np.int16) * 100
    put(memory[Space.UB], 4096, values)
    one = {"mask_mode": 1, "mask_low": 16}
    run(memory, "vconv_deqs162b8h", dst=0, src=4096, scale=scale_word(0.125, 3), **one)
    expected = np.clip(np.rint(values * 0.125) + 3, -128, 127).astype(np.int8)
    assert np.array_equal(get(memory[Space.UB], 16, 16, np.int8), expected)
    assert np.all(memory[Space.UB][:16] == 0xFF)
    words = np.array([scale_word(0.25 * (i + 1), signed=False) for i in range(16)], np.int64)
    put(memory[Space.UB], 8192, words)
    run(memory, "vconv_vdeqs162b8l", dst=0, src=4096, words=8192, **one)
    scaled = np.rint(values * 0.25 * np.arange(1, 17))
    assert np.array_equal(get(memory[Space.UB], 0, 16, np.uint8), np.clip(scaled, 0, 255))
