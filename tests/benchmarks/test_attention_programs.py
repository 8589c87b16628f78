"""Attention of the silicon comparison attends, and its cores race nowhere."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.silicon.attention_cube import attention_cube_program
from benchmarks.silicon.attention_schedule import HEAD, AttentionSchedule
from benchmarks.silicon.attention_stages import STAGES, stage_program
from benchmarks.silicon.attention_vector import attention_vector_program
from pypto.emulator.hazards import check_executable
from pypto.emulator.run import run
from pypto.errors import CompileError
from pypto.target.one_launch import one_launch
from pypto.target.soc import soc


def attended(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q.astype(np.float64) @ k.astype(np.float64).T / np.sqrt(HEAD)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v.astype(np.float64)


@pytest.mark.parametrize(
    ("rows", "keys", "groups", "unit_flag"), [(384, 2048, 2, True), (128, 4096, 1, False)]
)
def test_results_are_those_of_numpy(rows: int, keys: int, groups: int, unit_flag: bool) -> None:
    """Weights are rounded to f16, as on silicon; rings go round once and twice."""
    schedule = AttentionSchedule(rows=rows, keys=keys, groups=groups, unit_flag=unit_flag)
    draw = np.random.default_rng(3)
    inputs = [draw.normal(size=(n, HEAD)).astype(np.float16) for n in (rows, keys, keys)]
    programs = [attention_cube_program(schedule), attention_vector_program(schedule)]
    executable = one_launch("ascend910b1", programs, groups, schedule.shapes())
    result = run(executable, inputs).results[-1]
    np.testing.assert_allclose(result, attended(*inputs), rtol=2e-3, atol=2e-4)
    assert check_executable(executable, [x.shape for x in inputs]) == []


def test_four_tiles_need_no_ring() -> None:
    schedule = AttentionSchedule(rows=128, keys=1024, groups=1)
    draw = np.random.default_rng(4)
    inputs = [draw.normal(size=(n, HEAD)).astype(np.float16) for n in (128, 1024, 1024)]
    programs = [attention_cube_program(schedule), attention_vector_program(schedule)]
    executable = one_launch("ascend910b1", programs, 1, schedule.shapes())
    result = run(executable, inputs).results[-1]
    np.testing.assert_allclose(result, attended(*inputs), rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("stage", STAGES)
def test_stages_are_programs_of_one_kind_of_core(stage: str) -> None:
    program = stage_program(AttentionSchedule(rows=128, keys=1024, groups=1), stage)
    program.validate(soc("ascend910b1"))


def test_refusal() -> None:
    with pytest.raises(CompileError, match="130 rows by 128 and 1024 keys by 1024"):
        attention_cube_program(AttentionSchedule(rows=130, keys=1024, groups=1))
