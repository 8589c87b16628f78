"""The work of a program: start-up is taken off data instructions, not off flags and barriers."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.emulator.run import run
from pypto.runtime.work import loop_depths, mean_start_up, work_of
from pypto.target.assembly import assemble
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.memory import Pipe
from pypto.target.soc import soc

TURNS, REPEATS = 40, 64
TEXT = f"""\
.soc ascend910b1
.program busy vector {{
  mov r2, 0
  vector_dup.f32 dst=0, scalar=1.0, repeat={REPEATS}
  pipe_barrier v
 top:
  vadds.f32 dst=0x8000, src=0, scalar=2.0, repeat={REPEATS}
  pipe_barrier v
  pipe_barrier v
  add r2, r2, 1
  blt r2, {TURNS}, top
  end
}}
.launch busy grid=2 ()
"""


def test_loops_are_seen() -> None:
    (program,) = assemble(TEXT).programs
    assert loop_depths(program).tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 0]


def test_barriers_have_no_start_up() -> None:
    (program,) = assemble(TEXT).programs
    head = BY_MNEMONIC["vadds.f32"].facts.head
    assert mean_start_up(program, Pipe.V, soc()) == pytest.approx(head / 3, rel=0.05)
    assert mean_start_up(program, Pipe.M, soc()) == 0


def test_repeats_are_the_work() -> None:
    executable = assemble(TEXT)
    profile = run(executable, (), timing_only=True).profile
    work = work_of(executable, profile, ())
    expected = 2 * (TURNS + 1) * REPEATS
    assert work.vector_cycles == pytest.approx(expected, rel=0.02)
    assert work.vector_cycles < int(np.sum(profile.launches[0].busy[:, 1]))
