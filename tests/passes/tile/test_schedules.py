"""The choice of tiles: capacity is never exceeded, and a larger machine or problem changes it."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto.passes.tile import matmul_schedule, vector_schedule
from pypto.passes.tile.matmul_schedule import MatmulProblem
from pypto.passes.tile.vector_schedule import VectorProblem, VectorSchedule
from pypto.target.memory import Space
from pypto.target.soc import soc
from pypto.target.soc_file import LEAST_BYTES

SOC = soc("ascend910b1")
COUPLED = soc("ascend910a")
extents = st.integers(1, 9000)


@given(extents, extents, extents, st.sampled_from([2, 4]), st.sampled_from([1, 2]))
def test_matmul_tiles_fit_and_are_whole_fractals(m, n, k, size, slots):
    problem = MatmulProblem(1, m, n, k, size, size)
    chosen = matmul_schedule.choose_schedule(problem, SOC, slots)
    assert matmul_schedule.fits(chosen, problem, SOC)
    assert chosen.m % 16 == chosen.n % 16 == chosen.k % 16 == chosen.k_l1 % chosen.k == 0


def test_a_large_f16_matmul_fills_l0c():
    chosen = matmul_schedule.choose_schedule(MatmulProblem(1, 8192, 8192, 8192, 2, 2), SOC, 2)
    assert chosen.m * chosen.n * 4 * chosen.result_slots == SOC.usable[Space.L0C]


def test_more_memory_changes_the_matmul_tile():
    problem = MatmulProblem(1, 8192, 8192, 8192, 2, 2)
    usable = {space: bytes * 2 for space, bytes in SOC.usable.items()}
    larger = dataclasses.replace(SOC, usable=usable)
    before = matmul_schedule.choose_schedule(problem, SOC, 2)
    after = matmul_schedule.choose_schedule(problem, larger, 2)
    assert after.m * after.n * after.result_slots > before.m * before.n * before.result_slots


@given(extents, extents, extents, st.integers(1, 3), st.sampled_from([1, 2]))
def test_matmul_tiles_of_coupled_cores_fit_the_unified_buffer(m, n, k, batch, slots):
    problem = MatmulProblem(batch, m, n, k, 2, 2)
    chosen = matmul_schedule.choose_schedule(problem, COUPLED, slots)
    assert matmul_schedule.fits(chosen, problem, COUPLED)
    held = chosen.m * chosen.n * problem.result_bytes
    assert held * (1 + slots) <= COUPLED.usable[Space.UB]


@pytest.mark.parametrize("machine", [SOC, COUPLED])
@pytest.mark.parametrize("slots", [1, 2])
@given(m=extents, n=extents, k=extents, size=st.sampled_from([2, 4]))
def test_the_smallest_machines_have_a_tile(machine, slots, m, n, k, size):
    smallest = dataclasses.replace(machine, usable=machine.usable | LEAST_BYTES)
    problem = MatmulProblem(1, m, n, k, size, size)
    chosen = matmul_schedule.choose_schedule(problem, smallest, slots)
    assert matmul_schedule.fits(chosen, problem, smallest)


@pytest.mark.parametrize(
    ("m", "n", "cores"),
    [(557, 200, 32), (557, 557, 32), (557, 520, 32), (1, 7, 32), (557, 7, 32), (3, 7, 1)],
)
def test_few_short_rows_that_end_within_a_block_are_stored_by_one_core(m, n, cores):
    problem = MatmulProblem(1, m, n, 64, 2, 2)
    chosen = matmul_schedule.choose_schedule(problem, COUPLED, 2)
    assert matmul_schedule.cores_of(chosen, problem, COUPLED) == cores


def test_factors_are_loaded_in_the_fewest_instructions():
    """A packet a column of blocks at a time where rows lie whole blocks apart, else by rows."""
    whole = MatmulProblem(1, 64, 128, 256, 2, 2)
    assert matmul_schedule.packet_loads(64, 128, 128, whole) == 8 + 8
    assert matmul_schedule.packet_loads(64, 128, 128, dataclasses.replace(whole, ta=True)) == 4 + 8
    odd = dataclasses.replace(whole, n=129, k=257)
    assert matmul_schedule.packet_loads(64, 128, 128, odd) == 64 + 128
    assert matmul_schedule.packet_loads(1, 128, 128, dataclasses.replace(odd, m=1)) == 1 + 128


def problem_of(kind="elementwise", outer=1, rows=1, columns=1, element_bytes=12, granule=16):
    return VectorProblem(
        kind=kind,
        outer=outer,
        rows=rows,
        columns=columns,
        element_bytes=element_bytes,
        row_bytes=32,
        column_bytes=4,
        moved_bytes=4,
        operations=3,
        granule=granule,
    )


@given(
    st.sampled_from(["elementwise", "partial-row", "column"]),
    st.integers(1, 100),
    st.integers(1, 5000),
    st.integers(1, 100_000),
    st.integers(4, 64),
)
def test_vector_tiles_fit(kind, outer, rows, columns, element_bytes):
    problem = problem_of(kind, outer, rows, columns, element_bytes)
    chosen = vector_schedule.choose_schedule(problem, SOC)
    assert chosen is not None
    assert vector_schedule.fits(chosen, problem, SOC)
    assert chosen.rows <= min(rows, 255)
    assert chosen.columns <= columns


def test_rows_that_are_kept_whole_are_not_cut():
    chosen = vector_schedule.choose_schedule(problem_of("row", rows=4096, columns=768), SOC)
    assert chosen is not None
    assert chosen.columns == 768
    assert chosen.rows > 1


def test_a_row_beyond_the_buffer_has_no_tile():
    assert vector_schedule.choose_schedule(problem_of("row", columns=100_000), SOC) is None


def test_work_is_spread_over_all_cores():
    problem = problem_of(columns=48 * 1024)
    chosen = vector_schedule.choose_schedule(problem, SOC)
    assert chosen is not None
    assert vector_schedule.task_count(chosen, problem) >= 40


@pytest.mark.parametrize("machine", [SOC, COUPLED])
def test_one_tile_for_each_core_is_among_the_choices(machine):
    cores = machine.vector_cores
    problem = problem_of(columns=cores * 1280)
    assert VectorSchedule(1, 1280) in vector_schedule.candidates(problem, cores)
    problem = problem_of(rows=cores * 7, columns=128)
    assert VectorSchedule(7, 128) in vector_schedule.candidates(problem, cores)


@pytest.mark.parametrize("kind", ["column", "partial-row"])
def test_the_reduced_axis_is_never_shared_out(kind):
    problem = problem_of(kind, rows=1000, columns=1000)
    chosen = vector_schedule.VectorSchedule(10, 10)
    assert vector_schedule.task_count(chosen, problem) == 100
