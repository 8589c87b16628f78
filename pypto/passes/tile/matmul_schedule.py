"""Choose the tiles of a matmul: pure arithmetic on extents and capacities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.target.memory import Space
from pypto.target.soc import Soc

# Instructions of the scalar unit per step of K, and per row of fractals loaded in it: what the
# lowering emits, counted in programs.
STEP_SCALARS = 40
ROW_SCALARS = 8


@dataclass(frozen=True)
class MatmulProblem:
    """``batch`` products of (m x k) by (k x n); element size of the operands in bytes."""

    batch: int
    m: int
    n: int
    k: int
    operand_bytes: int
    result_bytes: int

    @property
    def fractal_k(self) -> int:
        """Depth of one cube step: a 32-byte row of operand elements."""
        return 32 // self.operand_bytes


@dataclass(frozen=True)
class MatmulSchedule:
    """Tile extents in elements: ``m`` x ``n`` in L0C, ``k`` per L0 load, ``k_l1`` per L1 load.

    ``slots`` is the depth of the L1 and L0A/L0B rings, ``result_slots`` that of L0C.
    """

    m: int
    n: int
    k: int
    k_l1: int
    slots: int
    result_slots: int


def fits(schedule: MatmulSchedule, problem: MatmulProblem, soc: Soc) -> bool:
    """True when every tile of the schedule fits its memory, all slots counted."""
    size, slots = problem.operand_bytes, schedule.slots
    usable = soc.usable
    return (
        schedule.m * schedule.k * size * slots <= usable[Space.L0A]
        and schedule.k * schedule.n * size * slots <= usable[Space.L0B]
        and schedule.m * schedule.n * 4 * schedule.result_slots <= usable[Space.L0C]
        and (schedule.m + schedule.n) * schedule.k_l1 * size * slots <= usable[Space.L1]
    )


def estimated_cycles(schedule: MatmulSchedule, problem: MatmulProblem, soc: Soc) -> int:
    """Cycles of the busiest core: waves of tiles, each bound by its slowest pipe.

    With one slot the pipes of a tile run one after the other, so their times add up.
    """
    numbers = soc.numbers
    m, n = min(schedule.m, round_up(problem.m, 16)), min(schedule.n, round_up(problem.n, 16))
    k, size = max(problem.k, 1), problem.operand_bytes
    tiles = problem.batch * ceil_div(problem.m, m) * ceil_div(problem.n, n)
    waves = ceil_div(tiles, soc.cube_cores)
    cycles_per_fractal = 2 if size == 4 else 1
    steps = ceil_div(k, schedule.k)
    packets = ceil_div(k, schedule.k_l1)
    cube = (m // 16) * (n // 16) * ceil_div(k, problem.fractal_k) * cycles_per_fractal
    cube += steps * numbers.mad_gap
    loads = (m + n) * k * size // numbers.gm_port_cube + packets * 2 * numbers.mte2_interval
    shared = soc.cube_cores if tiles >= soc.cube_cores else tiles
    loads = max(loads, (m + n) * k * size * shared // numbers.l2_bandwidth)
    extracts = m * k * size // numbers.l1_to_l0a + n * k * size // numbers.l1_to_l0b
    extracts += steps * numbers.load2d_latency
    scalars = steps * (STEP_SCALARS + ROW_SCALARS * (m // 16 + schedule.k // 16))
    drain = numbers.fixpipe_head + m * max(5, problem.result_bytes * n // 118)
    fill = numbers.gm_latency_read + loads // packets + extracts // steps
    if schedule.slots == 1:
        wait = packets * numbers.gm_latency_read
        return waves * (cube + loads + extracts + drain + wait)
    body = max(cube, loads, extracts, scalars * numbers.scalar_issue)
    if schedule.result_slots == 1:
        return fill + waves * (body + drain)
    return fill + waves * max(body, drain) + drain


def candidates(problem: MatmulProblem, soc: Soc, slots: int) -> Iterator[MatmulSchedule]:
    """Every schedule worth considering: powers of two, cut to the problem, that fit."""
    sides = (16, 32, 64, 96, 128, 192, 256, 384, 512)
    for m in sides:
        if m > round_up(problem.m, 16) and m > 16:
            continue
        for n in sides:
            if n > round_up(problem.n, 16) and n > 16:
                continue
            for k in (16, 32, 64, 128, 256):
                if k > round_up(problem.k, 16) and k > 16:
                    continue
                for packet in (1, 2, 4, 8):
                    if packet > 1 and k * packet >= 2 * problem.k:
                        continue
                    for result_slots in (1, 2) if slots > 1 else (1,):
                        schedule = MatmulSchedule(m, n, k, k * packet, slots, result_slots)
                        if fits(schedule, problem, soc):
                            yield schedule


def choose_schedule(problem: MatmulProblem, soc: Soc, slots: int) -> MatmulSchedule:
    """The schedule with the least estimated cycles; ties go to the one that moves fewer bytes."""

    def rank(schedule: MatmulSchedule) -> tuple[int, ...]:
        tile = schedule.m * schedule.n
        return (
            estimated_cycles(schedule, problem, soc),
            -tile,
            abs(schedule.m - schedule.n),
            -schedule.k_l1,
            -schedule.k,
        )

    return min(candidates(problem, soc, slots), key=rank)
