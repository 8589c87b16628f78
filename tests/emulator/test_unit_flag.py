"""Unit flags: a drain follows a multiplication block by block, and the next one the drain."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.emulator.run import RunResult, run
from pypto.emulator.state import LOG_COLUMNS, STALL_KINDS, WORKING_PIPES
from pypto.errors import DeviceError
from pypto.target.executable import Executable
from pypto.target.instructions import OPCODES
from pypto.target.memory import Pipe
from pypto.target.soc import soc
from tests.emulator.hazard_programs import code, cube
from tests.emulator.hazard_verdicts import L0_FULL, hazards

SOC = soc("ascend910b1")
M, N, K = 128, 256, 16
BLOCKS = M // 16 * (N // 16)
WORK = BLOCKS  # cycles of the fractals of one mad, which K gives one each
LENGTH = WORK + SOC.mad_gap  # until its last block is final and the pipe is free
DRAIN = SOC.fixpipe_head + M * N * 4 // SOC.fixpipe_to_gm + 1
START = LOG_COLUMNS.index("start")
M_TO_FIX = code("set_flag m, fix, 0", "wait_flag m, fix, 0")
FIX_TO_M = code("set_flag fix, m, 0", "wait_flag fix, m, 0")


def mad(unit: int = 0, c: int = 0, m: int = M, init: int = 1) -> str:
    return f"mad.f16 c={c}, a=0, b=0, m={m}, k={K}, n={N}, unit_flag={unit}, c_init={init}"


def fix(unit: int = 0, src: int = 0, m: int = M, stride: int = 0) -> str:
    return (
        f"copy_matrix_cc_to_gm.f32 dst=r4, src={src}, n={N}, m={m}, dst_stride={N}, "
        f"src_stride={stride or m}, unit_flag={unit}"
    )


def execute(*lines: str, **options: object) -> RunResult:
    inputs = [np.random.default_rng(0).normal(size=65536).astype(np.float16) for _ in range(2)]
    made = program(*lines)
    return run(made, inputs, **options)  # pyright: ignore[reportArgumentType]


def program(*lines: str) -> Executable:
    return cube(code(L0_FULL, *lines))


def starts(mnemonic: str, *lines: str) -> list[int]:
    """When the instructions of a mnemonic begin."""
    rows = execute(*lines, record=True, timing_only=True).log[0].rows
    return rows[rows[:, LOG_COLUMNS.index("opcode")] == OPCODES[mnemonic]][:, START].tolist()


def test_the_cost_of_a_drain_is_known() -> None:
    assert DRAIN == 1275


def test_a_drain_begins_behind_the_first_block() -> None:
    lines = (mad(3), fix(3))
    (begin,), (drain,) = starts("mad.f16", *lines), starts("copy_matrix_cc_to_gm.f32", *lines)
    # The first of 128 blocks is final after one 128th of the multiplication, rounded up.
    assert drain == begin + -(-LENGTH // BLOCKS)
    flags = (mad(), M_TO_FIX, fix())
    (drain,) = starts("copy_matrix_cc_to_gm.f32", *flags)
    assert drain == begin + LENGTH


def test_a_quick_drain_does_not_overtake_the_multiplication() -> None:
    """One block, which is final when the multiplication ends."""
    deep = mad(3).replace(f"k={K}", "k=256").replace("m=128", "m=16").replace("n=256", "n=16")
    fill = code(*(f"load_cbuf_to_{one}.b16 dst=0, src=0, repeat=16" for one in ("ca", "cb")))
    to_l1 = (
        "copy_matrix_cc_to_cbuf.f32f16 dst=65536, src=0, n=16, m=16, dst_stride=16, "
        "src_stride=16, unit_flag=3"
    )
    lines = ("pipe_barrier mte1", fill, "set_flag mte1, m, 0", "wait_flag mte1, m, 0", deep, to_l1)
    (begin,) = starts("mad.f16", *lines)
    (drain,) = starts("copy_matrix_cc_to_cbuf.f32f16", *lines)
    assert drain == begin + 16 + SOC.mad_gap  # one block, final at the end


def test_the_next_multiplication_follows_the_drain() -> None:
    lines = (mad(3), fix(3), mad(3), fix(3))
    first, second = starts("mad.f16", *lines)
    (drain, _) = starts("copy_matrix_cc_to_gm.f32", *lines)
    ready = max(drain + -(-(i + 1) * DRAIN // BLOCKS) - i * LENGTH // BLOCKS for i in range(BLOCKS))
    assert second == max(ready, first + LENGTH)
    assert second < drain + DRAIN
    result = execute(*lines)
    stalls = result.profile.launches[0].stalls[0]
    kinds = {(pipe, kind) for pipe in (Pipe.M, Pipe.FIX) for kind in STALL_KINDS
             if stalls[WORKING_PIPES.index(pipe), STALL_KINDS.index(kind)] > 0}  # fmt: skip
    assert (Pipe.M, "flag_fix") in kinds
    assert (Pipe.FIX, "flag_m") in kinds


def test_other_blocks_do_not_wait() -> None:
    lines = (mad(3), fix(3), mad(3, c=M * N * 4 // 2, m=16), fix(3, src=M * N * 4 // 2, m=16))
    half = (mad(3, m=64), fix(3, m=64), mad(3, c=65536, m=64), fix(3, src=65536, m=64))
    first, second = starts("mad.f16", *half)
    assert second == first + WORK // 2 + SOC.mad_gap
    assert len(starts("mad.f16", *lines)) == 2


def test_values_are_those_of_flags() -> None:
    units = execute(mad(2), mad(2, init=0), mad(3, init=0), fix(3), mad(3), "add r4, r4, 131072",
                    fix(3)).results[0]  # fmt: skip
    flags = execute(mad(), mad(init=0), mad(init=0), M_TO_FIX, fix(), FIX_TO_M, mad(),
                    "add r4, r4, 131072", M_TO_FIX, fix()).results[0]  # fmt: skip
    two_tiles = 2 * M * N
    assert np.array_equal(units[:two_tiles], flags[:two_tiles])
    assert np.isfinite(units[:two_tiles]).all()


def test_mode_two_leaves_the_flag() -> None:
    drains = starts("copy_matrix_cc_to_gm.f32", mad(3), fix(2), "pipe_barrier fix", fix(3))
    assert len(drains) == 2


FAULTS = [
    ((mad(2), fix(3)), "DEADLOCK",
     "fix waits at row 14 until the unit flag of byte 0 of l0c is up"),
    ((mad(3), mad(3)), "DEADLOCK",
     "m waits at row 14 until the unit flag of byte 0 of l0c is down"),
    ((mad(3), fix(2)), "UNBALANCED", "the unit flag of byte 0 of l0c is still up when the kernel"),
    ((mad(3), fix(3, m=64, stride=M)), "UNBALANCED",
     "the unit flag of byte 4096 of l0c is still up"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "error", "message"), FAULTS)
def test_faults(lines: tuple[str, ...], error: str, message: str) -> None:
    for timing_only in (False, True):
        with pytest.raises(DeviceError) as caught:
            execute(*lines, timing_only=timing_only)
        assert caught.value.code == error
        assert message in str(caught.value)


RELOAD = "load_cbuf_to_ca.b16 dst=0, src=0, repeat=8"
VERDICTS = [
    ((mad(2), mad(2, init=0), mad(3, init=0), fix(3)), set()),
    ((mad(3), fix(3), mad(3), "pipe_barrier fix", fix(3)), set()),
    ((mad(3), fix(3), mad(3), fix(3)), {"RACE_WAW"}),  # the drains store to the same place
    ((mad(2), mad(2, init=0), fix(3)), {"DEADLOCK"}),
    ((mad(3), mad(3)), {"DEADLOCK"}),
    ((mad(3), fix(2)), {"UNBALANCED"}),
    ((mad(3), fix(0)), {"RACE_RAW", "UNBALANCED"}),
    ((mad(0), fix(0)), {"RACE_RAW"}),
    ((mad(3), fix(3), "pipe_barrier m", mad(0)), {"RACE_WAR"}),
    ((mad(3), fix(3), RELOAD), {"RACE_WAR", "RACE_WAW"}),
    ((mad(3), "set_flag m, mte1, 0", "wait_flag m, mte1, 0", "pipe_barrier mte1", RELOAD, fix(3)),
     set()),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "expected"), VERDICTS)
def test_verdicts(lines: tuple[str, ...], expected: set[str]) -> None:
    assert {one.code for one in hazards(program(*lines))} == expected


def test_the_checker_says_who_waits() -> None:
    (found,) = hazards(program(mad(2), fix(3)))
    assert (
        "fix waits with copy_matrix_cc_to_gm.f32 (row 14): no multiplication puts up the unit flag"
        " of byte 0 of l0c" in found.message
    )
