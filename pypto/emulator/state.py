"""What the event engine reads and writes: plain arrays in one NamedTuple, made anew per launch.

A *unit* is one pipe of one core: ``unit = core * UNITS_PER_CORE + pipe``; pipe 0 is the scalar
unit. Times are cycles since the start of the launch.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from pypto.target.groups import CROSS_IDS, MODES
from pypto.target.instruction import Access
from pypto.target.instructions import STATE_REGISTERS
from pypto.target.memory import ACCUMULATOR_FRACTAL_BYTES, PIPES, SPACES, Pipe
from pypto.target.rows import OPERAND_LIMIT, REGISTER_COUNT

UNITS_PER_CORE = 8
EVENT_IDS = 64  # room; how many there are is a figure of the SoC
FLAGS_PER_CORE = UNITS_PER_CORE * UNITS_PER_CORE * EVENT_IDS
# Events of flags name a flag, or from here on a place in ``Machine.cross_sets``.
CROSS_SETS = 1 << 40
WORKING_PIPES: tuple[Pipe, ...] = tuple(pipe for pipe in PIPES if pipe is not Pipe.ALL)

# Names of the cycles in which a pipe does not work, in the order of the stall counters.
STALL_KINDS: tuple[str, ...] = (
    "dispatch",  # nothing dispatched to the pipe
    "barrier",  # a barrier holds the pipe until its own earlier instructions have ended
    "memory",  # requests wait for the window, ports, L2 or HBM
    "bank",  # operands meet in the banks of UB
    "end",  # the pipe has no instruction left
    "cross_core",  # scalar unit: waits for a set of another core
    *(f"flag_{pipe}" for pipe in WORKING_PIPES),  # waits for a flag from that pipe
    *(f"queue_{pipe}" for pipe in WORKING_PIPES),  # scalar unit: that pipe's queue is full
)
STALL_DISPATCH, STALL_BARRIER, STALL_MEMORY, STALL_BANK, STALL_END, STALL_CROSS = range(6)
STALL_FLAG = STALL_CROSS + 1
STALL_QUEUE = STALL_FLAG + len(WORKING_PIPES)
STALLS = len(STALL_KINDS)
STATES = len(STATE_REGISTERS)

ACTOR_BITS = 14  # of an event's key: the unit
PHASE_BITS = 2
TICKS = 4096  # per cycle, so that server times of many bytes per cycle stay exact
WINDOW_ROOM = 256  # how many requests may be under way is a figure of the SoC


class Phase(IntEnum):
    """Kinds of events, in the order in which they are served at one time."""

    EFFECT = 0  # an instruction has ended
    FLAG = 1  # a set takes effect
    PIPE = 2  # a pipe looks at its queue
    SCALAR = 3  # a scalar unit goes on


def first_event(core: int) -> int:
    """The key of the event that starts the scalar unit of a core at cycle 0."""
    return (Phase.SCALAR << ACTOR_BITS) | (core * UNITS_PER_CORE)


class Counter(IntEnum):
    """Positions in ``Machine.counters``."""

    HEAP = 0  # events in the heap
    FREE_FLIGHT = 1  # head of the list of free in-flight records
    FREE_COUNT = 2  # in-flight records left
    FINISHED = 3  # cores that are done
    INSTRUCTIONS = 4  # every dispatch
    DATA_INSTRUCTIONS = 5  # dispatches that are neither scalar nor synchronisation
    LOG = 6  # rows in the log
    NOW = 7  # time of the last event


class Server(IntEnum):
    """Positions in ``Machine.servers``; times are in 1/TICKS cycles."""

    L2_FREE = 0
    HBM_FREE = 1
    HAND = 2  # the place of L2 that is looked at next when room is needed
    HBM_READ_BYTES = 3
    HBM_WRITE_BYTES = 4


class Stream(IntEnum):
    """Positions in a unit's part of ``Machine.streams``: the transfer under way on a pipe."""

    ACTIVE = 0
    TIME = 1  # of the next request, in ticks
    BEGIN = 2  # cycle
    FLOOR = 3  # cycle before which the pipe is not free
    PORT = 4  # ticks on the port so far
    DONE = 5  # when the last request returns, in ticks
    WRITE = 6
    BYPASS = 7  # whether L2 is passed by
    HALF = 8  # half of L1 that is written, over all cores; -1 for none
    PACE = 9  # least ticks between runs
    RUNS = 10  # done so far
    WHOLE = 11  # whether the run may go by whole lines
    ADDRESS = 12  # of the next request
    LEFT = 13  # bytes of the run
    ROW = 14
    RUN = 15
    HEAD = 16  # place in the window; stays between transfers, as does
    NEXT = 17  # the earliest start of the next transfer, in ticks
    LINE = 18  # the line asked for last, plus one
    ACCESS = 19


