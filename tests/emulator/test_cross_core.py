"""Launches on groups of cores: who runs what, sets and waits between cores, time and faults."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.emulator.run import RunResult, run
from pypto.emulator.state import LOG_COLUMNS, STALL_KINDS, WORKING_PIPES
from pypto.errors import DeviceError
from pypto.target.executable import Executable, Launch
from pypto.target.memory import CoreKind, Pipe
from pypto.target.soc import soc
from tests.emulator.mixed_programs import COUNT, mixed

X = np.arange(COUNT, dtype=np.float32)
LATENCY = soc("ascend910b1").cross_core_latency
# Copy 64 elements from r8 to r9, by every vector core at its own place.
PLACE = "  mul r7, r3, 256\n  add r8, {source}, r7\n  add r9, {target}, r7\n"
COPY = """\
  copy_gm_to_ubuf_align.b32 dst=0, src=r8, length=256
  set_flag mte2, mte3, 0
  wait_flag mte2, mte3, 0
  copy_ubuf_to_gm_align.b32 dst=r9, src=0, length=256
"""


def place(source: str, target: str) -> str:
    return PLACE.format(source=source, target=target)


def times(count: int, line: str) -> str:
    return f"  {line}\n" * count


def execute(executable: Executable, **options: object) -> RunResult:
    return run(executable, [X], **options)  # pyright: ignore[reportArgumentType]


def stalled(result: RunResult, core: int, kind: str, pipe: Pipe = Pipe.S) -> int:
    stalls = result.profile.launches[0].stalls
    return int(stalls[core, WORKING_PIPES.index(pipe), STALL_KINDS.index(kind)])


@pytest.mark.parametrize("grid", [1, 2, 8])
def test_every_vector_core_of_every_group_does_its_part(grid: int) -> None:
    result = execute(mixed("", place("r4", "r6") + COPY, grid))
    assert np.array_equal(result.results[0][: 128 * grid], X[: 128 * grid])
    (launch,) = result.profile.launches
    assert launch.name == "feed + eat"
    assert launch.kinds == (CoreKind.CUBE,) * grid + (CoreKind.VECTOR,) * 2 * grid
    assert f"on {grid} cube cores and {2 * grid} vector cores" in result.profile.summary()


def test_a_pipe_counts_the_cores_of_the_kinds_that_used_it() -> None:
    profile = execute(mixed("", place("r4", "r6") + COPY, 2)).profile
    pipes = profile.pipes()
    assert pipes["mte3"].cycles == 4 * profile.cycles
    assert pipes["s"].cycles == 6 * profile.cycles
    assert all(p.busy + sum(p.stalls.values()) == p.cycles for p in pipes.values())


def test_the_log_counts_rows_of_each_program() -> None:
    executable = mixed("", place("r4", "r6") + COPY)
    (log,) = execute(executable, record=True).log
    row, core = LOG_COLUMNS.index("row"), LOG_COLUMNS.index("core")
    rows = len(executable.programs[1].rows)
    assert set(log.rows[:, core].tolist()) == {1, 2}
    assert log.rows[:, row].max() < rows
    assert log.crew.core_name(2) == "vector core 1"


def test_what_a_core_stored_before_a_set_is_there_after_the_wait() -> None:
    """Vector core 1 stores, vector core 0 waits for its set and loads."""
    body = f"""\
  bne r3, 0, producer
  ffts_cross_core_sync mte2, 1, 1
  wait_flag_dev 1
  mov r8, r5
  mov r9, r6
{COPY}
  jmp done
producer:
  add r8, r4, 512
  mov r9, r5
{COPY}
  ffts_cross_core_sync mte3, 1, 1
  wait_flag_dev 1
