"""Effects of instructions that have ended, faults, and the bounds of buffers."""

from __future__ import annotations

from pypto.emulator.compiled.raw import address_of, call2, internal
from pypto.emulator.state import MEMORY_TABLE_WIDTH, MOST_ENDED, Counter, Fault
from pypto.target.rows import OPCODE_COLUMN, OPERAND_LIMIT, ROW_WIDTH

WORD = 8
FLIGHT_BITS = 24
FLIGHT_MASK = (1 << FLIGHT_BITS) - 1
FREE_FLIGHT, FREE_COUNT = int(Counter.FREE_FLIGHT), int(Counter.FREE_COUNT)
OUT_OF_BOUNDS = int(Fault.OUT_OF_BOUNDS)


@internal
def complain(m, fault, core, row, first, second, third):
    """Record the first fault of a run."""
    if m.fault[0] == 0:
        m.fault[0] = fault
        m.fault[1] = core
        m.fault[2] = row
        m.fault[3] = first
        m.fault[4] = second
        m.fault[5] = third


@internal
def buffer_end(m, opcode, address):
    """How far an instruction may go in the GM buffer that holds an address, -1 for no buffer."""
    starts = m.buffer_starts
    low, high = 0, m.buffer_count
    while low < high:
        middle = (low + high) >> 1
        if starts[middle] <= address:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return -1
    end = m.buffer_limits[low - 1] if m.gm_blocks[opcode] else m.buffer_ends[low - 1]
    return end if address < end else -1


@internal
def end(m, core, payload):
    """An instruction has ended: its effect is due, after those of its core that ended before.

    Between two sets for other cores, effects of different cores are in no order that a program
    without races can see; only atomic stores are, so they come after everything that ended
    before them anywhere.
    """
    flight = payload & FLIGHT_MASK
    count = m.ended_count[core]
    m.ended[core * MOST_ENDED + count] = flight
    m.ended_count[core] = count + 1
    opcode = m.rows[m.flight_row[flight] * ROW_WIDTH + OPCODE_COLUMN]
    atomic = m.atomic_field[opcode]
    if atomic >= 0 and m.flight_fields[flight * OPERAND_LIMIT + atomic] != 0:
        take_all_effects(m)
    elif count + 1 == MOST_ENDED:
        take_effects(m, core)


@internal
def take_all_effects(m):
    """Compute every effect that is due."""
    for core in range(m.core_count):
        take_effects(m, core)


@internal
def take_effects(m, core):
    """Compute the effects that are due on a core."""
    table = address_of(m.memory_table) + core * MEMORY_TABLE_WIDTH * WORD
    for i in range(m.ended_count[core]):
        flight = m.ended[core * MOST_ENDED + i]
        row = m.flight_row[flight]
        opcode = m.rows[row * ROW_WIDTH + OPCODE_COLUMN]
        fields = address_of(m.flight_fields) + flight * OPERAND_LIMIT * WORD
        bad = call2(m.body[opcode], fields, table)
        if bad != 0:
            complain(m, OUT_OF_BOUNDS, core, row, -1, bad - 1, bad)
        m.flight_row[flight] = m.counters[FREE_FLIGHT]
        m.counters[FREE_FLIGHT] = flight
        m.counters[FREE_COUNT] += 1
    m.ended_count[core] = 0
