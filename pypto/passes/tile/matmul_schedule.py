"""Choose the tiles of a matmul: pure arithmetic on extents and capacities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto.passes.core_kinds import cores_for
from pypto.passes.tile.alignment import Runs, Tail, tail_of
from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.passes.tile.block_loads import load_instructions
from pypto.passes.tile.transfers import read_cycles
from pypto.target.instructions import exists
from pypto.target.memory import BLOCK_BYTES, PATHS, REPEAT_BYTES, Space
from pypto.target.soc import Soc

# Instructions of the scalar unit per step of K, and per row of fractals loaded in it or row of
# blocks loaded to L1: what the lowering emits, counted in programs.
STEP_SCALARS = 40
ROW_SCALARS = 8
# Start-up of a vector instruction, and what stores keep in UB beside a drained tile, in bytes:
# room per row to put its last blocks together, and alignment of buffers.
VECTOR_HEAD = 24
TAIL_BYTES = 4 * BLOCK_BYTES
RESERVE_BYTES = 4096


@dataclass(frozen=True)
class MatmulProblem:
    """``batch`` products of (m x k) by (k x n); element sizes in bytes.

    ``ta``, ``tb``: the factor lies transposed in memory.
    """

    batch: int
    m: int
    n: int
    k: int
    operand_bytes: int
    result_bytes: int
    ta: bool = False
    tb: bool = False

    @property
    def fractal_k(self) -> int:
        """Depth of one cube step: a 32-byte row of operand elements."""
        return BLOCK_BYTES // self.operand_bytes

    @property
    def runs(self) -> Runs:
        """The result as runs of neighbouring elements: its rows."""
        return Runs(self.result_bytes, self.n, self.batch * self.m, adjacent=self.m)


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


def drains_to_ub(soc: Soc) -> bool:
    """Whether results leave L0C through UB, where there is no path to global memory."""
    return (Space.L0C, Space.GM) not in PATHS[soc.architecture]


def loads_blocks(size: int, soc: Soc) -> bool:
    """Whether elements of ``size`` bytes reach L1 by copies of whole blocks only."""
    return not exists(f"copy_gm_to_cbuf_multi_nd2nz.b{8 * size}", soc.architecture)


def ub_bytes(schedule: MatmulSchedule, problem: MatmulProblem) -> int:
    """Bytes of UB on the way out: the fractals as they come, and rows in as many slots as kept."""
    tile = round_up(schedule.m * schedule.n * problem.result_bytes, REPEAT_BYTES)
    tails = schedule.m * TAIL_BYTES
    return tile * (1 + schedule.slots) + tails * schedule.slots + RESERVE_BYTES


def fits(schedule: MatmulSchedule, problem: MatmulProblem, soc: Soc) -> bool:
    """True when every tile of the schedule fits its memory, all slots counted."""
    size, slots = problem.operand_bytes, schedule.slots
    usable = soc.usable
    return (
        schedule.m * schedule.k * size * slots <= usable[Space.L0A]
        and schedule.k * schedule.n * size * slots <= usable[Space.L0B]
        and schedule.m * schedule.n * 4 * schedule.result_slots <= usable[Space.L0C]
        and (schedule.m + schedule.n) * schedule.k_l1 * size * slots <= usable[Space.L1]
        and (not drains_to_ub(soc) or ub_bytes(schedule, problem) <= usable[Space.UB])
    )


def cores_of(schedule: MatmulSchedule, problem: MatmulProblem, soc: Soc) -> int:
    """Cores that may share out the tiles: one when a tile writes back what another one owns."""
    if drains_to_ub(soc) and tail_of(problem.runs, schedule.n, schedule.m) is Tail.MERGE:
        return 1
    return cores_for(soc, multiplies=True)


@dataclass(frozen=True)
class WayOut:
    """Cycles of one tile from L0C to global memory: that keep L0C, and of the slowest pipe."""

    keeps_l0c: int
    slowest: int


def way_out(m: int, n: int, problem: MatmulProblem, soc: Soc) -> WayOut:
    """The way out of a tile of ``m`` x ``n``."""
    numbers, size = soc.numbers, problem.result_bytes
    if not drains_to_ub(soc):
        row = ceil_div(numbers.fixpipe_row_hundredths, 100)
        drain = numbers.fixpipe_head + m * max(row, size * n // numbers.fixpipe_to_gm)
        return WayOut(drain, drain)
    drain = VECTOR_HEAD + m * n * 4 // numbers.l0c_to_ub
    rows = n // 16 * (VECTOR_HEAD + m * 16 * size // numbers.vector_repeat_bytes)
    store = m * n * size // numbers.ub_to_gm
    return WayOut(drain, max(drain + rows, store))


def load_count(schedule: MatmulSchedule, m: int, n: int, problem: MatmulProblem, soc: Soc) -> int:
    """Instructions that load both factors of a tile of ``m`` x ``n`` to L1, over all of K."""
    packets = ceil_div(max(problem.k, 1), schedule.k_l1)
    if not loads_blocks(problem.operand_bytes, soc):
        return 2 * packets
    rest = problem.k - (packets - 1) * schedule.k_l1
    whole = packet_loads(m, n, schedule.k_l1, problem) if packets > 1 else 0
    return (packets - 1) * whole + packet_loads(m, n, rest, problem)


def packet_loads(m: int, n: int, depth: int, problem: MatmulProblem) -> int:
    """Instructions that load (m x depth) and (depth x n) in blocks, each as it lies in memory."""
    a = (min(m, problem.m), depth), problem.k
    b = (depth, min(n, problem.n)), problem.n
    if problem.ta:
        a = a[0][::-1], problem.m
    if problem.tb:
        b = b[0][::-1], problem.k
    return sum(
        load_instructions(rows, ceil_div(columns, problem.fractal_k), width * problem.operand_bytes)
        for (rows, columns), width in (a, b)
    )


def packet_cycles(
    schedule: MatmulSchedule, m: int, n: int, problem: MatmulProblem, soc: Soc
) -> int:
    """Cycles of MTE2 to read both factors of a packet of K, which L2 has."""
    numbers, size = soc.numbers, problem.operand_bytes
    depth = min(schedule.k_l1, max(problem.k, 1))
    a = (depth, m) if problem.ta else (m, depth)
    b = (n, depth) if problem.tb else (depth, n)
    cycles = 0
    for rows, columns in (a, b):
        width = columns * size
        if loads_blocks(size, soc):
            rows, width = rows * ceil_div(width, BLOCK_BYTES), BLOCK_BYTES
        cycles += read_cycles(
            rows, width, numbers.gm_port_cube, numbers.hbm_latency, numbers.request_window
        )
    return cycles


def estimated_cycles(schedule: MatmulSchedule, problem: MatmulProblem, soc: Soc) -> int:
    """Cycles of the busiest core: waves of tiles, each bound by its slowest pipe.

    With one slot the pipes of a tile run one after the other, so their times add up.
    """
    numbers = soc.numbers
    m, n = min(schedule.m, round_up(problem.m, 16)), min(schedule.n, round_up(problem.n, 16))
    k, size = max(problem.k, 1), problem.operand_bytes
    tiles = problem.batch * ceil_div(problem.m, m) * ceil_div(problem.n, n)
    cores = cores_of(schedule, problem, soc)
    waves = ceil_div(tiles, cores)
    cycles_per_fractal = 2 if size == 4 else 1
    steps = ceil_div(k, schedule.k)
    packets = ceil_div(k, schedule.k_l1)
    cube = (m // 16) * (n // 16) * ceil_div(k, problem.fractal_k) * cycles_per_fractal
    cube += steps * numbers.mad_gap
    instructions = load_count(schedule, m, n, problem, soc)
    loads = packets * packet_cycles(schedule, m, n, problem, soc)
    loads += instructions * numbers.mte2_interval_hundredths // 100
    shared = min(cores, tiles)
    loads = max(loads, (m + n) * k * size * shared // numbers.l2_bandwidth)
    extracts = m * k * size // numbers.l1_to_l0a + n * k * size // numbers.l1_to_l0b
    extracts += steps * numbers.load2d_latency
    scalars = steps * (STEP_SCALARS + ROW_SCALARS * (m // 16 + schedule.k // 16))
    scalars += (instructions - packets * 2) * ROW_SCALARS
    out = way_out(m, n, problem, soc)
    fill = numbers.hbm_latency + loads // packets + extracts // steps
    if schedule.slots == 1:
        wait = packets * numbers.hbm_latency
        return waves * (cube + loads + extracts + out.slowest + wait)
    body = max(cube, loads, extracts, scalars * numbers.scalar_issue)
    if schedule.result_slots == 1:
        return fill + waves * max(body + out.keeps_l0c, out.slowest)
    return fill + waves * max(body, out.slowest) + out.slowest


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