done:"""
    result = execute(mixed("", body))
    assert np.array_equal(result.results[0][:64], X[128:192])


# Time. Before the body a cube core dispatches 4 rows and a vector core 5; behind it come the
# barrier of all pipes and the end.


def test_a_set_reaches_the_other_kind_after_the_latency() -> None:
    result = execute(mixed("  ffts_cross_core_sync mte2, 2, 3", "  wait_flag_dev 3"))
    set_at = 5  # when the row has been dispatched
    assert result.profile.cycles == set_at + LATENCY + 3
    assert [stalled(result, core, "cross_core") for core in range(3)] == [0, LATENCY, LATENCY]
    assert stalled(result, 1, "end") == 0


def test_a_set_waits_for_the_end_of_what_is_before_it_on_its_pipe() -> None:
    load = "  copy_gm_to_cbuf.b32 dst=0, src=r4, length=16\n"
    result = execute(mixed(load + "  ffts_cross_core_sync mte2, 2, 3", "  wait_flag_dev 3"))
    end = int(result.profile.launches[0].active[0, WORKING_PIPES.index(Pipe.MTE2)]) + 5
    assert result.profile.cycles == end + LATENCY + 3
    other = execute(mixed(load + "  ffts_cross_core_sync mte1, 2, 3", "  wait_flag_dev 3"))
    assert stalled(other, 1, "cross_core") == LATENCY + 1


def test_a_set_to_the_cube_core_counts_when_both_vector_cores_have_done_it() -> None:
    late = "  bne r2, 1, set\n" + times(40, "mov r20, 0") + "set:\n"
    vector = late + "  ffts_cross_core_sync v, 2, 7"
    result = execute(mixed("  wait_flag_dev 7", vector))
    set_at = 5 + 1 + 40 + 1
    assert result.profile.cycles == set_at + LATENCY + 3
    assert stalled(result, 0, "cross_core") == set_at + LATENCY - 4


def test_a_set_of_one_kind_reaches_all_cores_of_that_kind() -> None:
    late = "  mul r20, r3, 16\nagain:\n  sub r20, r20, 1\n  bge r20, 0, again\n"
    vector = late + "  ffts_cross_core_sync mte3, 0, 14\n  wait_flag_dev 14"
    result = execute(mixed("", vector, 3))
    set_at = 5 + 1 + 2 * (5 * 16 + 1) + 1  # of the last of six cores
    assert result.profile.cycles == set_at + LATENCY + 3
    assert min(stalled(result, core, "cross_core") for core in range(3, 9)) == LATENCY


def test_later_instructions_of_a_core_wait_and_earlier_ones_run_on() -> None:
    cube = times(200, "mov r20, 0") + "  ffts_cross_core_sync mte2, 2, 0"
    add = "  vadd.f32 dst=0, src0=0, src1=0, repeat=8\n"
    result = execute(mixed(cube, add + "  wait_flag_dev 0\n" + add), timing_only=True)
    (launch,) = result.profile.launches
    assert stalled(result, 1, "cross_core") > 190
    assert stalled(result, 1, "dispatch", Pipe.V) > 150
    assert launch.pipe_instructions[1, WORKING_PIPES.index(Pipe.V)] == 2


def test_counters_hold_fifteen_sets() -> None:
    sets = times(15, "ffts_cross_core_sync mte2, 2, 0")
    waits = times(100, "mov r20, 0") + times(15, "wait_flag_dev 0")
    assert stalled(execute(mixed(sets, waits)), 1, "cross_core") == 0


# Faults


@pytest.mark.parametrize(
    ("cube", "vector", "code", "message"),
    [
        (
            times(16, "ffts_cross_core_sync mte2, 2, 9"),
            times(100, "mov r20, 0") + times(16, "wait_flag_dev 9"),
            "CROSS_OVERFLOW",
            "feed, cube core 0: cross-core flag 9 was set at cycle 38 while its counter on vector"
            " core 0 stood at 15",
        ),
        (
            "",
            "  wait_flag_dev 9",
            "DEADLOCK",
            "feed + eat stands still at cycle 5: vector core 0: the scalar unit waits for"
            " cross-core flag 9 at row 5; no core has set it",
        ),
        (
            "  wait_flag_dev 2",
            "  bne r2, 0, over\n  ffts_cross_core_sync v, 2, 2\nover:",
            "DEADLOCK",
            "cube core 0: the scalar unit waits for cross-core flag 2 at row 4; vector core 1"
            " never set it",
        ),
        (
            times(2, "wait_flag_dev 2"),
            "  ffts_cross_core_sync v, 2, 2",
            "DEADLOCK",
            "vector core 0, vector core 1 set it once, all used up",
        ),
        (
            "  ffts_cross_core_sync mte2, 2, 2",
            "",
            "UNBALANCED",
            "eat, vector core 0: cross-core flag 2 still counts 1 when the kernel ends",
        ),
        (
            "",
            "  bne r2, 0, over\n  ffts_cross_core_sync v, 2, 2\nover:",
            "UNBALANCED",
            "eat, vector core 0: cross-core flag 2 was set more often than by the others of its"
            " mode 2 when the kernel ends",
        ),
        (
            "  mov r20, 16\n  ffts_cross_core_sync mte2, 2, r20",
            "",
            "BAD_CROSS",
            "feed, cube core 0, ffts_cross_core_sync: id is 16, legal is 0..15",
        ),
        (
            "",
            "  mov r20, -1\n  wait_flag_dev r20",
            "BAD_CROSS",
            "eat, vector core 0, wait_flag_dev: id is -1, legal is 0..15",
        ),
        (
            "  mov r20, 3\n  ffts_cross_core_sync mte2, r20, 0",
            "",
            "BAD_CROSS",
            "feed, cube core 0, ffts_cross_core_sync: mode is 3, legal is 0..2",
        ),
        (
            "  ffts_cross_core_sync mte2, 1, 0",
            "",
            "BAD_CROSS",
            "mode 1 binds the cores of one group, which cube cores cannot do\n"
            "fix: mode 2 reaches the vector cores of the group",
        ),
    ],
)
def test_faults_between_cores(cube: str, vector: str, code: str, message: str) -> None:
    with pytest.raises(DeviceError) as caught:
        execute(mixed(cube, vector))
    assert caught.value.code == code
    assert message in str(caught.value)


def test_a_launch_of_one_program_has_no_groups() -> None:
    made = mixed("", "  ffts_cross_core_sync mte2, 2, 0")
    alone = Launch(1, 2, made.steps[0].arguments)
    executable = Executable(
        made.soc, made.programs, made.buffers, {}, (alone,), made.inputs, made.results
    )
    with pytest.raises(DeviceError) as caught:
        execute(executable)
    message = "mode 2 binds the cores of one group, which a launch of one program cannot do"
    assert message in str(caught.value)


def test_vector_cores_alone_can_meet() -> None:
    made = mixed("", "  ffts_cross_core_sync mte3, 0, 14\n  wait_flag_dev 14")
    alone = Launch(1, 3, made.steps[0].arguments)
    executable = Executable(
        made.soc, made.programs, made.buffers, {}, (alone,), made.inputs, made.results
    )
    assert execute(executable).profile.cycles == 6 + LATENCY + 3
