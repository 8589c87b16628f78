"""The pipes: in-order issue from bounded queues, overlapping execution, flags and barriers."""

from __future__ import annotations

from pypto.emulator.compiled.cross_core import cross_set, raise_counters, setter
from pypto.emulator.compiled.dispatch import (
    AWAITS_FLAG,
    BARRIER,
    CROSS_SET,
    DATA,
    DRAIN,
    ENDED,
    QUEUE_FULL,
    SET_FLAG,
    WAIT_FLAG,
    drained,
    flag_index,
    name_stall,
    wake,
)
from pypto.emulator.compiled.effects import (
    FLIGHT_BITS,
    FREE_COUNT,
    FREE_FLIGHT,
    OUT_OF_BOUNDS,
    WORD,
    buffer_end,
    complain,
    take_effects,
)
from pypto.emulator.compiled.events import EFFECT, FLAG, PIPE, push
from pypto.emulator.compiled.raw import address_of, call5, internal
from pypto.emulator.compiled.streams import ACTIVE, BEGIN, close_stream, open_stream, serve
from pypto.emulator.compiled.unit_flags import CHECKS, DOWN, FIX, M, pass_unit_flags, unit_mode
from pypto.emulator.state import (
    ACCESS_WORDS,
    COSTS,
    CROSS_SETS,
    EVENT_IDS,
    FLAGS_PER_CORE,
    LOG_FIELDS,
    LOG_WIDTH,
    MEMORY_LIMITS,
    MEMORY_TABLE_WIDTH,
    MOST_ADDRESSES,
    STALL_BANK,
    STALL_BARRIER,
    STALL_DISPATCH,
    STALL_FLAG,
    STALL_MEMORY,
    STALL_QUEUE,
    STREAM_WIDTH,
    UNITS_PER_CORE,
    Counter,
    Fault,
    ScalarStatus,
)
from pypto.target.instruction import UNBOUNDED, RowFacts
from pypto.target.memory import SPACES, Space
from pypto.target.rows import OPCODE_COLUMN, OPERAND_LIMIT, ROW_WIDTH

FACTS = len(RowFacts._fields)
GM = SPACES.index(Space.GM)
FINISHED_STATUS = int(ScalarStatus.FINISHED)
FINISHED, LOG, NOW = int(Counter.FINISHED), int(Counter.LOG), int(Counter.NOW)
DOUBLE_SET = int(Fault.DOUBLE_SET)


@internal
def advance(m, unit, now):
    """Issue from the queue of a pipe until it is empty or something holds the pipe."""
    core = unit // UNITS_PER_CORE
    stream = unit * STREAM_WIDTH
    while m.queue_count[unit] > 0:
        entry = unit * m.depth + m.queue_head[unit]
        dispatched = m.entry_time[entry]
        streaming = m.streams[stream + ACTIVE]
        ready = max(dispatched, m.clock[unit])
        if ready > now and not streaming:
            push(m, ready, PIPE, unit, 0)
            return
        row = m.entry_row[entry]
        opcode = m.rows[row * ROW_WIDTH + OPCODE_COLUMN]
        action = m.action[opcode]
        start, end = now, now
        if not streaming:
            name_stall(m, unit, STALL_DISPATCH, dispatched)
        if action == DATA:
            if not streaming and held_by_unit_flags(m, core, unit, entry, opcode, now):
                return
            if not streaming and begin(m, core, unit, entry, now):
                if m.fault[0] != 0:
                    return
                streaming = 1
            if streaming:
                if not serve(m, unit, now):
                    return
                now = m.counters[NOW]
            end = complete(m, core, unit, entry, streaming)
            if streaming:
                start = m.streams[stream + BEGIN]
        elif action == SET_FLAG:
            end = max(now, m.last_end[unit])
            flag = flag_of(m, core, entry)
            push(m, end, FLAG, unit, flag)
        elif action == CROSS_SET:
            end = max(now, m.last_end[unit])
            push(m, end + m.cross_latency, FLAG, unit, cross_set(m, core, entry))
        elif action == WAIT_FLAG:
            flag = flag_of(m, core, entry)
            if not m.flags[flag]:
                m.awaited_flag[unit] = flag
                return
            m.flags[flag] = 0
            source = m.entry_fields[entry * OPERAND_LIMIT]
            name_stall(m, unit, STALL_FLAG + source, now)
        elif action == BARRIER:
            if m.last_end[unit] > now:
                push(m, m.last_end[unit], PIPE, unit, 0)
                return
            name_stall(m, unit, STALL_BARRIER, now)
        if m.record:
            record(m, core, unit, entry, opcode, start, end)
        m.unit_instructions[unit] += 1
        head = m.queue_head[unit] + 1
        m.queue_head[unit] = 0 if head == m.depth else head
        m.queue_count[unit] -= 1
        if m.scalar_status[core] == QUEUE_FULL and m.scalar_awaits[core] == unit:
            pipe = unit - core * UNITS_PER_CORE
            wake(m, core, STALL_QUEUE + pipe, now)
    if m.scalar_status[core] == DRAIN:
        latest = drained(m, core)
        if latest >= 0:
            wake(m, core, STALL_BARRIER, max(latest, now))
    elif m.scalar_status[core] == ENDED:
        finish(m, core)


