"""The bound names the resource that needs longest, its work spread over the machine."""

from __future__ import annotations

import pytest

from pypto.runtime.bound import Work, bounds, largest
from pypto.target.soc import soc

MACHINE = soc()


def test_matmul_is_bound_by_the_cube() -> None:
    size = 4096
    fractals = (size // 16) ** 3
    traffic = 2 * size * size
    work = Work(cube_cycles=fractals, read_bytes=2 * traffic, write_bytes=traffic)
    name, cycles = largest(bounds(work, MACHINE))
    assert name == "cube"
    assert cycles == -(-fractals // MACHINE.cube_cores)


def test_copy_is_bound_by_memory() -> None:
    work = Work(vector_cycles=1000, read_bytes=300 * 2**20, write_bytes=300 * 2**20)
    name, cycles = largest(bounds(work, MACHINE))
    assert name == "hbm"
    # 192 MB of what is written stay in L2.
    moved = 600 * 2**20 - MACHINE.l2_bytes
    assert cycles == -(-moved // MACHINE.hbm_read)


@pytest.mark.parametrize("cycles", [1, MACHINE.vector_cores, MACHINE.vector_cores + 1])
def test_work_is_spread_over_all_cores(cycles: int) -> None:
    assert bounds(Work(vector_cycles=cycles), MACHINE)["vector"] == (cycles > 48) + 1


def test_no_work_needs_no_time() -> None:
    assert largest(bounds(Work(), MACHINE))[1] == 0


def test_a_coupled_core_has_one_port() -> None:
    coupled = soc("ascend910a")
    moved = 32 * coupled.gm_port_cube * 10
    assert bounds(Work(read_bytes=moved), coupled)["ports"] == 10
    split = (
        MACHINE.cube_cores * MACHINE.gm_port_cube + MACHINE.vector_cores * MACHINE.gm_port_vector
    )
    assert bounds(Work(read_bytes=split * 10), MACHINE)["ports"] == 10
