"""Runs one launch: makes the engine's machine, serves events in slices, reads the profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from pypto.emulator import diagnosis
from pypto.emulator.crew import Crew
from pypto.emulator.device import Device, port_rates
from pypto.emulator.placement import POISON, Spans
from pypto.emulator.prepare import prepare, run_slice
from pypto.emulator.profile import LaunchProfile
from pypto.emulator.state import (
    LOG_COLUMNS,
    MEMORY_LIMITS,
    MEMORY_SCRATCH,
    MEMORY_TABLE_WIDTH,
    STALL_END,
    UNIT_BLOCK_BYTES,
    UNITS_PER_CORE,
    WORKING_PIPES,
    Counter,
    Machine,
    Outcome,
    first_event,
    grown,
    moving_parts,
    words_of,
)
from pypto.emulator.tables import operand_limits, tables
from pypto.target.instructions import STATE_REGISTERS
from pypto.target.memory import LOCAL_SPACES, SPACES, CoreKind, Space
from pypto.target.rows import (
    BLOCK_COUNT_REGISTER,
    BLOCK_INDEX_REGISTER,
    OPCODE_COLUMN,
    SUB_BLOCK_REGISTER,
)
from pypto.target.soc import DCACHE_LINE_BYTES, Soc

# Events per call of the engine: as many as take about so long, so that Ctrl-C is heard.
FIRST_SLICE = 10_000
SLICE_SECONDS = 0.1
FLIGHTS = 8192
LOG_ROWS = 65_536
SCRATCH_BYTES = 2**20

CORE_SPACES: dict[CoreKind, tuple[Space, ...]] = {
    CoreKind.VECTOR: (Space.UB, Space.VR),
    CoreKind.CUBE: tuple(s for s in LOCAL_SPACES if s not in (Space.UB, Space.VR)),
    CoreKind.AICORE: LOCAL_SPACES,
}
START_MODES = {"mask_high": -1, "mask_low": -1}

# progress(program name, cycle reached, instructions so far)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class LaunchLog:
    """Every instruction that entered a pipe: int64 rows with ``state.LOG_COLUMNS`` and fields."""

    crew: Crew
    rows: np.ndarray


@dataclass(frozen=True)
class Options:
    """How to run a launch; ``functional`` computes data, ``record`` keeps a log."""

    functional: bool = True
    record: bool = False
    cycle_limit: int = 10**11
    progress: Progress | None = None


def run_launch(
    device: Device,
    crew: Crew,
    parameters: np.ndarray,
    spans: Spans,
    options: Options,
) -> tuple[LaunchProfile, LaunchLog]:
    """One launch, from the first dispatch to the last completion.

    ``parameters`` holds those of all programs, one after another.
    """
    soc, cores = device.soc, len(crew.kinds)
    if not options.functional:
        for member in crew.members:
            diagnosis.refuse_unknown(member.program)
    rows = np.concatenate([member.rows() for member in crew.members])
    prepare(rows[:, OPCODE_COLUMN].tolist(), options.functional)
    cache_lines = soc.dcache_bytes // DCACHE_LINE_BYTES
    unit_blocks = soc.capacity[Space.L0C] // UNIT_BLOCK_BYTES
    arenas = _arenas(crew, soc) if options.functional else []
    scratch = np.zeros(SCRATCH_BYTES if options.functional else 0, np.uint8)
    log_rows = max(LOG_ROWS, 8 * soc.queue_depth) if options.record else 0
    moving = moving_parts(cores, soc.queue_depth, FLIGHTS, log_rows)
    machine = Machine(
        rows=rows,
        row_count=len(rows),
        parameters=parameters,
        parameter_count=len(parameters),
        buffer_starts=spans.starts,
        buffer_ends=spans.ends,
        buffer_limits=spans.limits,
        buffer_count=len(spans.starts),
        memory_table=_memory_table(device, cores, arenas, scratch),
        soc=np.array(soc.numbers, np.int64),
        core_count=cores,
        first_vector=crew.first_vector,
        depth=soc.queue_depth,
        issue=soc.scalar_issue,
        cross_latency=soc.cross_core_latency,
        ub_access=max(soc.scalar_ub_access, soc.scalar_issue),
        cache_hit=max(soc.dcache_hit, soc.scalar_issue),
        cache_lines=cache_lines,
        cached=np.zeros((cores, cache_lines), np.int64),
        unit_up=np.full((cores, unit_blocks), -1, np.int64),
        unit_down=np.zeros((cores, unit_blocks), np.int64),
        unit_blocks=unit_blocks,
        event_ids=soc.event_ids,
        functional=int(options.functional),
        record=int(options.record),
        cycle_limit=options.cycle_limit,
        heap_room=len(moving["heap_keys"]),
        log_room=log_rows,
        **tables()._asdict(),
        **operand_limits(soc.architecture)._asdict(),
        **moving,
        **device.parts(),
        **port_rates(soc, crew.kinds),
    )
    _start(machine, crew)
    before = device.hbm_bytes()
    machine, log = _serve(machine, crew, soc, options.progress)
    if machine.counters[Counter.FINISHED] < cores:
        raise diagnosis.deadlock_error(crew, machine)
    diagnosis.check_balance(crew, machine)
    after = device.hbm_bytes()
    device.rest(int(machine.core_end.max()))
    profile = _profile(crew, machine, after[0] - before[0], after[1] - before[1])
    return profile, LaunchLog(crew, log)


def _serve(
    machine: Machine, crew: Crew, soc: Soc, progress: Progress | None
) -> tuple[Machine, np.ndarray]:
    """Run the engine in slices until no event is left; the final machine and the log."""
    pieces: list[np.ndarray] = []
    words = words_of(machine)
    counters = machine.counters
    step = run_slice()
    events = FIRST_SLICE
    while True:
        started = perf_counter()
        outcome = Outcome(step(words.ctypes.data, events))
        quick = perf_counter() - started < SLICE_SECONDS
        events = 2 * events if quick else max(1, events // 2)
        if outcome is Outcome.FAULT:
            raise diagnosis.fault_error(crew, soc, machine)
        if outcome is Outcome.CYCLE_LIMIT:
            raise diagnosis.cycle_limit_error(crew, machine)
        if outcome is Outcome.GROW:
            machine = grown(machine)
            words = words_of(machine)
        if outcome in (Outcome.LOG_FULL, Outcome.QUIET):
            pieces.append(machine.log[: counters[Counter.LOG]].copy())
            counters[Counter.LOG] = 0
        if progress is not None:
            cycle, count = int(counters[Counter.NOW]), int(counters[Counter.INSTRUCTIONS])
            progress(crew.name, cycle, count)
        if outcome is Outcome.QUIET:
            return machine, _in_own_rows(crew, np.concatenate(pieces))


def _in_own_rows(crew: Crew, log: np.ndarray) -> np.ndarray:
    """A log whose rows count from the beginning of the program of their core."""
    core, row = LOG_COLUMNS.index("core"), LOG_COLUMNS.index("row")
    for member in crew.members:
        inside = (log[:, core] >= member.core) & (log[:, core] <= member.last_core)
        log[inside, row] -= member.row
    return log


def _arenas(crew: Crew, soc: Soc) -> list[tuple[slice, Space, np.ndarray]]:
    """Poisoned local memories, one row for each of the cores that have them."""
    return [
        (
            slice(member.core, member.core + member.cores),
            space,
            np.full((member.cores, soc.capacity[space]), POISON, np.uint8),
        )
        for member in crew.members
        for space in CORE_SPACES[member.program.core]
    ]


def _memory_table(
    device: Device,
    cores: int,
    arenas: list[tuple[slice, Space, np.ndarray]],
    scratch: np.ndarray,
) -> np.ndarray:
    """Base addresses and limits of every space of every core; a missing space has limit 0."""
    table = np.zeros((cores, MEMORY_TABLE_WIDTH), np.int64)
    table[:, SPACES.index(Space.GM)] = device.memory.ctypes.data
    table[:, MEMORY_LIMITS + SPACES.index(Space.GM)] = device.memory.size
    table[:, MEMORY_SCRATCH] = scratch.ctypes.data
    for owners, space, arena in arenas:
        base, (count, pitch) = arena.ctypes.data, arena.shape
        table[owners, SPACES.index(space)] = base + np.arange(count) * pitch
        table[owners, MEMORY_LIMITS + SPACES.index(space)] = pitch
    return table


def _start(machine: Machine, crew: Crew) -> None:
    """Registers and modes at launch, and the first event of every core."""
    cores = range(len(crew.kinds))
    blocks = np.array([crew.block(core) for core in cores])
    machine.registers[:, BLOCK_INDEX_REGISTER] = blocks[:, 0]
    machine.registers[:, BLOCK_COUNT_REGISTER] = crew.grid
    machine.registers[:, SUB_BLOCK_REGISTER] = blocks[:, 1]
    machine.program_counter[:] = [crew.of_core(core).row for core in cores]
    for name, value in START_MODES.items():
        machine.modes[:, STATE_REGISTERS.index(name)] = value
    for core in cores:
        machine.heap_keys[core] = first_event(core)
    machine.counters[Counter.HEAP] = len(cores)


def _profile(crew: Crew, machine: Machine, hbm_read: int, hbm_write: int) -> LaunchProfile:
    """Name the cycles after each unit's last instruction and check that every cycle has one."""
    cores = len(machine.core_end)
    cycles = int(machine.core_end.max())
    machine.stalls[:, STALL_END] += cycles - machine.clock
    pipes = len(WORKING_PIPES)
    busy = machine.busy.reshape(cores, UNITS_PER_CORE)[:, :pipes].copy()
    stalls = machine.stalls.reshape(cores, UNITS_PER_CORE, -1)[:, :pipes].copy()
    named = busy + stalls.sum(axis=2)
    if (named != cycles).any() or (stalls < 0).any():
        raise AssertionError(f"{crew.name}: {named.tolist()} cycles have a name of {cycles}")
    counts = machine.unit_instructions.reshape(cores, UNITS_PER_CORE)[:, :pipes].copy()
    counts[:, 0] = machine.dispatched
    return LaunchProfile(
        name=crew.name,
        kinds=tuple(crew.kinds),
        cycles=cycles,
        busy=busy,
        active=machine.active.reshape(cores, UNITS_PER_CORE)[:, :pipes].copy(),
        stalls=stalls,
        pipe_instructions=counts,
        instructions=int(machine.counters[Counter.INSTRUCTIONS]),
        data_instructions=int(machine.counters[Counter.DATA_INSTRUCTIONS]),
        hbm_read_bytes=hbm_read,
        hbm_write_bytes=hbm_write,
    )
