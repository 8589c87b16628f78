"""The checker on launches of two programs: what sets and waits between cores order."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pypto.emulator.hazards import Hazard, HazardKind, check_executable
from pypto.emulator.run import run
from pypto.target.executable import Executable
from tests.emulator.mixed_programs import COUNT, mixed
from tests.emulator.oracle_cross import judge_launch, random_launch

# A channel of two slots in w: the cube core makes tiles of 16 x 16, each vector core copies its
# half to z. r: id 0, set from fix when a tile is stored; f: id 1, set from mte2 when it is loaded.
FEED = """\
  copy_gm_to_cbuf.b32 dst=0, src=r4, length=32
  set_flag mte2, mte1, 0
  wait_flag mte2, mte1, 0
  load_cbuf_to_ca.b16 dst=0, src=0, repeat=1
  load_cbuf_to_cb.b16 dst=0, src=0, repeat=1
  set_flag mte1, m, 0
  wait_flag mte1, m, 0
  mad.f16 c=0, a=0, b=0, m=16, k=16, n=16, c_init=1
  set_flag m, fix, 0
  wait_flag m, fix, 0
  mov r7, 0
  bge r7, {tiles}, done
tile:
  rem r8, r7, 2
  mul r8, r8, 1024
  add r8, r8, r5
  wait_flag_dev 1 // f
  copy_matrix_cc_to_gm.f32 dst=r8, src=0, n=16, m=16, dst_stride=16, src_stride=16
  ffts_cross_core_sync fix, 2, 0 // r
  add r7, r7, 1
  blt r7, {tiles}, tile
done:
  wait_flag_dev 1 // f
  wait_flag_dev 1 // f"""
EAT = """\
  ffts_cross_core_sync mte2, 2, 1 // f
  ffts_cross_core_sync mte2, 2, 1 // f
  set_flag mte3, mte2, 0
  mul r10, r2, 512
  mov r7, 0
  bge r7, {tiles}, done
tile:
  rem r8, r7, 2
  mul r8, r8, 1024
  add r8, r8, r5
  add r8, r8, r10
  mul r9, r7, 1024
  add r9, r9, r6
  add r9, r9, r10
  wait_flag mte3, mte2, 0
  wait_flag_dev 0 // r
  copy_gm_to_ubuf_align.b32 dst=0, src=r8, length=512
  ffts_cross_core_sync mte2, 2, 1 // f
  set_flag mte2, mte3, 0
  wait_flag mte2, mte3, 0
  copy_ubuf_to_gm_align.b32 dst=r9, src=0, length=512
  set_flag mte3, mte2, 0
  add r7, r7, 1
  blt r7, {tiles}, tile
done:
  wait_flag mte3, mte2, 0"""


def channel(tiles: int, *changes: tuple[str, str, str]) -> Executable:
    """The channel with texts replaced: (which program, old, new), once each."""
    texts = {"feed": FEED, "eat": EAT}
    for name, old, new in changes:
        assert old in texts[name]
        texts[name] = texts[name].replace(old, new, 1)
    return mixed(texts["feed"].format(tiles=tiles), texts["eat"].format(tiles=tiles))


def hazards(executable: Executable) -> list[Hazard]:
    """What the checker finds; not every tile of z need be written."""
    found = check_executable(executable, [(COUNT,)])
    return [one for one in found if one.kind is not HazardKind.UNWRITTEN]


def codes(executable: Executable) -> set[str]:
    return {one.code for one in hazards(executable)}


@pytest.mark.parametrize("tiles", range(5))
def test_a_channel_is_clean(tiles: int) -> None:
    assert codes(channel(tiles)) == set()


def test_a_channel_carries_its_values() -> None:
    x = np.random.default_rng(0).normal(size=2 * COUNT).astype(np.float16)
    (z,) = run(channel(4), [x.view(np.float32)]).results
    a = x[:256].reshape(16, 16).astype(np.float32)
    product = np.zeros((16, 16), np.float32)
    for i in range(16):
        # Fractals of B lie transposed.
        product = product + a[:, i : i + 1] * a[:, i]
    assert np.array_equal(z.reshape(4, 16, 16), np.broadcast_to(product, (4, 16, 16)))


