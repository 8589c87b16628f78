"""Rows of the silicon comparison on the cube: schedules that fit, figures, refused settings."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from benchmarks.silicon.attention import ATTENTION
from benchmarks.silicon.conv import CONV
from benchmarks.silicon.family import Family
from benchmarks.silicon.figures import figures
from benchmarks.silicon.gemm import GEMM, schedule_of
from benchmarks.silicon.matmul_program import matmul_program
from pypto.errors import CompileError
from pypto.target.soc import soc

ROWS = [(family, name) for family in (GEMM, CONV, ATTENTION) for name in family.rows]
POINTS = 10  # percent of the task that a pipe's share may be off


@pytest.mark.parametrize(("family", "name"), ROWS, ids=[name for _, name in ROWS])
def test_every_row_has_a_figure_and_settings_of_its_family(family: Family, name: str) -> None:
    assert figures()[name].suite == family.name
    assert set(family.rows[name]) <= set(family.settings)


@pytest.mark.parametrize("name", GEMM.rows)
def test_schedules_of_multiplications_fit_their_machines(name: str) -> None:
    schedule = schedule_of({**GEMM.settings, **GEMM.rows[name]})
    machine = soc(figures()[name].soc)
    assert schedule.cores <= machine.cube_cores
    matmul_program(schedule).validate(machine)


def test_steps_and_panels_follow_from_the_shape() -> None:
    given = {**GEMM.settings, "grid_m": 4, "grid_n": 6, "step_k": 4, "step_a": 8, "stagger": "yes"}
    schedule = schedule_of(given)
    assert (schedule.panel_m, schedule.panel_n) == (384, 256)
    assert (schedule.step_a, schedule.step_b) == (8, 4)
    assert schedule.stagger


def test_pipes_are_at_work_as_long_as_on_silicon() -> None:
    row = GEMM.row("G12", {})
    assert row.silicon_error == pytest.approx(0, abs=0.1)
    assert row.pipes is not None
    for pipe, share in figures()["G12"].pipes.items():
        assert row.pipes[pipe] == pytest.approx(share, abs=POINTS)


def test_a_tile_of_a_stage_is_measured_in_cycles() -> None:
    row = ATTENTION.row("F9d", {})
    assert row.task_us is None
    assert row.cycles is not None
    assert row.silicon_error == pytest.approx(row.cycles / figures()["F9d"].value - 1, abs=1e-3)


@pytest.mark.parametrize(
    ("family", "given", "message"),
    [
        (
            GEMM,
            {"outer": "both"},
            r"silicon.gemm takes no outer = 'both'\nfix: name one of columns, rows",
        ),
        (
            GEMM,
            {"layout": "nz"},
            r"silicon.gemm takes no layout = 'nz'\nfix: name one of kn, nk, zn",
        ),
        (
            ATTENTION,
            {"stage": "pq"},
            r"silicon.attention takes no stage = 'pq'\nfix: name one of all, pv, qk",
        ),
    ],
)
def test_words_that_no_setting_takes(
    family: Family, given: Mapping[str, str], message: str
) -> None:
    with pytest.raises(CompileError, match=message):
        family.row_of_settings(given)