class ScalarStatus(IntEnum):
    """What the scalar unit of a core is doing."""

    READY = 0
    QUEUE_FULL = 1
    FLAG = 2
    DRAIN = 3
    CROSS = 4
    ENDED = 5
    FINISHED = 6


class Outcome(IntEnum):
    """Why the engine returned."""

    BUDGET = 0  # the slice is used up
    QUIET = 1  # no event is left
    GROW = 2  # the heap or the in-flight records need more room
    LOG_FULL = 3
    FAULT = 4
    CYCLE_LIMIT = 5


class Fault(IntEnum):
    """What stopped a run; ``Machine.fault`` is (fault, core, row, detail, detail, detail)."""

    NONE = 0
    DOUBLE_SET = 1
    OUT_OF_BOUNDS = 2
    BAD_EVENT = 3
    BAD_PIPE = 4
    BAD_ROW = 5
    BAD_PARAMETER = 6
    BAD_OPERAND = 7
    CROSS_OVERFLOW = 8
    BAD_CROSS = 9
    BAD_ACCESS = 10


Words = np.ndarray  # int64
HalfWords = np.ndarray  # int32
Bytes = np.ndarray  # uint8


class Machine(NamedTuple):
    """All that the engine reads and writes for one launch.

    In Python the fields are arrays; in compiled code they are pointers to the same memory, so
    every array has one dimension there and nothing is counted or checked.
    """

    # What is launched; read only.
    rows: Words  # [rows, ROW_WIDTH]
    row_count: int
    parameters: Words  # [parameters]
    parameter_count: int
    buffer_starts: Words  # [buffers], sorted
    buffer_ends: Words  # [buffers]
    buffer_limits: Words  # [buffers]: how far whole blocks may go on
    buffer_count: int
    memory_table: Words  # [cores, MEMORY_TABLE_WIDTH]
    soc: Words  # the fields of SocNumbers
    core_count: int
    first_vector: int  # the vector cores come behind the cube cores, see target.groups
    depth: int  # of every queue
    issue: int  # cycles of the scalar unit per dispatched instruction
    cross_latency: int  # cycles from a set to the counters of others
    ub_access: int  # cycles of a scalar load or store
    cache_hit: int
    cache_lines: int  # of each core
    event_ids: int
    functional: int
    record: int
    cycle_limit: int
    # The instruction table, see tables.Tables and tables.OperandLimits; read only.
    action: Words
    operands: Words
    operand_low: Words
    operand_high: Words
    operand_align: Words
    operand_only: Words
    state_count: Words
    state_register: Words
    state_field: Words
    state_fixed: Words
    address_count: Words
    address_space: Words
    gm_address: Words
    gm_write: Words
    gm_blocks: Words
    atomic_field: Words
    l2_field: Words
    l1_address: Words
    l1_reader: Words
    access_bytes: Words
    unit_field: Words
    unit_drains: Words
    rows_field: Words
    l0c_address: Words
    facts: Words
    body: Words
    measure: Words
    # The event loop.
    counters: Words  # [Counter]
    fault: Words  # [6]
    heap_keys: Words  # [events]
    heap_payloads: Words  # [events]
    heap_room: int
    # Scalar units, per core.
    registers: Words  # [cores, REGISTER_COUNT]
    modes: Words  # [cores, STATES]
    program_counter: Words
    scalar_status: Words
    scalar_awaits: Words  # the unit or flag that holds the scalar unit
    dispatched: Words  # instructions so far
    core_end: Words
    flags: Bytes  # [cores, FLAGS_PER_CORE]
    cross_sets: Words  # [cores, MODES, CROSS_IDS]: sets so far
    cross_counters: Words  # [cores, CROSS_IDS]
    cached: Words  # [cores, cache_lines]: line of GM plus one that a place holds
    # Pipes, per unit.
    clock: Words  # every cycle before it has a name
    last_end: Words  # completion of the latest instruction
    awaited_flag: Words  # -1 when the pipe waits for none
    unit_awaited: Words  # the unit flag that holds the pipe plus one, 0 for none
    has_flown: Words  # whether the effect of a transfer under way is on its way already
    unit_up: Words  # [cores, unit_blocks]: when a flag goes up, -1 while it is down
    unit_down: Words  # [cores, unit_blocks]: when it went down
    unit_blocks: int
    queue_head: Words
    queue_count: Words
    busy: Words
    active: Words  # cycles with an instruction under way
    active_until: Words
    stalls: Words  # [units, STALLS]
    unit_instructions: Words
    # Queue entries: [units, depth].
    entry_row: Words
    entry_time: Words  # when it came into the queue
    entry_number: Words  # position in the core's dispatch order
    entry_fields: Words  # [units, depth, OPERAND_LIMIT]
    # Instructions whose effect is still to come.
    flight_row: Words  # the next free record while free
    flight_fields: Words  # [flights, OPERAND_LIMIT]
    ended: Words  # [cores, MOST_ENDED]: records whose effect is due, in order
    ended_count: Words  # [cores]
    # Scratch of calls, and the log.
    measured: Words  # COSTS numbers, then ACCESS_WORDS per address
    log: Words  # [log rows, LOG_WIDTH]
    log_room: int
    # Transfers, see streams.
    streams: Words  # [units, STREAM_WIDTH]
    window: Words  # [units, WINDOW_ROOM]: when the requests under way return
    port_free: Words  # [cores]
    read_rate: Words  # [cores]: bytes per cycle through the port
    write_rate: Words  # [cores]
    l1_until: Words  # [cores, 2]: until when a half of L1 is read
    l1_reads: Words  # [cores, 2]: bytes per cycle that the reader takes
    window_size: int
    read_interval: int  # ticks between starts of reads
    l1_half: int  # bytes of a half of L1, 0 where halves are not modelled
    l1_rate: int  # bytes per cycle of a half of L1
    # The memory system, see memory_system; L2 stays warm between launches.
    servers: Words  # [Server]
    places: HalfWords  # [lines]: place in L2 plus one, 0 for none
    valid: Bytes  # [lines]: bits of the sectors that L2 holds
    dirty: Bytes  # [lines]: bits of the sectors that HBM does not have yet
    owners: HalfWords  # [L2 lines]: line of a place plus one, 0 for none
    asked_again: Bytes  # [L2 lines]
    line_free: Words  # [lines]
    ready: Words  # [lines]: when a line under way is there
    line_count: int
    l2_lines: int
    l2_rate: int
    line_rate: int
    hbm_read_rate: int
    hbm_write_rate: int
    l2_latency: int  # ticks
    hbm_latency: int
    write_latency: int


