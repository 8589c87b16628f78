"""Time, order, flags and faults of the event engine, on small hand-written programs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pypto.emulator import launch as launches
from pypto.emulator.run import RunResult, run
from pypto.emulator.state import LOG_COLUMNS, STALL_KINDS, WORKING_PIPES
from pypto.errors import DeviceError
from pypto.target.dtypes import F16, F32
from pypto.target.executable import Buffer, BufferArgument, Executable, Launch, Role
from pypto.target.memory import CoreKind, Pipe
from pypto.target.program import ProgramBuilder, Register
from pypto.target.soc import soc
from tests.emulator.programs import elementwise_executable, matmul_executable

R = Register
V, MTE2, MTE3 = Pipe.V, Pipe.MTE2, Pipe.MTE3
SOC = soc("ascend910b1")
TILE = 4096


def run_program(
    write: Callable[[ProgramBuilder], None],
    grid: int = 1,
    count: int = 8192,
    core: CoreKind = CoreKind.VECTOR,
    **options: object,
) -> RunResult:
    """Run a program on f32 buffers x (input, in r2) and z (result, in r3) of ``count`` elements."""
    b = ProgramBuilder("probe", core)
    b.parameter("x", "buffer", F32)
    b.parameter("z", "buffer", F32, writes=True)
    b.append("ldp", R(2), 0)
    b.append("ldp", R(3), 1)
    write(b)
    b.append("pipe_barrier", Pipe.ALL)
    b.append("end")
    buffers = tuple(
        Buffer(name, role, F32, (count,), 4 * count)
        for name, role in (("x", Role.INPUT), ("z", Role.RESULT))
    )
    step = Launch(0, grid, (BufferArgument(0), BufferArgument(1)))
    executable = Executable(SOC.name, (b.build(),), buffers, {}, (step,), (0,), (1,))
    x = np.arange(count, dtype=np.float32)
    return run(executable, [x], **options)  # pyright: ignore[reportArgumentType]


def stall(result: RunResult, pipe: Pipe, kind: str, core: int = 0) -> int:
    stalls = result.profile.launches[0].stalls
    return int(stalls[core, WORKING_PIPES.index(pipe), STALL_KINDS.index(kind)])


def busy(result: RunResult, pipe: Pipe, core: int = 0) -> int:
    return int(result.profile.launches[0].busy[core, WORKING_PIPES.index(pipe)])


def load(b: ProgramBuilder, dst: int = 0, length: int = TILE) -> None:
    b.append("copy_gm_to_ubuf_align.b32", dst=dst, src=R(2), length=length)


def add(b: ProgramBuilder, dst: int = 3 * TILE, repeat: int = 8) -> None:
    b.append("vadd.f32", dst=dst, src0=0, src1=TILE, repeat=repeat)


# Values


@pytest.mark.parametrize("trips", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("grid", [1, 3, 48])
def test_double_buffered_addition(trips: int, grid: int) -> None:
    executable = elementwise_executable(grid, trips, TILE)
    executable.validate()
    count = grid * trips * TILE // 4
    x = np.random.default_rng(trips).normal(size=count).astype(np.float32)
    y = x[::-1].copy()
    result = run(executable, [x, y])
    assert np.array_equal(result.results[0], x + y)


@pytest.mark.parametrize("shape", [(64, 96, 64), (32, 32, 96)])
@pytest.mark.parametrize("grid", [1, 3])
def test_matmul_accumulates_k_after_k(shape: tuple[int, int, int], grid: int) -> None:
    m, k, n = shape
    executable = matmul_executable(m, k, n, (32, 32, 32), grid, F32)
    executable.validate()
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=s).astype(np.float16) for s in ((m, k), (k, n)))
    expected = np.zeros((m, n), np.float32)
    for i in range(k):
        expected = expected + a[:, i : i + 1].astype(np.float32) * b[i].astype(np.float32)
    assert np.array_equal(run(executable, [a, b]).results[0], expected)
    halves = run(matmul_executable(m, k, n, (32, 32, 32), grid, F16), [a, b]).results[0]
    assert np.array_equal(halves, expected.astype(np.float16))


def test_time_does_not_depend_on_what_is_computed() -> None:
    executable = elementwise_executable(7, 5, TILE)
    x = np.ones(7 * 5 * TILE // 4, np.float32)
    full = run(executable, [x, x]).profile
    timed = run(executable, [x, x], timing_only=True)
    assert timed.results == ()
    assert timed.profile.cycles == full.cycles
    assert np.array_equal(timed.profile.launches[0].stalls, full.launches[0].stalls)


def test_two_runs_are_the_same() -> None:
    executable = matmul_executable(64, 64, 128, (32, 32, 32), 5, F32)
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=s).astype(np.float16) for s in ((64, 64), (64, 128)))
    first, second = (run(executable, [a, b], record=True) for _ in range(2))
    assert np.array_equal(first.log[0].rows, second.log[0].rows)
    assert np.array_equal(first.results[0], second.results[0])
    assert first.profile.cycles == second.profile.cycles


def test_scalar_arithmetic() -> None:
    """Every operation stores its result's low bits through the length of a copy."""
    cases = [
        ("add", 5, 7), ("sub", 9, 4), ("mul", 6, 7), ("div", 17, 5), ("div", -17, 5),
        ("rem", 17, 5), ("rem", -17, 5), ("div", 3, 0), ("rem", 3, 0), ("min", 3, -2),
        ("max", 3, -2), ("shl", 3, 4), ("shr", 48, 4), ("shr", -1, 60), ("and", 12, 10),
        ("or", 12, 10), ("slt", 1, 2), ("slt", 2, 1), ("seq", 4, 4), ("seq", 4, 5),
    ]  # fmt: skip
    expected = [12, 5, 42, 3, -3, 2, -2, 0, 0, -2, 3, 48, 3, 15, 8, 14, 1, 0, 1, 0]

    def write(b: ProgramBuilder) -> None:
        b.append("set_mask_count")
        b.append("set_vector_mask", 0, 1)
        for i, (name, left, right) in enumerate(cases):
            b.append("mov", R(4), left)
            b.append(name, R(5), R(4), right)
            b.append("and", R(5), R(5), 2**32 - 1)
            b.append("vector_dup.i32", dst=32 * i, scalar=R(5))
        b.append("set_flag", V, MTE3, 0)
        b.append("wait_flag", V, MTE3, 0)
        b.append(
            "copy_ubuf_to_gm_align.b32", dst=R(3), src=0, bursts=len(cases), length=4, dst_gap=0
        )

    result = run_program(write).results[0].view(np.int32)
    assert result[: len(cases)].tolist() == expected


