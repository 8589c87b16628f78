"""The memory system on a die with a small L2: what HBM moves, and how long it takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pypto.emulator import launch as launches
from pypto.emulator.profile import LaunchProfile
from pypto.emulator.run import run
from pypto.emulator.state import STALL_MEMORY, WORKING_PIPES
from pypto.target.dtypes import F32
from pypto.target.executable import Buffer, BufferArgument, Executable, Launch, Role
from pypto.target.memory import CoreKind, Pipe, Space
from pypto.target.program import ProgramBuilder, Register
from pypto.target.soc import DIRECTORY, soc

R = Register
L2_BYTES = 16384


@pytest.fixture(scope="module")
def small_die(tmp_path_factory: pytest.TempPathFactory) -> str:
    text = (DIRECTORY / "ascend910b1.toml").read_text()
    text, count = re.subn(r"(l2_bytes\s*=\s*\{\s*value\s*=\s*)[\d_]+", rf"\g<1>{L2_BYTES}", text)
    assert count == 1
    path: Path = tmp_path_factory.mktemp("soc") / "small.toml"
    path.write_text(text)
    return str(path)


def launch(
    name: str,
    write: Callable[[ProgramBuilder], None],
    count: int = 65536,
    core: CoreKind = CoreKind.VECTOR,
    grid: int = 1,
) -> LaunchProfile:
    b = ProgramBuilder("probe", core)
    b.parameter("x", "buffer", F32)
    b.parameter("z", "buffer", F32, writes=True)
    b.append("ldp", R(2), 0)
    b.append("ldp", R(3), 1)
    write(b)
    b.append("pipe_barrier", Pipe.ALL)
    b.append("end")
    roles = (("x", Role.INPUT), ("z", Role.RESULT))
    buffers = tuple(Buffer(n, role, F32, (count,), 4 * count) for n, role in roles)
    step = Launch(0, grid, (BufferArgument(0), BufferArgument(1)))
    executable = Executable(name, (b.build(),), buffers, {}, (step,), (0,), (1,))
    shape_only = np.broadcast_to(np.float32(0), (count,))
    return run(executable, [shape_only], timing_only=True).profile.launches[0]


def load(b: ProgramBuilder, length: int, **fields: int) -> None:
    b.append("copy_gm_to_ubuf_align.b32", dst=0, src=R(2), length=length, **fields)


def store(b: ProgramBuilder, length: int, **fields: int) -> None:
    b.append("copy_ubuf_to_gm_align.b32", dst=R(3), src=0, length=length, **fields)


def test_a_stream_longer_than_l2_never_hits(small_die: str) -> None:
    longer = launch(small_die, lambda b: [load(b, 2 * L2_BYTES) for _ in range(3)])
    assert (longer.hbm_read_bytes, longer.hbm_write_bytes) == (6 * L2_BYTES, 0)
    shorter = launch(small_die, lambda b: [load(b, L2_BYTES) for _ in range(3)])
    assert shorter.hbm_read_bytes == L2_BYTES


def test_written_bytes_reach_hbm_when_they_leave_l2(small_die: str) -> None:
    def write(b: ProgramBuilder) -> None:
        store(b, L2_BYTES)
        b.append("pipe_barrier", Pipe.ALL)
        load(b, L2_BYTES // 2)

    kept = launch(small_die, lambda b: store(b, L2_BYTES))
    assert (kept.hbm_read_bytes, kept.hbm_write_bytes) == (0, 0)
    pushed = launch(small_die, write)
    assert (pushed.hbm_read_bytes, pushed.hbm_write_bytes) == (L2_BYTES // 2, L2_BYTES // 2)


def test_bytes_are_counted_in_sectors(small_die: str) -> None:
    rows = launch(small_die, lambda b: load(b, 32, bursts=8, src_gap=480))
    assert rows.hbm_read_bytes == 8 * 128

    def across(b: ProgramBuilder) -> None:
        b.append("add", R(2), R(2), 124)
        load(b, 8)

    assert launch(small_die, across).hbm_read_bytes == 2 * 128


def test_one_core_never_waits_for_the_die() -> None:
    one = launch("ascend910b1", lambda b: [load(b, 65536) for _ in range(3)])
    reads = soc("ascend910b1").gm_port_vector
    assert one.stalls[0, :, STALL_MEMORY].sum() <= 3
    assert 0 <= one.cycles - 3 * 65536 / reads - soc("ascend910b1").l2_latency < 200


def test_reads_and_writes_share_the_port_of_a_core() -> None:
    both = launch("ascend910b1", lambda b: [load(b, 65536), store(b, 65536)])
    machine = soc("ascend910b1")
    least = 65536 / machine.gm_port_vector + 65536 / machine.ub_to_gm
    assert least <= both.cycles < least + machine.hbm_latency + 40


def cycles_of(write: Callable[[ProgramBuilder], None], **options: int) -> int:
    return launch("ascend910b1", write, **options).cycles


def test_rows_of_one_sector_are_bound_by_the_window() -> None:
    """64 requests take their time on the port once and then come back at each latency."""

    def rows(b: ProgramBuilder, times: int) -> None:
        for _ in range(times):
            load(b, 128, bursts=128, src_gap=384)

    once, twice = (cycles_of(lambda b, n=n: rows(b, n)) for n in (1, 2))
    machine = soc("ascend910b1")
    port = 64 * 128 / machine.gm_port_vector
    assert once == pytest.approx(2 * machine.hbm_latency + port, abs=12)
    assert twice - once == pytest.approx(2 * machine.l2_latency, abs=12)


def test_a_row_that_begins_inside_a_sector_goes_by_single_sectors() -> None:
    def rows(b: ProgramBuilder, shift: int) -> None:
        b.append("add", R(2), R(2), shift)
        load(b, 512, bursts=128, src_gap=0)
        load(b, 512, bursts=64, src_gap=512)

    aligned, shifted = (cycles_of(lambda b, n=n: rows(b, n)) for n in (0, 32))
    machine = soc("ascend910b1")
    assert aligned == pytest.approx(192 * 512 / machine.gm_port_vector, rel=0.25)
    # The first transfer is one burst of 513 sectors, the 64 rows of the second have five each.
    requests = 513 + 64 * 5
    assert shifted == pytest.approx(
        requests * machine.hbm_latency / machine.request_window, rel=0.1
    )


def test_small_transfers_begin_at_an_interval() -> None:
    def many(b: ProgramBuilder, count: int) -> None:
        for _ in range(count):
            load(b, 128)

    few, more = (cycles_of(lambda b, n=n: many(b, n)) for n in (100, 200))
    assert more - few == pytest.approx(100 * 20.6, abs=1)


def test_rows_that_lie_end_to_end_are_one_burst() -> None:
    whole = cycles_of(lambda b: load(b, 8192))
    pieces = cycles_of(lambda b: load(b, 64, bursts=128, src_gap=0))
    assert pieces == whole


def test_the_clock_spares_what_was_asked_for_again(small_die: str) -> None:
    """Half of L2 is read twice, then a stream of 3/4 of it passes: only the stream is lost."""

    def write(b: ProgramBuilder) -> None:
        for _ in range(2):
            load(b, L2_BYTES // 2)
            b.append("pipe_barrier", Pipe.MTE2)
        b.append("add", R(4), R(2), L2_BYTES)
        b.append("copy_gm_to_ubuf_align.b32", dst=0, src=R(4), length=3 * L2_BYTES // 4)
        b.append("pipe_barrier", Pipe.MTE2)
        load(b, L2_BYTES // 2)

    assert launch(small_die, write).hbm_read_bytes == L2_BYTES // 2 + 3 * L2_BYTES // 4


def test_another_sector_of_a_line_is_no_reuse(small_die: str) -> None:
    """A half of L2 is read in four columns of one sector each, then the other half; who comes next
    takes the place of the first, not of the second."""
    half = L2_BYTES // 2

    def read(b: ProgramBuilder, start: int, **fields: int) -> None:
        b.append("add", R(4), R(2), start)
        b.append("copy_gm_to_ubuf_align.b32", dst=0, src=R(4), **fields)
        b.append("pipe_barrier", Pipe.MTE2)

    def write(b: ProgramBuilder) -> None:
        for sector in range(4):
            read(b, 128 * sector, bursts=half // 512, length=128, src_gap=384)
        for start in (half, 2 * half, half):
            read(b, start, length=half)

    assert launch(small_die, write).hbm_read_bytes == 3 * half


def test_transfers_that_pass_l2_by_leave_it_as_it_is(small_die: str) -> None:
    def write(b: ProgramBuilder, mode: int) -> None:
        load(b, L2_BYTES)
        b.append("pipe_barrier", Pipe.MTE2)
        b.append("set_l2_mode", mode)
        b.append("add", R(4), R(2), 2 * L2_BYTES)
        b.append("copy_gm_to_ubuf_align.b32", dst=0, src=R(4), length=L2_BYTES)
        store(b, L2_BYTES)
        b.append("pipe_barrier", Pipe.ALL)
        b.append("set_l2_mode", 0)
        load(b, L2_BYTES)

    by, through = (launch(small_die, lambda b, n=n: write(b, n)) for n in (1, 0))
    assert (by.hbm_read_bytes, by.hbm_write_bytes) == (2 * L2_BYTES, L2_BYTES)
    assert (through.hbm_read_bytes, through.hbm_write_bytes) == (3 * L2_BYTES, L2_BYTES)


def matrix_loads(b: ProgramBuilder, target: int, port: str, times: int = 24) -> None:
    """Fill 64 KB of L1 while fractals at address 0 are read to L0A or L0B without a pause."""
    for _ in range(times):
        b.append(f"load_cbuf_to_{port}.b16", dst=0, src=0, repeat=32)
    b.append(
        "copy_gm_to_cbuf_multi_nd2nz.b16",
        **{"dst": target, "src": R(2), "rows": 128, "columns": 256, "src_row_stride": 256},
        **{"nd_count": 1, "src_nd_stride": 0, "dst_column_stride": 128, "dst_nd_stride": 0},
    )


@pytest.mark.parametrize(("port", "slower"), [("ca", 24 * 64), ("cb", 596)])
def test_reads_of_a_half_of_l1_hold_up_writes_to_it(port: str, slower: int) -> None:
    """L0A takes all that a half delivers; L0B leaves every second cycle to the 596 of the port."""
    half = soc("ascend910b1").capacity[Space.L1] // 2

    def stalled(target: int) -> int:
        one = launch("ascend910b1", lambda b: matrix_loads(b, target, port), core=CoreKind.CUBE)
        mte2 = WORKING_PIPES.index(Pipe.MTE2)
        return int(one.busy[0, mte2] + one.stalls[0, mte2, STALL_MEMORY])

    assert stalled(0) - stalled(half) == pytest.approx(slower, rel=0.1)


def test_slow_reads_of_a_half_of_l1_hold_up_less() -> None:
    """An image whose rows a tile crosses is unfolded at 102 bytes per cycle, a row alone at 256."""

    def stalled(width: int) -> int:
        def write(b: ProgramBuilder) -> None:
            b.append("set_fmatrix", width | -(-128 // width) << 16)
            for _ in range(24):
                b.append(
                    "img2colv2_cbuf_to_ca.b16",
                    dst=0, src=0, step_k=64, step_m=128, pos_m=0, channels=64,
                )  # fmt: skip
            matrix_loads(b, 0, "ca", times=0)

        one = launch("ascend910b1", write, core=CoreKind.CUBE)
        return int(one.stalls[0, WORKING_PIPES.index(Pipe.MTE2), STALL_MEMORY])

    assert stalled(128) > stalled(43) + 1000


def test_columns_of_blocks_drain_as_fast_as_rows() -> None:
    """The 32-byte pieces of a column of the NZ form lie end to end."""

    def drain(b: ProgramBuilder, nz2nd: int) -> None:
        b.append(
            "copy_matrix_cc_to_gm.f32f16",
            dst=R(3), src=0, n=256, m=128, dst_stride=256, src_stride=128, nz2nd=nz2nd,
        )  # fmt: skip

    columns, rows = (
        launch("ascend910b1", lambda b, n=n: drain(b, n), core=CoreKind.CUBE) for n in (0, 1)
    )
    assert columns.cycles == pytest.approx(rows.cycles, rel=0.02)


def test_cores_that_read_one_line_share_its_bank() -> None:
    """48 cores read the same 4 KB, or each its own, 16 times from L2."""

    def write(b: ProgramBuilder, pitch: int) -> None:
        b.append("mul", R(4), R(0), pitch)
        b.append("add", R(2), R(2), R(4))
        for _ in range(16):
            load(b, 4096)

    same, own = (cycles_of(lambda b, n=n: write(b, n), grid=48) for n in (0, 4096))
    machine = soc("ascend910b1")
    assert same >= 16 * 48 * 512 / machine.l2_line_bandwidth
    assert own < same / 2


def many(b: ProgramBuilder, move: Callable[..., None], size: int, total: int) -> None:
    """Move ``total`` bytes that nobody touched before, by ``size`` at once."""
    b.append("mul", R(4), R(0), total)
    b.append("add", R(2), R(2), R(4))
    b.append("add", R(3), R(3), R(4))
    b.append("mov", R(5), 0)
    b.label("next")
    move(b, size)
    b.append("add", R(2), R(2), size)
    b.append("add", R(3), R(3), size)
    b.append("add", R(5), R(5), size)
    b.append("blt", R(5), total, "next")


@pytest.mark.parametrize("mode", [0, 1])
def test_writes_beyond_l2_go_at_the_rate_of_hbm(small_die: str, mode: int) -> None:
    total = 2**20

    def write(b: ProgramBuilder) -> None:
        b.append("set_l2_mode", mode)
        many(b, store, 16384, total)

    one = launch(small_die, write, count=48 * total // 4, grid=48)
    moved = 48 * total - (0 if mode else L2_BYTES)
    assert one.hbm_write_bytes >= moved
    assert one.cycles >= moved / soc(small_die).hbm_write


def test_the_rest_of_a_line_is_not_asked_for_again(small_die: str) -> None:
    """8 KB are read again and again between stores that pass once, aligned or not."""

    def write(b: ProgramBuilder, shift: int) -> None:
        b.append("add", R(3), R(3), shift)
        for _ in range(8):
            load(b, L2_BYTES // 2)
            b.append("pipe_barrier", Pipe.ALL)
            store(b, 3 * L2_BYTES // 8)
            b.append("pipe_barrier", Pipe.ALL)
            b.append("add", R(3), R(3), 3 * L2_BYTES // 8)

    aligned, shifted = (launch(small_die, lambda b, n=n: write(b, n)) for n in (0, 32))
    ends = 2 * 8 * 128  # sectors that a store covers in part are read first
    assert shifted.hbm_read_bytes <= aligned.hbm_read_bytes + ends


def test_a_sector_that_is_written_in_part_is_read_first(small_die: str) -> None:
    whole = launch(small_die, lambda b: store(b, 128))
    part = launch(small_die, lambda b: store(b, 32))
    assert (whole.hbm_read_bytes, part.hbm_read_bytes) == (0, 128)


@pytest.mark.parametrize("fields", [{"length": 0}, {"length": 64, "bursts": 0}])
def test_transfers_of_nothing_take_an_interval(fields: dict[str, int]) -> None:
    def write(b: ProgramBuilder) -> None:
        for _ in range(3):
            load(b, **fields)
        store(b, **fields)

    one = launch("ascend910b1", write)
    assert one.hbm_read_bytes == one.hbm_write_bytes == 0
    assert one.cycles == pytest.approx(3 * 20.6, abs=12)


def test_memory_that_answers_at_once_keeps_every_cycle_named(tmp_path: Path) -> None:
    text = (DIRECTORY / "ascend910b1.toml").read_text()
    for key in ("l2_latency", "hbm_latency", "gm_latency_write"):
        text = re.sub(rf"({key} = {{ value = )\d+", r"\g<1>0", text)
    path = tmp_path / "quick.toml"
    path.write_text(text)
    assert launch(str(path), lambda b: [load(b, 32) for _ in range(9)]).cycles >= 8 * 20.6


def test_a_window_of_one_request_waits_for_every_answer(tmp_path: Path) -> None:
    text = (DIRECTORY / "ascend910b1.toml").read_text()
    text, count = re.subn(r"(request_window = { value = )\d+", r"\g<1>1", text)
    assert count == 1
    path = tmp_path / "narrow.toml"
    path.write_text(text)
    one = launch(str(path), lambda b: load(b, 64 * 512))
    assert one.cycles >= 64 * soc("ascend910b1").hbm_latency


@pytest.mark.parametrize("events", [1, 7])
def test_the_size_of_slices_changes_nothing(monkeypatch: pytest.MonkeyPatch, events: int) -> None:
    def write(b: ProgramBuilder) -> None:
        b.append("mul", R(4), R(0), 4096)
        b.append("add", R(2), R(2), R(4))
        for _ in range(4):
            load(b, 4096)
            load(b, 96, bursts=9, src_gap=160)

    whole = launch("ascend910b1", write, grid=12)
    monkeypatch.setattr(launches, "FIRST_SLICE", events)
    monkeypatch.setattr(launches, "SLICE_SECONDS", 0.0)
    sliced = launch("ascend910b1", write, grid=12)
    assert sliced.cycles == whole.cycles
    assert (sliced.stalls == whole.stalls).all()
