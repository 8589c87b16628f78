"""Choose the tile of a vector kernel: pure arithmetic on extents, bytes and capacities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pypto.passes.tile.alignment import Runs, Tail, tail_of
from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.target.memory import Space
from pypto.target.soc import Soc

# Kept free for what lowering needs beyond the tiles: masks, partial sums, alignment of buffers.
RESERVE_BYTES = 8192

# Scalar instructions that compute the addresses of a tile, one cycle each.
TILE_DISPATCH_CYCLES = 40

Kind = Literal["elementwise", "row", "partial-row", "column"]


@dataclass(frozen=True)
class VectorProblem:
    """A kernel over ``outer`` x ``rows`` x ``columns`` elements.

    ``kind``: ``elementwise`` tiles both; ``row`` holds whole rows because it reduces them and
    goes on with them; ``partial-row`` reduces rows too but may walk them in pieces; ``column``
    reduces over rows, so a task owns its columns and walks the rows.
    ``element_bytes``, ``row_bytes`` and ``column_bytes``: bytes of all live tiles, slots counted,
    per element, per row (tiles of one column) and per column (tiles of one row).
    ``moved_bytes``: bytes per element to and from global memory. ``operations``: vector
    instructions per tile. ``granule``: rows of a tile begin at multiples of so many elements.
    ``stored``: the results, where a store may write behind its rows. ``fixed_bytes``: what the
    kernel needs whatever its tiles are.
    """

    kind: Kind
    outer: int
    rows: int
    columns: int
    element_bytes: int
    row_bytes: int
    column_bytes: int
    moved_bytes: int
    operations: int
    granule: int
    stored: tuple[Stored, ...] = ()
    fixed_bytes: int = 0


@dataclass(frozen=True)
class Stored:
    """A result as runs of elements, which lie along the rows or the columns of a tile, or alone."""

    runs: Runs
    along: Literal["rows", "columns", "none"]

    def piece(self, schedule: VectorSchedule) -> int:
        """Elements of a run that one tile holds."""
        return {"rows": schedule.rows, "columns": schedule.columns, "none": 1}[self.along]

    def rows(self, schedule: VectorSchedule) -> int:
        """Runs that one tile holds."""
        return schedule.rows if self.along == "columns" else 1


@dataclass(frozen=True)
class VectorSchedule:
    """Tile extents in elements."""

    rows: int
    columns: int


def tile_bytes(schedule: VectorSchedule, problem: VectorProblem) -> int:
    """Bytes all live tiles take in the unified buffer."""
    pitch = round_up(schedule.columns, problem.granule)
    return (
        round_up(schedule.rows * pitch, 128) * problem.element_bytes
        + round_up(schedule.rows, 64) * problem.row_bytes
        + round_up(schedule.columns, 64) * problem.column_bytes
        + problem.fixed_bytes
    )


def fits(schedule: VectorSchedule, problem: VectorProblem, soc: Soc) -> bool:
    return tile_bytes(schedule, problem) <= soc.usable[Space.UB] - RESERVE_BYTES


def task_count(schedule: VectorSchedule, problem: VectorProblem) -> int:
    """Independent pieces of work, shared out over the cores."""
    walks_columns = problem.kind == "partial-row"
    across = 1 if walks_columns else ceil_div(problem.columns, schedule.columns)
    down = 1 if problem.kind == "column" else ceil_div(problem.rows, schedule.rows)
    return problem.outer * across * down


def cores_of(schedule: VectorSchedule, problem: VectorProblem, soc: Soc) -> int:
    """Cores that may share out the tasks: one when a task writes back what another one owns."""
    tails = (tail_of(s.runs, s.piece(schedule), s.rows(schedule)) for s in problem.stored)
    return 1 if Tail.MERGE in tails else soc.vector_cores


def estimated_cycles(schedule: VectorSchedule, problem: VectorProblem, soc: Soc) -> int:
    """Cycles of the busiest core: tiles in a row, each bound by its transfer or its arithmetic."""
    numbers = soc.numbers
    tasks = task_count(schedule, problem)
    cores = cores_of(schedule, problem, soc)
    active = min(tasks, cores)
    steps = {
        "column": ceil_div(problem.rows, schedule.rows),
        "partial-row": ceil_div(problem.columns, schedule.columns),
    }.get(problem.kind, 1)
    tiles = ceil_div(tasks, cores) * steps
    elements = schedule.rows * round_up(schedule.columns, problem.granule)
    rate = max(1, min(numbers.gm_port_vector, numbers.hbm_read // active))
    bursts = schedule.rows if schedule.columns < problem.columns or schedule.rows > 1 else 1
    transfer = elements * problem.moved_bytes // rate + bursts * 2
    arithmetic = problem.operations * (24 + elements * 4 // numbers.vector_repeat_bytes)
    fill = numbers.hbm_latency + numbers.gm_latency_write + min(transfer, arithmetic)
    return fill + tiles * (max(transfer, arithmetic) + TILE_DISPATCH_CYCLES)


def candidates(problem: VectorProblem, cores: int) -> Iterator[VectorSchedule]:
    """Powers of two and whole extents, at most 255 rows (one repeat count)."""
    columns = [problem.columns]
    if problem.kind != "row":
        columns += [2**i for i in range(4, 17) if 2**i < problem.columns]
        columns.append(min(problem.columns, share(problem.columns, cores)))
    rows = [min(problem.rows, 248)] + [2**i for i in range(8) if 2**i < problem.rows]
    rows.append(min(248, ceil_div(problem.rows * problem.outer, cores)))
    for c in dict.fromkeys(columns):
        for r in dict.fromkeys(min(r, problem.rows) for r in rows):
            yield VectorSchedule(max(r, 1), max(c, 1))


def share(columns: int, cores: int) -> int:
    """What each core gets of the columns, a whole number of 256-byte vector repeats."""
    return round_up(ceil_div(columns, cores), 128)


def choose_schedule(problem: VectorProblem, soc: Soc) -> VectorSchedule | None:
    """The tile with the least estimated cycles, or None when not even the smallest one fits."""
    legal = [s for s in candidates(problem, soc.vector_cores) if fits(s, problem, soc)]
    if not legal:
        return None
    return min(
        legal, key=lambda s: (estimated_cycles(s, problem, soc), -s.rows * s.columns, s.rows)
    )