# Time


def test_a_lone_load_takes_port_time_and_latency() -> None:
    result = run_program(lambda b: load(b, length=6700))
    start = 3  # two parameters and the load itself leave the scalar unit
    barrier_and_end = 2
    port = -(-53 * 128 // SOC.gm_port_vector)  # 53 sectors hold the bytes
    last = 44 / SOC.l2_line_bandwidth  # L2 begins with the last request before it is all sent
    least = start + port + SOC.hbm_latency + barrier_and_end
    assert least <= result.profile.cycles <= least + last + 1
    assert busy(result, MTE2) == port
    assert stall(result, MTE2, "dispatch") == start


def test_transfers_overlap_their_latency_but_not_their_requests() -> None:
    one, two = (
        run_program(lambda b, n=n: [load(b, length=6656) for _ in range(n)]) for n in (1, 2)
    )
    assert two.profile.cycles - one.profile.cycles < 6656 / SOC.gm_port_vector + 2


def test_a_barrier_waits_for_completion() -> None:
    def with_barrier(b: ProgramBuilder) -> None:
        load(b)
        b.append("pipe_barrier", MTE2)
        load(b)

    free = run_program(lambda b: [load(b) for _ in range(2)])
    held = run_program(with_barrier)
    line = 512 / SOC.l2_line_bandwidth - 512 / SOC.gm_port_vector  # L2's part of the last line
    assert abs(stall(held, MTE2, "barrier") - SOC.hbm_latency - line) <= 1
    assert held.profile.cycles > free.profile.cycles + SOC.l2_latency - 5


def test_a_pipe_is_active_until_its_instructions_have_ended() -> None:
    launch = run_program(lambda b: [load(b), add(b)]).profile.launches[0]
    active = launch.active[0]
    mte2 = WORKING_PIPES.index(MTE2)
    assert 0 <= active[mte2] - launch.busy[0, mte2] - SOC.hbm_latency <= 4
    vector = WORKING_PIPES.index(V)
    conflicts = launch.stalls[0, vector, STALL_KINDS.index("bank")]
    assert active[vector] == launch.busy[0, vector] + conflicts
    assert active[WORKING_PIPES.index(MTE3)] == 0


def test_a_set_takes_effect_after_everything_before_it_has_ended() -> None:
    def write(b: ProgramBuilder) -> None:
        load(b)
        b.append("set_flag", MTE2, V, 3)
        b.append("wait_flag", MTE2, V, 3)
        add(b)

    result = run_program(write, record=True)
    rows = {name: result.log[0].rows[:, i] for i, name in enumerate(LOG_COLUMNS)}
    mte2, vector = (rows["pipe"] == WORKING_PIPES.index(p) for p in (MTE2, V))
    load_end = rows["end"][mte2][0]
    assert rows["end"][mte2][1] == load_end, "the set ends with the load"
    assert rows["start"][mte2][1] < load_end, "but leaves the queue at once"
    assert rows["start"][vector].tolist() == [load_end, load_end]
    assert stall(result, V, "flag_mte2") == load_end - rows["dispatched"][vector][0]


def test_the_scalar_unit_sets_and_waits_for_flags() -> None:
    def write(b: ProgramBuilder) -> None:
        load(b)
        b.append("set_flag", MTE2, Pipe.S, 0)
        b.append("wait_flag", MTE2, Pipe.S, 0)
        b.append("set_flag", Pipe.S, V, 1)
        b.append("wait_flag", Pipe.S, V, 1)
        add(b)

    result = run_program(write, record=True)
    rows = {name: result.log[0].rows[:, i] for i, name in enumerate(LOG_COLUMNS)}
    load_end = rows["end"][0]
    assert stall(result, Pipe.S, "flag_mte2") == load_end - 4
    assert rows["start"][-1] >= load_end + 2


def test_a_full_queue_stops_the_scalar_unit() -> None:
    count = SOC.queue_depth + 9

    def write(b: ProgramBuilder) -> None:
        for _ in range(count):
            add(b, repeat=200)

    result = run_program(write, record=True)
    rows = {name: result.log[0].rows[:, i] for i, name in enumerate(LOG_COLUMNS)}
    assert stall(result, Pipe.S, "queue_v") > 0
    assert stall(result, V, "dispatch") == rows["start"][0]
    waiting = [
        int(np.sum((rows["dispatched"] <= t) & (rows["start"] >= t))) for t in rows["dispatched"]
    ]
    assert max(waiting) == SOC.queue_depth


def test_cores_share_the_bandwidth_of_the_die() -> None:
    def write(b: ProgramBuilder) -> None:
        b.append("mul", R(4), R(0), 65536)
        b.append("add", R(2), R(2), R(4))
        for _ in range(2):
            load(b, length=32768)
            b.append("add", R(2), R(2), 32768)

    alone, crowd = (run_program(write, grid=g, count=48 * 16384) for g in (1, 48))
    assert stall(alone, MTE2, "memory") == 0
    assert stall(crowd, MTE2, "memory", core=47) > 0
    moved = 48 * 65536
    assert crowd.profile.hbm_bytes == moved
    assert crowd.profile.cycles >= moved // SOC.hbm_read


def test_what_was_read_once_comes_from_l2() -> None:
    once = run_program(lambda b: load(b, length=32768))
    twice = run_program(lambda b: [load(b, length=32768) for _ in range(2)])
    assert once.profile.hbm_bytes == twice.profile.hbm_bytes == 32768


@pytest.mark.parametrize("grid", [1, 5])
def test_every_cycle_of_every_pipe_has_a_name(grid: int) -> None:
    executable = elementwise_executable(grid, 4, TILE)
    x = np.ones(grid * TILE, np.float32)
    launch = run(executable, [x, x]).profile.launches[0]
    named = launch.busy + launch.stalls.sum(axis=2)
    assert named.shape == (grid, len(WORKING_PIPES))
    assert (named == launch.cycles).all()
    assert (launch.stalls >= 0).all()


def test_instructions_are_counted() -> None:
    launch = run_program(lambda b: [load(b), add(b)]).profile.launches[0]
    assert launch.instructions == 6
    assert launch.data_instructions == 2
    assert launch.pipe_instructions[0, WORKING_PIPES.index(V)] == 1


# Faults


def message(write: Callable[[ProgramBuilder], None], **options: object) -> str:
    with pytest.raises(DeviceError) as caught:
        run_program(write, **options)  # pyright: ignore[reportArgumentType]
    return str(caught.value)


def test_deadlock_names_pipe_event_missing_set_and_line() -> None:
    def write(b: ProgramBuilder) -> None:
        b.at("kernel.py:7:3")
        b.append("wait_flag", MTE2, V, 5)
        add(b)

    text = message(write)
    assert text.startswith("kernel.py:7:3: error[DEADLOCK]: probe stands still at cycle ")
    assert "core 0: v waits for flag mte2 -> v, id 5 at kernel.py:7:3" in text
    assert "no set_flag of that pair is in the program" in text
    assert "the scalar unit waits for all pipes" in text


def test_deadlock_behind_a_full_queue() -> None:
    def write(b: ProgramBuilder) -> None:
        b.append("wait_flag", MTE2, V, 0)
        for _ in range(SOC.queue_depth + 3):
            add(b)
        b.append("set_flag", MTE2, V, 0)

    text = message(write)
    assert "DEADLOCK" in text
    assert "the queue of v is full (32)" in text
    assert "the set_flag at row" in text


def test_double_set() -> None:
    def write(b: ProgramBuilder) -> None:
        b.at("kernel.py:4:1")
        b.append("set_flag", MTE2, V, 2)
        b.append("set_flag", MTE2, V, 2)

    text = message(write)
    assert text.startswith("kernel.py:4:1: error[DOUBLE_SET]")
    assert "flag mte2 -> v, id 2 was set at cycle" in text


def test_a_flag_left_up() -> None:
    text = message(lambda b: b.append("set_flag", MTE3, V, 1))
    assert "error[UNBALANCED]" in text
    assert "flag mte3 -> v, id 1 is still up" in text


@pytest.mark.parametrize(
    ("write", "what"),
    [
        (lambda b: load(b, dst=SOC.capacity["ub"] - 64, length=128), "of ub through dst"),
        (lambda b: load(b, length=4 * 8192 + 4), "of gm through src"),
        (lambda b: add(b, repeat=9, dst=SOC.capacity["ub"] - 9 * 256 + 32), "of ub through dst"),
        (
            lambda b: b.append("copy_ubuf_to_gm_align.b8", dst=R(2), src=0, length=1, dst_gap=0),
            None,
        ),
    ],
    ids=["ub", "gm", "strided", "inside"],
)
def test_out_of_bounds(write: Callable[[ProgramBuilder], None], what: str | None) -> None:
    def with_line(b: ProgramBuilder) -> None:
        b.at("kernel.py:9:2")
        write(b)

    if what is None:
        run_program(with_line)
        return
    text = message(with_line)
    assert text.startswith("kernel.py:9:2: error[OUT_OF_BOUNDS]")
    assert what in text


def test_gather_out_of_bounds() -> None:
    def write(b: ProgramBuilder) -> None:
        b.append("vector_dup.u32", dst=0, scalar=300_000, repeat=1)
        b.append("pipe_barrier", V)
        b.append("vgather.u32", dst=1024, offsets=0, base=0, repeat=1)

    text = message(write)
    assert "vgather.u32 touches bytes 300000 to 300004 of ub" in text


def test_endless_loop() -> None:
    def write(b: ProgramBuilder) -> None:
        b.label("again")
        b.append("jmp", "again")

    text = message(write, cycle_limit=100_000)
    assert "error[CYCLE_LIMIT]: probe did not end within 100000 cycles" in text


def test_event_id_from_a_register() -> None:
    def write(b: ProgramBuilder) -> None:
        b.append("mov", R(4), 9)
        b.append("set_flag", MTE2, V, R(4))

    assert "event id 9, legal is 0..7" in message(write)


@pytest.mark.parametrize(
    ("value", "field", "what"),
    [
        (300, "repeat", "repeat is 300 (from r4); ascend910b1 takes 0..255"),
        (-1, "src1_repeat", "src1_repeat is -1 (from r4); ascend910b1 takes 0..255"),
        (40, "dst", "dst is 40 (from r4); ascend910b1 takes a multiple of 32"),
    ],
)
def test_operands_from_registers_are_checked(value: int, field: str, what: str) -> None:
    def write(b: ProgramBuilder) -> None:
        b.append("mov", R(4), value)
        b.at("kernel.py:8:8")
        b.append("vadd.f32", **{"dst": 0, "src0": 0, "src1": 0, field: R(4)})

    text = message(write)
    assert text.startswith("kernel.py:8:8: error[BAD_OPERAND]: probe, core 0, vadd.f32: ")
    assert what in text


# Slices


def test_small_buffers_grow_and_logs_are_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    executable = elementwise_executable(6, 9, TILE)
    x = np.arange(6 * 9 * TILE // 4, dtype=np.float32)
    whole = run(executable, [x, x], record=True)
    monkeypatch.setattr(launches, "FLIGHTS", 20)
    monkeypatch.setattr(launches, "LOG_ROWS", 1)
    monkeypatch.setattr(launches, "FIRST_SLICE", 3)
    pieces = run(executable, [x, x], record=True)
    assert np.array_equal(whole.log[0].rows, pieces.log[0].rows)
    assert np.array_equal(whole.results[0], pieces.results[0])


def test_progress_is_called_between_slices() -> None:
    seen: list[tuple[str, int, int]] = []
    result = run_program(load, progress=lambda *state: seen.append(state))
    name, cycle, instructions = seen[-1]
    assert name == "probe"
    assert 0 < cycle <= result.profile.cycles
    assert instructions == result.profile.instructions


def lists_apart(b: ProgramBuilder) -> None:
    b.append("mov", R(5), 65535)
    b.append("mov", R(6), 255)
    b.append(
        "scatter_vnchwconv.b16",
        dst=0, src=0, repeat=R(6), dst_step=3, dst_pair=2, src_step=3, src_pair=2,
        dst_repeat=R(5), src_repeat=R(5),
    )  # fmt: skip


def half_a_block(b: ProgramBuilder) -> None:
    b.append("mov", R(5), 48)
    b.append("mov", R(6), 2**31)
    b.append(
        "copy_matrix_cc_to_cbuf.qf32b8", dst=0, src=0, n=R(5), m=16, dst_stride=R(6), src_stride=16
    )


@pytest.mark.parametrize(
    ("write", "core"), [(lists_apart, CoreKind.VECTOR), (half_a_block, CoreKind.CUBE)]
)
def test_registers_that_break_a_rule_between_fields_stay_within_memory(
    write: Callable[[ProgramBuilder], None], core: CoreKind
) -> None:
    """What the footprint cannot say is out of bounds, before anything is written."""
    assert "error[OUT_OF_BOUNDS]" in message(write, core=core)