@internal
def flag_of(m, core, entry):
    """The flag that a queued set or wait names."""
    at = entry * OPERAND_LIMIT
    fields = m.entry_fields
    return flag_index(core, fields[at], fields[at + 1], fields[at + 2])


@internal
def finish(m, core):
    """Close a core whose program has ended, once its queues are empty."""
    latest = drained(m, core)
    if latest < 0:
        return
    m.core_end[core] = max(latest, m.clock[core * UNITS_PER_CORE])
    m.scalar_status[core] = FINISHED_STATUS
    m.counters[FINISHED] += 1


@internal
def total_bytes(m, access):
    """Bytes of a measured access whose runs are all alike."""
    return m.measured[access + 1] * m.measured[access + 3] * m.measured[access + 5]


@internal
def begin(m, core, unit, entry, now):
    """Measure a data instruction that starts now; True when it is a transfer, or faulty."""
    row = m.entry_row[entry]
    opcode = m.rows[row * ROW_WIDTH + OPCODE_COLUMN]
    fields = address_of(m.entry_fields) + entry * OPERAND_LIMIT * WORD
    facts = address_of(m.facts) + opcode * FACTS * WORD
    gm, l1 = m.gm_address[opcode], m.l1_address[opcode]
    if m.l1_half == 0:
        l1 = -1
    wanted = 1 if m.functional or gm >= 0 or l1 >= 0 else 0
    call5(m.measure[opcode], fields, facts, address_of(m.soc), address_of(m.measured), wanted)
    if m.functional and not in_bounds(m, core, row, opcode):
        return True
    half = -1
    if l1 >= 0:
        half = 2 * core + min(1, m.measured[COSTS + l1 * ACCESS_WORDS] // m.l1_half)
    if gm >= 0:
        bypass = 0
        if m.l2_field[opcode] >= 0:
            bypass = m.entry_fields[entry * OPERAND_LIMIT + m.l2_field[opcode]]
        write = m.gm_write[opcode]
        open_stream(m, unit, now, gm, m.measured[0], write, bypass, -1 if write else half)
        return True
    if m.l1_reader[opcode] > 0 and half >= 0:
        m.l1_until[half] = now + m.measured[0]
        m.l1_reads[half] = min(m.l1_rate, total_bytes(m, COSTS) // max(1, m.measured[0]))
    return False


@internal
def complete(m, core, unit, entry, streaming):
    """Let the pipe go on behind an instruction, and its effect come at its end: that time."""
    start = m.clock[unit]
    if streaming:
        free, work, end = close_stream(m, unit)
        finished = end
    else:
        work, conflicts = m.measured[0], m.measured[2]
        free = start + work + conflicts
        finished = start + m.measured[1] + conflicts
        end = max(finished, free)
    m.busy[unit] += work
    m.clock[unit] = start + work
    name_stall(m, unit, STALL_MEMORY if streaming else STALL_BANK, free)
    m.last_end[unit] = max(m.last_end[unit], end)
    m.active[unit] += max(0, finished - max(start, m.active_until[unit]))
    m.active_until[unit] = max(m.active_until[unit], finished)
    if m.functional:
        if m.has_flown[unit]:
            m.has_flown[unit] = 0
        else:
            fly(m, unit, entry, end)
    return end


@internal
def fly(m, unit, entry, time):
    """Let the effect of an instruction come at a time."""
    flight = m.counters[FREE_FLIGHT]
    m.counters[FREE_FLIGHT] = m.flight_row[flight]
    m.counters[FREE_COUNT] -= 1
    m.flight_row[flight] = m.entry_row[entry]
    for j in range(OPERAND_LIMIT):
        m.flight_fields[flight * OPERAND_LIMIT + j] = m.entry_fields[entry * OPERAND_LIMIT + j]
    number = m.entry_number[entry]
    push(m, time, EFFECT, unit, (number << FLIGHT_BITS) | flight)


@internal
def held_by_unit_flags(m, core, unit, entry, opcode, now):
    """Whether unit flags keep an instruction from beginning now; else they are flipped.

    A drain takes its values when the last of them is final: the next multiplication may write
    over them before all are stored.
    """
    mode = unit_mode(m, entry, opcode)
    if mode < CHECKS:
        return False
    ready, final = pass_unit_flags(m, core, entry, opcode, mode, now)
    if ready == DOWN:
        return True
    m.unit_awaited[unit] = 0
    if ready > now:
        push(m, ready, PIPE, unit, 0)
        return True
    drains = m.unit_drains[opcode]
    name_stall(m, unit, STALL_FLAG + (M if drains else FIX), now)
    other = core * UNITS_PER_CORE + (M if drains else FIX)
    if m.unit_awaited[other] != 0:
        m.unit_awaited[other] = 0
        push(m, now, PIPE, other, 0)
    if drains and m.functional:
        fly(m, unit, entry, final)
        m.has_flown[unit] = 1
    return False


@internal
def extent(accesses, at):
    """Lowest byte and end of the access that begins at word ``at``; equal when it is empty."""
    start, outer, outer_stride = accesses[at], accesses[at + 1], accesses[at + 2]
    inner, inner_stride, length = accesses[at + 3], accesses[at + 4], accesses[at + 5]
    if length == UNBOUNDED:
        return start, start + 1
    stop = start
    if outer > 0 and accesses[at + 7] > 0:
        stop = (
            start
            + (outer - 1) * outer_stride
            + (accesses[at + 7] - 1) * inner_stride
            + accesses[at + 8]
        )
        if accesses[at + 7] > 1:
            stop = max(
                stop,
                start + (outer - 1) * outer_stride + (accesses[at + 7] - 2) * inner_stride + length,
            )
    if outer > 1 and inner > 0:
        before = start + (outer - 2) * outer_stride
        stop = max(stop, before + (inner - 1) * inner_stride + accesses[at + 6])
        if inner > 1:
            stop = max(stop, before + (inner - 2) * inner_stride + length)
    return start, stop


@internal
def in_bounds(m, core, row, opcode):
    """Check every address of an instruction against its space, in GM against its buffer."""
    for i in range(m.address_count[opcode]):
        low, high = extent(m.measured, COSTS + i * ACCESS_WORDS)
        if low == high:
            continue
        space = m.address_space[opcode * MOST_ADDRESSES + i]
        limit = m.memory_table[core * MEMORY_TABLE_WIDTH + MEMORY_LIMITS + space]
        if space == GM:
            limit = buffer_end(m, opcode, low)
        if low < 0 or high > limit:
            complain(m, OUT_OF_BOUNDS, core, row, i, low, high)
            return False
    return True


@internal
def raise_flag(m, flag, now):
    """A set takes effect; who waits for it goes on."""
    if flag >= CROSS_SETS:
        # What the core has done so far may be looked at by others from here on.
        take_effects(m, setter(flag - CROSS_SETS))
        raise_counters(m, flag - CROSS_SETS, now)
        return
    if m.flags[flag]:
        complain(m, DOUBLE_SET, flag // FLAGS_PER_CORE, -1, flag % FLAGS_PER_CORE, now, 0)
        return
    m.flags[flag] = 1
    core = flag // FLAGS_PER_CORE
    key = flag % FLAGS_PER_CORE
    target = (key // EVENT_IDS) % UNITS_PER_CORE
    unit = core * UNITS_PER_CORE + target
    if target == 0:
        if m.scalar_status[core] == AWAITS_FLAG and m.scalar_awaits[core] == flag:
            source = key // (EVENT_IDS * UNITS_PER_CORE)
            wake(m, core, STALL_FLAG + source, now)
    elif m.awaited_flag[unit] == flag:
        m.awaited_flag[unit] = -1
        push(m, now, PIPE, unit, 0)


@internal
def record(m, core, unit, entry, opcode, start, end):
    """Append an issued instruction to the log."""
    at = m.counters[LOG] * LOG_WIDTH
    m.counters[LOG] += 1
    m.log[at] = core
    m.log[at + 1] = m.entry_number[entry]
    m.log[at + 2] = m.entry_row[entry]
    m.log[at + 3] = opcode
    m.log[at + 4] = unit - core * UNITS_PER_CORE
    m.log[at + 5] = m.entry_time[entry]
    m.log[at + 6] = start
    m.log[at + 7] = m.clock[unit]
    m.log[at + 8] = end
    for j in range(OPERAND_LIMIT):
        m.log[at + LOG_FIELDS + j] = m.entry_fields[entry * OPERAND_LIMIT + j]
