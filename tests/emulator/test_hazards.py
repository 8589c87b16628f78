"""The happens-before checker: small programs with their verdicts, and an independent judge."""

from __future__ import annotations

import os
import random

import pytest

from pypto.emulator.hazards import (
    GlobalBuffer,
    Hazard,
    HazardKind,
    check_program,
    trace,
)
from pypto.errors import DeviceError
from pypto.target.assembly import assemble
from pypto.target.memory import PIPES, Pipe
from pypto.target.soc import soc
from tests.emulator.hazard_programs import (
    ELEMENTWISE,
    MATMUL,
    VECTOR,
    add,
    code,
    cube,
    load,
    store,
    vector,
    without,
)
from tests.emulator.hazard_verdicts import (
    FILL,
    FILL_AND_SHOW,
    FLAG,
    L0_FULL,
    agrees,
    codes,
    hazards,
    mad,
)
from tests.emulator.oracle import Verdict, judge
from tests.emulator.random_programs import MACHINES, random_blocks, random_program

MACHINE = soc()
M = PIPES.index(Pipe.M)
MICRO = [
    ("no flag", code(load(0), add(512, 0, 0)), ["RACE_RAW"]),
    ("flag", code(load(0), FLAG, add(512, 0, 0)), []),
    (
        "set too early",
        code("set_flag mte2, v, 0", load(0), "wait_flag mte2, v, 0", add(512, 0, 0)),
        ["RACE_RAW"],
    ),
    (
        "wait too late",
        code(load(0), "set_flag mte2, v, 0", add(512, 0, 0), "wait_flag mte2, v, 0"),
        ["RACE_RAW"],
    ),
    ("V then V", code(FILL, add(512, 0, 0)), ["RACE_RAW"]),
    ("V, barrier, V", code(FILL, "pipe_barrier v", add(512, 0, 0)), []),
    ("V reads, V writes", code(FILL, "pipe_barrier v", add(512, 0, 0), FILL), ["RACE_WAR"]),
    ("V writes twice", code(FILL, FILL), ["RACE_WAW"]),
    ("a set is no barrier", code(FILL_AND_SHOW, add(512, 0, 0)), ["RACE_RAW"]),
    ("loads overlap", code(load(0), load(128)), ["RACE_WAW"]),
    ("loads with barrier", code(load(0), "pipe_barrier mte2", load(128)), []),
    ("stores overlap", code(FILL_AND_SHOW, store(0), store(0)), ["RACE_WAW"]),
    ("stores with barrier", code(FILL_AND_SHOW, store(0), "pipe_barrier mte3", store(0)), []),
    ("set twice", code(*["set_flag mte2, v, 0"] * 2, *["wait_flag mte2, v, 0"] * 2),
     ["DOUBLE_SET_HAPPENED"]),
    (
        "one id twice, no way back",
        code(load(0), FLAG, add(512, 0, 0), load(1024), FLAG, add(2048, 1024, 1024)),
        ["DOUBLE_SET_LATENT"],
    ),
    (
        "two ids",
        code(
            load(0), FLAG, add(512, 0, 0),
            load(1024), FLAG.replace("0", "1"), add(2048, 1024, 1024),
        ),
        [],
    ),
    ("set without wait", "set_flag mte2, v, 0", ["UNBALANCED"]),
    ("wait without set", "wait_flag mte2, v, 0", ["DEADLOCK"]),
    (
        "two pipes wait for each other",
        code(
            "wait_flag mte2, v, 0", "set_flag v, mte2, 0",
            "wait_flag v, mte2, 0", "set_flag mte2, v, 0",
        ),
        ["DEADLOCK"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "verdict"), [m[1:] for m in MICRO], ids=[m[0] for m in MICRO])
def test_micro_program(body: str, verdict: list[str]) -> None:
    assert codes(vector(body)) == verdict


CURES = [
    ("no flag", "put `set_flag mte2, v, ID` after the first and `wait_flag mte2, v, ID` before"),
    ("set too early", "move the set of mte2->v id 0 after the first"),
    ("wait too late", "move the wait of mte2->v id 0 before the second"),
    ("V then V", "put `pipe_barrier v` directly before the second"),
    ("set twice", "use another id, or set it after a flag back from v"),
    ("set without wait", "wait for it, or drop the set"),
]


@pytest.mark.parametrize(("name", "cure"), CURES)
def test_cures(name: str, cure: str) -> None:
    (body,) = [body for title, body, _ in MICRO if title == name]
    (found,) = hazards(vector(body))
    assert cure in str(found)


def test_report_names_both_instructions_and_the_bytes() -> None:
    body = code(
        ".local tile ub address=0x0 bytes=512 slots=2",
        load(0),
        load(256),
        '.loc "kernel.py:7:5"',
        add(1024, 0, 256),
    )
    text = "\n".join(str(hazard) for hazard in hazards(vector(body)))
    assert text == (
        "error[RACE_RAW]: nothing makes the second wait for the end of the first\n"
        "  bytes 0..255 of ub of tile[0]\n"
        "  first:  copy_gm_to_ubuf_align.b16 on mte2 of core 0 (row 3)\n"
        "  second: vadd.f16 on v of core 0 (row 5, kernel.py:7:5)\n"
        "  cure: put `set_flag mte2, v, ID` after the first and `wait_flag mte2, v, ID` before "
        "the second\n"
        "error[RACE_RAW]: nothing makes the second wait for the end of the first\n"
        "  bytes 256..511 of ub of tile[1]\n"
        "  first:  copy_gm_to_ubuf_align.b16 on mte2 of core 0 (row 4)\n"
        "  second: vadd.f16 on v of core 0 (row 5, kernel.py:7:5)\n"
        "  cure: put `set_flag mte2, v, ID` after the first and `wait_flag mte2, v, ID` before "
        "the second"
    )


def test_deadlock_says_who_waits_for_whom() -> None:
    (body,) = [body for title, body, _ in MICRO if title.startswith("two pipes")]
    (found,) = hazards(vector(body))
    assert "v waits for mte2->v id 0 (row 3): its set (row 6) is held behind a wait of mte2" in (
        found.message
    )
    assert "mte2 waits for v->mte2 id 0 (row 5): its set (row 4) is held behind a wait of v" in (
        found.message
    )
    assert "s cannot dispatch pipe_barrier on s of core 0 (row 7): it waits for all pipes" in (
        found.message
    )


@pytest.mark.parametrize(("behind", "verdict"), [(40, "DEADLOCK"), (20, "WAIT_BEFORE_SET")])
def test_queues_are_bounded(behind: int, verdict: str) -> None:
    fills = [f"vector_dup.f16 dst={256 * i}, scalar=1.0" for i in range(behind)]
    body = code("wait_flag mte2, v, 0", *fills, "set_flag mte2, v, 0")
    assert [hazard.code for hazard in hazards(vector(body))] == [verdict]
    assert hazards(vector(body), compiled=False)[0].warning is (verdict == "WAIT_BEFORE_SET")
    (program,) = vector(body).programs
    steps = [(d.form, d.operands) for d in trace(program, 0, 1, (0, 0, 0))]
    assert judge(steps, MACHINE.queue_depth).deadlock is (verdict == "DEADLOCK")


def test_latent_double_sets_are_warnings_in_hand_written_code() -> None:
    (body,) = [body for title, body, _ in MICRO if title.startswith("one id twice")]
    assert not hazards(vector(body))[0].warning
    assert hazards(vector(body), compiled=False)[0].warning


def test_a_kernel_ends_when_its_pipes_have() -> None:
    text = VECTOR.format(body=load(0), trips=0, grid=1)
    assert hazards(assemble(text)) == []
    (found,) = hazards(assemble(text.replace("  pipe_barrier all\n", "")))
    assert found.code == "NOT_DRAINED"
    assert "mte2 may still work when the kernel ends" in str(found)


ATOMIC_ADD_F16 = 5


def test_atomics_of_one_kind_do_not_race() -> None:
    atomic = code(f"set_atomic {ATOMIC_ADD_F16}", store(0), store(0))
    plain = code(FILL_AND_SHOW, store(0))
    assert [h.code for h in hazards(vector(code(plain, "pipe_barrier mte3", atomic)))] == []
    assert {h.code for h in hazards(vector(code(plain, atomic)))} == {"RACE_WAW"}


MADS = [
    ("large, twice", code(mad(128, 256, init=1), mad(128, 256)), []),
    ("small, twice", code(mad(32, 64, init=1), mad(32, 64)), ["RACE_RAW", "RACE_WAR", "RACE_WAW"]),
    ("small, barrier", code(mad(32, 64, init=1), "pipe_barrier m", mad(32, 64)), []),
    ("small, apart", code(mad(32, 64, init=1), mad(32, 64, c=8192, init=1)), []),
    (
        "large, shifted",
        code(mad(128, 240, init=1), mad(128, 224, c=8192)),
        ["RACE_RAW", "RACE_WAR", "RACE_WAW"],
    ),
    (
        "large, started anew",
        code(mad(128, 256, init=1), mad(128, 256, init=1)),
        ["RACE_RAW", "RACE_WAR", "RACE_WAW"],
    ),
]


@pytest.mark.parametrize(("body", "verdict"), [m[1:] for m in MADS], ids=[m[0] for m in MADS])
def test_accumulation(body: str, verdict: list[str]) -> None:
    assert codes(cube(code(L0_FULL, body))) == verdict


ONE_ID_TWO_SLOTS = """\
  set_flag m, mte1, 0
  set_flag m, mte1, 1
  copy_gm_to_cbuf_multi_nd2nz.b16 dst=0, src=r2, rows=256, columns=16, src_row_stride=16, \
dst_column_stride=256, dst_row_stride=1
  set_flag mte2, mte1, 0
  wait_flag mte2, mte1, 0
  mov r7, 0
  bge r7, r6, done
step:
  rem r8, r7, 2
  mul r9, r8, 8192
  seq r10, r7, 0
  wait_flag m, mte1, r8
  load_cbuf_to_ca.b16 dst=r9, src=0, repeat=16
  load_cbuf_to_cb.b16 dst=r9, src=0, repeat=16
  set_flag mte1, m, 0
  wait_flag mte1, m, 0
  mad.f16 c=0, a=r9, b=r9, m=128, k=16, n=256, c_init=r10
  set_flag m, mte1, r8
  add r7, r7, 1
  blt r7, r6, step
done:
  wait_flag m, mte1, 0
  wait_flag m, mte1, 1"""


@pytest.mark.parametrize("trips", range(5))
def test_one_id_for_two_slots(trips: int) -> None:
    expected = ["DOUBLE_SET_LATENT"] if trips >= 2 else []
    assert codes(cube(ONE_ID_TWO_SLOTS, steps=trips)) == expected


LOOP = """\
  mov r5, 0
  bge r5, r4, done
loop:
{body}
  add r5, r5, 1
  blt r5, r4, loop
done:"""


def loop(body: str, after: str) -> str:
    return code(LOOP.format(body=body), after)


@pytest.mark.parametrize("trips", range(5))
def test_set_in_a_loop_and_wait_behind_it(trips: int) -> None:
    body = loop(
        code("pipe_barrier mte2", load(0), "set_flag mte2, v, 0"),
        code("wait_flag mte2, v, 0", FILL.replace("dst=0", "dst=512")),
    )
    expected = {0: ["DEADLOCK"], 1: []}.get(trips, ["DOUBLE_SET_HAPPENED", "UNBALANCED"])
    assert codes(vector(body, trips)) == expected


@pytest.mark.parametrize("arm", [0, 1])
def test_set_inside_one_arm(arm: int) -> None:
    inside = code(
        load(0), "beq r4, 0, join", "set_flag mte2, v, 0", "join:", "wait_flag mte2, v, 0",
        add(512, 0, 0),
    )  # fmt: skip
    lifted = code(load(0), "beq r4, 0, join", add(1024, 0, 0), "join:", FLAG, add(512, 0, 0))
    assert codes(vector(inside, arm)) == (["DEADLOCK"] if arm == 0 else [])
    assert codes(vector(lifted.replace(add(1024, 0, 0), ""), arm)) == []


@pytest.mark.parametrize("arm", [0, 1])
def test_barrier_inside_one_arm(arm: int) -> None:
    body = code(FILL, "beq r4, 0, join", "pipe_barrier v", "join:", add(512, 0, 0))
    assert codes(vector(body, arm)) == (["RACE_RAW"] if arm == 0 else [])


@pytest.mark.parametrize("trips", range(5))
def test_use_in_and_after_a_loop(trips: int) -> None:
    use = code("pipe_barrier v", add(512, 0, 0))
    assert codes(vector(code(load(0), FLAG, loop(use, use)), trips)) == []
    only_inside = code(load(0), loop(code(FLAG, use), use))
    expected = {0: ["RACE_RAW"], 1: []}.get(trips, ["DOUBLE_SET_LATENT"])
    assert codes(vector(only_inside, trips)) == expected


@pytest.mark.parametrize("trips", range(5))
def test_elementwise_kernel(trips: int) -> None:
    assert codes(vector(ELEMENTWISE, trips)) == []


@pytest.mark.parametrize(("group", "first"), [("f", 1), ("g", 1), ("b", 3), ("d", 3)])
def test_elementwise_kernel_needs_every_group(group: str, first: int) -> None:
    failing = [trips for trips in range(5) if codes(vector(without(ELEMENTWISE, group), trips))]
    assert failing[0] == first


@pytest.mark.parametrize("trips", range(5))
def test_rings_need_both_ends(trips: int) -> None:
    lines = ELEMENTWISE.splitlines()
    assert codes(vector(code(*lines[4:]), trips)) == ["DEADLOCK"]
    assert codes(vector(code(*lines[:-4]), trips)) == ["UNBALANCED"]


COUNTERS = {"restarting": "r8", "running": "r14"}


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("steps", range(5))
@pytest.mark.parametrize("tiles", range(1, 4))
def test_matmul_kernel(counter: str, tiles: int, steps: int) -> None:
    body = MATMUL.format(counter=COUNTERS[counter])
    assert codes(cube(body, tiles, steps)) == ([] if steps else ["UNINIT_READ"])


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("group", list("ABabmnck"))
def test_matmul_kernel_needs_every_group(counter: str, group: str) -> None:
    body = without(MATMUL.format(counter=COUNTERS[counter]), group)
    domain = [(1, 1), (1, 3), (2, 1), (2, 3)]
    assert any(codes(cube(body, tiles, steps)) for tiles, steps in domain)


def test_endless_programs_are_noticed() -> None:
    (program,) = vector(code("again:", "jmp again")).programs
    with pytest.raises(DeviceError, match="1000 rows ran without an end"):
        list(trace(program, 0, 1, (0, 0, 0), row_limit=1000))


def pairs(found: list[Hazard]) -> set[tuple[int, int]]:
    return {
        (hazard.first.number, hazard.second.number)
        for hazard in found
        if hazard.kind is HazardKind.RACE and hazard.first is not None
    }


def compare_with_oracle(seed: int) -> Verdict:
    program = random_program(random.Random(seed))
    steps = [(d.form, d.operands) for d in trace(program, 0, 1)]
    machine = MACHINES[program.core]
    found = check_program(program, machine, buffers=[GlobalBuffer("gm", 0, 65536)])
    verdict = judge(steps)
    assert agrees(found, verdict)
    if verdict.deadlock:
        return verdict
    assert verdict.double_sets == {
        hazard.second.number for hazard in found if hazard.kind is HazardKind.DOUBLE_SET
    }
    assert pairs(found) <= verdict.races

    def later_and_pipe(races: set[tuple[int, int]]) -> set[tuple[int, int]]:
        # A multiplication that may follow the one before hides what that one raced with.
        pipes = [form.queue(operands) for form, operands in steps]
        return {(b, pipes[a]) for a, b in races if not pipes[a] == pipes[b] == M}

    if HazardKind.WAIT_BEFORE_SET not in {hazard.kind for hazard in found}:
        assert later_and_pipe(pairs(found)) == later_and_pipe(verdict.races)
    return verdict


def test_random_programs_as_the_judge_says() -> None:
    verdicts = [compare_with_oracle(seed) for seed in range(300)]
    raced = sum(bool(verdict.races) for verdict in verdicts)
    clean = sum(verdict == Verdict() for verdict in verdicts)
    assert min(raced, clean, sum(v.deadlock for v in verdicts)) > 5
    assert sum(bool(verdict.double_sets) for verdict in verdicts) > 5


@pytest.mark.full
def test_many_random_programs_as_the_judge_says() -> None:
    for seed in range(300, 300 + int(os.environ.get("PYPTO_HAZARD_PROGRAMS", "10000"))):
        compare_with_oracle(seed)


@pytest.mark.parametrize("seed", range(40))
def test_random_blocks_race_where_their_bytes_meet(seed: int) -> None:
    program = random_blocks(random.Random(seed))
    grid = 3
    touched: list[tuple[int, bool, set[int]]] = []
    for block in range(grid):
        for one in trace(program, block, grid):
            if one.form.row is None:
                continue
            values = dict(zip((o.name for o in one.form.operands), one.operands, strict=True))
            writes = one.form.mnemonic.startswith("copy_ubuf_to_gm")
            start = values["dst" if writes else "src"]
            touched.append((block, writes, set(range(start, start + values["length"]))))
    expected = {
        (core, other)
        for core, writes, one in touched
        for other, other_writes, two in touched
        if core < other and (writes or other_writes) and one & two
    }
    found = check_program(program, MACHINE, grid, buffers=[GlobalBuffer("gm", 0, 4096)])
    races = [hazard for hazard in found if hazard.kind is HazardKind.RACE]
    assert bool(races) == bool(expected)
    for hazard in races:
        assert hazard.first is not None
        assert (hazard.first.core, hazard.second.core) in expected