NO_CREDITS = ("eat", "  ffts_cross_core_sync mte2, 2, 1 // f\n" * 2, "")
NO_RETURN = ("feed", "done:\n  wait_flag_dev 1 // f\n  wait_flag_dev 1 // f", "done:")
CHANGES = [
    ("stored before it was loaded", 3, [("feed", "  wait_flag_dev 1 // f\n", ""),
     ("feed", "done:\n", "done:\n" + "  wait_flag_dev 1\n" * 3)], {"RACE_RAW", "RACE_WAW"}),
    ("the same, too few tiles", 2, [("feed", "  wait_flag_dev 1 // f\n", ""),
     ("feed", "done:\n", "done:\n" + "  wait_flag_dev 1\n" * 2)], set()),
    ("loaded before it was stored", 1, [("eat", "  wait_flag_dev 0 // r\n", ""),
     ("eat", "done:\n", "done:\n  wait_flag_dev 0\n")], {"RACE_WAR", "UNINIT_READ"}),
    ("set from another pipe", 1, [("feed", "sync fix, 2, 0", "sync m, 2, 0")], {"RACE_RAW"}),
    ("set before the store", 1, [("feed", "  ffts_cross_core_sync fix, 2, 0 // r\n", ""),
     ("feed", "  wait_flag_dev 1 // f\n",
      "  wait_flag_dev 1\n  ffts_cross_core_sync fix, 2, 0\n")], {"RACE_RAW"}),
    ("without credits", 1, [NO_CREDITS], {"DEADLOCK"}),
    ("nobody takes the last credits", 1, [NO_RETURN], {"UNBALANCED"}),
    ("one vector core gives no credits", 1,
     [("eat", "  ffts_cross_core_sync mte2, 2, 1 // f\n", "  bne r2, 0, one\n"
       "  ffts_cross_core_sync mte2, 2, 1\none:\n")], {"DEADLOCK"}),
    ("from two pipes", 2, [("feed", "tile:\n", "tile:\n  ffts_cross_core_sync m, 2, 0\n"),
     ("eat", "  wait_flag_dev 0 // r\n", "  wait_flag_dev 0\n  wait_flag_dev 0\n")],
     {"CROSS_MIXED"}),
    ("sixteen credits", 0, [("eat", "  ffts_cross_core_sync mte2, 2, 1 // f\n",
      "  ffts_cross_core_sync mte2, 2, 1\n" * 15),
     ("feed", "done:\n", "done:\n" + "  wait_flag_dev 1\n" * 14)],
     {"CROSS_OVERFLOW_HAPPENED"}),
    ("a set that may come before the waits for others", 0,
     [("feed", "done:\n", "  ffts_cross_core_sync fix, 2, 5\n" * 15 + "  wait_flag_dev 6\n"
       "  ffts_cross_core_sync fix, 2, 5\ndone:\n"),
      ("feed", "  bge r7, {tiles}, done\n", ""), ("feed", "tile:\n", "  jmp send\ntile:\n"),
      ("feed", "  blt r7, {tiles}, tile\n", "send:\n"),
      ("eat", "  mov r7, 0\n", "  ffts_cross_core_sync mte2, 2, 6\n  mov r7, 0\n"
       + "  wait_flag_dev 5\n" * 16)], {"CROSS_OVERFLOW_LATENT"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tiles", "changes", "expected"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES]
)
def test_a_broken_channel(
    tiles: int, changes: list[tuple[str, str, str]], expected: set[str]
) -> None:
    assert codes(channel(tiles, *changes)) == expected


def test_messages_name_the_cores() -> None:
    (found,) = hazards(channel(1, ("feed", "sync fix, 2, 0", "sync m, 2, 0")))
    assert found.first is not None
    assert (found.first.mnemonic, found.first.core) == ("copy_matrix_cc_to_gm.f32", 0)
    assert (found.second.mnemonic, found.second.core, found.count) == (
        "copy_gm_to_ubuf_align.b32", 1, 2,
    )  # fmt: skip
    assert "put `ffts_cross_core_sync` after the first, on its pipe" in found.cure
    (stuck, *_) = hazards(channel(1, NO_CREDITS))
    assert "cube core 0 waits for cross-core flag 1 (row 19): no set of it is left" in str(stuck)


def test_knowledge_passes_through_a_third_core_and_back() -> None:
    """Vector core 1 stores; the cube core passes the news on to both."""
    vector = """\
  bne r2, 0, second
  vector_dup.f32 dst=0, scalar=1.0
  set_flag v, mte3, 0
  wait_flag v, mte3, 0
  copy_ubuf_to_gm_align.b32 dst=r5, src=0, length=256
second:
  ffts_cross_core_sync mte3, 2, 0
  wait_flag_dev 1
  copy_gm_to_ubuf_align.b32 dst=512, src=r5, length=256"""
    cube = "  wait_flag_dev 0\n  ffts_cross_core_sync mte2, 2, 1"
    assert codes(mixed(cube, vector)) == set()
    assert codes(mixed(cube, vector.replace("sync mte3", "sync v"))) == {"RACE_RAW"}


def compare_with_oracle(seed: int) -> tuple[bool, bool]:
    """Whether the judge sees a race, and whether it sees a deadlock."""
    executable = random_launch(random.Random(seed))
    found = hazards(executable)
    verdict = judge_launch(executable)
    kinds = {one.kind for one in found}
    assert (HazardKind.DEADLOCK in kinds) == verdict.deadlock, seed
    if verdict.deadlock:
        return False, True
    assert (HazardKind.RACE in kinds) == bool(verdict.races), seed
    assert (HazardKind.UNBALANCED in kinds) == verdict.unbalanced, seed
    assert (HazardKind.CROSS_OVERFLOW in kinds) == verdict.overflow, seed
    races = {
        ((one.first.core, one.first.row), (one.second.core, one.second.row))
        for one in found
        if one.kind is HazardKind.RACE and one.first is not None
    }
    assert all(pair in verdict.races or pair[::-1] in verdict.races for pair in races), seed
    return bool(verdict.races), False


def test_random_launches_as_the_judge_says() -> None:
    results = [compare_with_oracle(seed) for seed in range(120)]
    assert min(sum(raced for raced, _ in results), sum(stuck for _, stuck in results)) > 5
    assert sum(result == (False, False) for result in results) > 5


@pytest.mark.full
def test_many_random_launches_as_the_judge_says() -> None:
    for seed in range(120, 3000):
        compare_with_oracle(seed)
