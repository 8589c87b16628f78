"""The memory system on a die with a small L2: what HBM moves, and how long it takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pypto.emulator.profile import LaunchProfile
from pypto.emulator.run import run
from pypto.emulator.state import STALL_MEMORY
from pypto.target.dtypes import F32
from pypto.target.executable import Buffer, BufferArgument, Executable, Launch, Role
from pypto.target.memory import CoreKind, Pipe
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


def launch(name: str, write: Callable[[ProgramBuilder], None], count: int = 65536) -> LaunchProfile:
    b = ProgramBuilder("probe", CoreKind.VECTOR)
    b.parameter("x", "buffer", F32)
    b.parameter("z", "buffer", F32, writes=True)
    b.append("ldp", R(2), 0)
    b.append("ldp", R(3), 1)
    write(b)
    b.append("pipe_barrier", Pipe.ALL)
    b.append("end")
    roles = (("x", Role.INPUT), ("z", Role.RESULT))
    buffers = tuple(Buffer(n, role, F32, (count,), 4 * count) for n, role in roles)
    step = Launch(0, 1, (BufferArgument(0), BufferArgument(1)))
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
    across = launch(small_die, lambda b: load(b, 8, bursts=1, src_gap=0))
    assert across.hbm_read_bytes == 128


def test_one_core_never_waits_for_the_die() -> None:
    one = launch("ascend910b1", lambda b: [load(b, 65536) for _ in range(3)])
    reads = soc("ascend910b1").gm_port_vector
    assert one.stalls[0, :, STALL_MEMORY].sum() <= 3
    assert one.cycles >= 3 * 65536 // reads


def test_reads_and_writes_share_the_port_of_a_core() -> None:
    both = launch("ascend910b1", lambda b: [load(b, 65536), store(b, 65536)])
    assert both.cycles >= 65536 // 67 + 65536 // 64