# Columns of the log; resolved fields follow.
LOG_COLUMNS = (
    "core",
    "number",
    "row",
    "opcode",
    "pipe",
    "dispatched",
    "start",
    "free",
    "end",
)
LOG_FIELDS = len(LOG_COLUMNS)
LOG_WIDTH = LOG_FIELDS + OPERAND_LIMIT

# Columns of a core's memory table: base address per space, scratch, then limit per space.
MEMORY_SCRATCH = len(SPACES)
MEMORY_LIMITS = MEMORY_SCRATCH + 1
MEMORY_TABLE_WIDTH = MEMORY_LIMITS + len(SPACES)
COSTS = 3  # occupancy, latency, cycles of bank conflicts
ACCESS_WORDS = len(Access._fields)
STREAM_WIDTH = Stream.ACCESS + ACCESS_WORDS
MOST_ADDRESSES = 8

UNIT_BLOCK_BYTES = ACCUMULATOR_FRACTAL_BYTES  # the two flags of a block flip together

# Effects of a core that are computed together, while its memories are in the host's caches.
MOST_ENDED = 128

assert len(WORKING_PIPES) <= UNITS_PER_CORE


def moving_parts(cores: int, depth: int, flights: int, log_rows: int) -> dict[str, np.ndarray]:
    """The arrays that change during a launch, as they are before the first cycle."""
    units = cores * UNITS_PER_CORE
    entries = units * depth

    def zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int64)

    counters = zeros(len(Counter))
    counters[Counter.FREE_COUNT] = flights
    return {
        "counters": counters,
        "fault": zeros(6),
        "heap_keys": zeros(flights + 8 * units),
        "heap_payloads": zeros(flights + 8 * units),
        "registers": zeros(cores, REGISTER_COUNT),
        "modes": zeros(cores, STATES),
        "program_counter": zeros(cores),
        "scalar_status": zeros(cores),
        "scalar_awaits": zeros(cores),
        "dispatched": zeros(cores),
        "core_end": zeros(cores),
        "flags": np.zeros((cores, FLAGS_PER_CORE), np.uint8),
        "cross_sets": zeros(cores, MODES, CROSS_IDS),
        "cross_counters": zeros(cores, CROSS_IDS),
        "clock": zeros(units),
        "last_end": zeros(units),
        "awaited_flag": np.full(units, -1, np.int64),
        "unit_awaited": zeros(units),
        "has_flown": zeros(units),
        "queue_head": zeros(units),
        "queue_count": zeros(units),
        "busy": zeros(units),
        "active": zeros(units),
        "active_until": zeros(units),
        "stalls": zeros(units, STALLS),
        "unit_instructions": zeros(units),
        "entry_row": zeros(entries),
        "entry_time": zeros(entries),
        "entry_number": zeros(entries),
        "entry_fields": zeros(entries, OPERAND_LIMIT),
        "flight_row": np.arange(1, flights + 1, dtype=np.int64),
        "flight_fields": zeros(flights, OPERAND_LIMIT),
        "ended": zeros(cores, MOST_ENDED),
        "ended_count": zeros(cores),
        "measured": zeros(COSTS + MOST_ADDRESSES * ACCESS_WORDS),
        "log": zeros(log_rows, LOG_WIDTH),
        "streams": zeros(units, STREAM_WIDTH),
        "window": zeros(units, WINDOW_ROOM),
        "port_free": zeros(cores),
        "l1_until": zeros(cores, 2),
        "l1_reads": zeros(cores, 2),
    }


def grown(machine: Machine) -> Machine:
    """The same machine with twice the room for events and instructions in flight."""
    old = len(machine.flight_row)
    # The free list ends at index `old`, where the new records begin.
    rows = np.concatenate([machine.flight_row, np.arange(old + 1, 2 * old + 1, dtype=np.int64)])
    machine.counters[Counter.FREE_COUNT] += old

    def doubled(array: np.ndarray) -> np.ndarray:
        return np.concatenate([array, np.zeros_like(array)])

    return machine._replace(
        heap_keys=doubled(machine.heap_keys),
        heap_payloads=doubled(machine.heap_payloads),
        heap_room=2 * machine.heap_room,
        flight_row=rows,
        flight_fields=doubled(machine.flight_fields),
    )


def words_of(machine: Machine) -> np.ndarray:
    """Addresses and numbers of a machine, as compiled code takes them; keep the machine alive."""
    words = np.zeros(len(machine), np.int64)
    for i, value in enumerate(machine):
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous, Machine._fields[i]
            words[i] = value.ctypes.data
        else:
            words[i] = value
    return words
