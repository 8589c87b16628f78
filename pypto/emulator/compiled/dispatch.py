"""The scalar unit: runs a core's program and puts instructions into the queues of its pipes."""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.effects import complain
from pypto.emulator.compiled.events import FLAG, PIPE, SCALAR, push
from pypto.emulator.compiled.raw import internal
from pypto.emulator.compiled.rebuild import jitted
from pypto.emulator.compiled.scalar_memory import GM, access_end, forget, is_legal, load, store
from pypto.emulator.state import (
    EVENT_IDS,
    FLAGS_PER_CORE,
    LOG_FIELDS,
    LOG_WIDTH,
    MOST_ADDRESSES,
    STALL_BARRIER,
    STALL_MEMORY,
    STALLS,
    STATES,
    UNITS_PER_CORE,
    WORKING_PIPES,
    Counter,
    Fault,
    ScalarStatus,
)
from pypto.emulator.tables import Action
from pypto.target import groups
from pypto.target.groups import CROSS_IDS, MODES
from pypto.target.instructions import OPCODES
from pypto.target.memory import PIPES, Pipe
from pypto.target.rows import (
    MASK_COLUMN,
    OPCODE_COLUMN,
    OPERAND_COLUMN,
    OPERAND_LIMIT,
    PIPE_COLUMN,
    REGISTER_COUNT,
    ROW_WIDTH,
)

MOST_PER_CALL = 1 << 14
ALL_PIPES = PIPES.index(Pipe.ALL)
LAST_BIT = 62  # of a set of small numbers held in one integer
LAST_PIPE = len(WORKING_PIPES) - 1

LOG = int(Counter.LOG)
INSTRUCTIONS, DATA_INSTRUCTIONS = int(Counter.INSTRUCTIONS), int(Counter.DATA_INSTRUCTIONS)
READY, QUEUE_FULL = int(ScalarStatus.READY), int(ScalarStatus.QUEUE_FULL)
AWAITS_FLAG, DRAIN = int(ScalarStatus.FLAG), int(ScalarStatus.DRAIN)
CROSS, ENDED = int(ScalarStatus.CROSS), int(ScalarStatus.ENDED)
BAD_EVENT, BAD_PIPE, BAD_ROW = int(Fault.BAD_EVENT), int(Fault.BAD_PIPE), int(Fault.BAD_ROW)
BAD_PARAMETER, BAD_OPERAND = int(Fault.BAD_PARAMETER), int(Fault.BAD_OPERAND)
BAD_CROSS = int(Fault.BAD_CROSS)

ALU, LOAD, JUMP = int(Action.ALU), int(Action.LOAD), int(Action.JUMP)
BRANCH, END, STATE = int(Action.BRANCH), int(Action.END), int(Action.STATE)
SET_FLAG, WAIT_FLAG = int(Action.SET_FLAG), int(Action.WAIT_FLAG)
BARRIER, DATA = int(Action.BARRIER), int(Action.DATA)
MEMORY_LOAD, MEMORY_STORE = int(Action.MEMORY_LOAD), int(Action.MEMORY_STORE)
CACHE, DATA_BARRIER = int(Action.CACHE), int(Action.DATA_BARRIER)
CROSS_SET, CROSS_WAIT = int(Action.CROSS_SET), int(Action.CROSS_WAIT)
MOV, ADD, SUB, MUL = OPCODES["mov"], OPCODES["add"], OPCODES["sub"], OPCODES["mul"]
DIV, REM, MIN, MAX = OPCODES["div"], OPCODES["rem"], OPCODES["min"], OPCODES["max"]
SHL, SHR, AND, OR = OPCODES["shl"], OPCODES["shr"], OPCODES["and"], OPCODES["or"]
SLT = OPCODES["slt"]
BEQ, BNE, BLT = OPCODES["beq"], OPCODES["bne"], OPCODES["blt"]

has_mode = jitted(groups.has_mode)


@internal
def quotient(a, b):
    """a / b truncated; 0 where b is 0, wrapping where it does not fit."""
    if b == 0:
        return 0
    if b == -1:
        return -a
    floor = a // b
    return floor + 1 if floor < 0 and floor * b != a else floor


@internal
def alu(opcode, a, b):
    """rd of an arithmetic operation on 64-bit integers that wrap."""
    if opcode == MOV:
        return a
    if opcode == ADD:
        return a + b
    if opcode == SUB:
        return a - b
    if opcode == MUL:
        return a * b
    if opcode == DIV:
        return quotient(a, b)
    if opcode == REM:
        return a - quotient(a, b) * b if b != 0 else 0
    if opcode == MIN:
        return min(a, b)
    if opcode == MAX:
        return max(a, b)
    if opcode == SHL:
        return a << (b & 63)
    if opcode == SHR:
        return np.int64(np.uint64(a) >> np.uint64(b & 63))
    if opcode == AND:
        return a & b
    if opcode == OR:
        return a | b
    if opcode == SLT:
        return 1 if a < b else 0
    return 1 if a == b else 0


@internal
def taken(opcode, a, b):
    """Whether a branch is taken."""
    if opcode == BEQ:
        return a == b
    if opcode == BNE:
        return a != b
    if opcode == BLT:
        return a < b
    return a >= b


@internal
def flag_index(core, source, target, event):
    """The place of a flag in ``Machine.flags``."""
    key = (source * UNITS_PER_CORE + target) * EVENT_IDS + event
    return core * FLAGS_PER_CORE + key


@internal
def drained(m, core):
    """When everything dispatched to the pipes of a core has ended, -1 while a queue holds any."""
    latest = 0
    for unit in range(core * UNITS_PER_CORE + 1, (core + 1) * UNITS_PER_CORE):
        if m.queue_count[unit] > 0:
            return -1
        latest = max(latest, m.last_end[unit])
    return latest


@internal
def hold(m, core, time, pc, status, awaits):
    """Stop the scalar unit of a core before the instruction at ``pc``."""
    m.clock[core * UNITS_PER_CORE] = time
    m.program_counter[core] = pc
    m.scalar_status[core] = status
    m.scalar_awaits[core] = awaits


@internal
def name_stall(m, unit, kind, until):
    """Give the cycles up to ``until`` that have no name yet to a kind of stall."""
    waited = until - m.clock[unit]
    if waited > 0:
        m.stalls[unit * STALLS + kind] += waited
        m.clock[unit] = until


@internal
def wake(m, core, kind, time):
    """Let a held scalar unit go on at ``time`` at the earliest; ``kind`` names what held it."""
    unit = core * UNITS_PER_CORE
    name_stall(m, unit, kind, time)
    m.scalar_status[core] = READY
    push(m, m.clock[unit], SCALAR, unit, 0)


@internal
def operand(m, core, row, j):
    """The value of operand ``j`` of a row: an immediate or a register's content."""
    value = m.rows[row * ROW_WIDTH + OPERAND_COLUMN + j]
    if (m.rows[row * ROW_WIDTH + MASK_COLUMN] >> j) & 1:
        return m.registers[core * REGISTER_COUNT + value]
    return value


@internal
def check_operand(m, core, row, opcode, j, value):
    """Complain of a value that the machine does not take for operand ``j``."""
    at = opcode * OPERAND_LIMIT + j
    only = m.operand_only[at]
    legal = m.operand_low[at] <= value <= m.operand_high[at] and value % m.operand_align[at] == 0
    if legal and only != 0:
        legal = value <= LAST_BIT and (only >> value) & 1 == 1
    if not legal:
        complain(m, BAD_OPERAND, core, row, j, value, 0)


@internal
def check_registers(m, core, row, opcode, fields):
    """Check the operands that come from registers."""
    mask = m.rows[row * ROW_WIDTH + MASK_COLUMN]
    j = 0
    while mask != 0:
        if mask & 1:
            check_operand(m, core, row, opcode, j, m.entry_fields[fields + j])
        mask >>= 1
        j += 1


@internal
def enqueue(m, core, unit, time, row):
    """Put a row into the queue of a pipe, registers and modes resolved."""
    opcode = m.rows[row * ROW_WIDTH + OPCODE_COLUMN]
    count = m.queue_count[unit]
    place = m.queue_head[unit] + count
    if place >= m.depth:
        place -= m.depth
    entry = unit * m.depth + place
    fields = entry * OPERAND_LIMIT
    for j in range(m.operands[opcode]):
        m.entry_fields[fields + j] = operand(m, core, row, j)
    if m.action[opcode] == DATA:
        m.counters[DATA_INSTRUCTIONS] += 1
        check_registers(m, core, row, opcode, fields)
        for j in range(m.state_count[opcode]):
            mode = m.modes[core * STATES + m.state_register[opcode * STATES + j]]
            field = m.state_field[opcode * STATES + j]
            m.entry_fields[fields + field] = mode
            check_operand(m, core, row, opcode, field, mode)
    m.entry_row[entry] = row
    m.entry_time[entry] = time
    m.entry_number[entry] = m.dispatched[core]
    m.queue_count[unit] = count + 1
    if count == 0:
        push(m, max(time, m.clock[unit]), PIPE, unit, 0)


@internal
def set_modes(m, core, row, opcode):
    """Write mode registers from operands and fixed numbers."""
    for j in range(m.state_count[opcode]):
        k = m.state_field[opcode * STATES + j]
        value = m.state_fixed[opcode * STATES + j]
        if k >= 0:
            value = operand(m, core, row, k)
        m.modes[core * STATES + m.state_register[opcode * STATES + j]] = value


@internal
def yield_until(m, core, time, pc):
    """Go on with the instruction at ``pc`` when the event loop has reached ``time``."""
    hold(m, core, time, pc, READY, 0)
    push(m, time, SCALAR, core * UNITS_PER_CORE, 0)


@internal
def dispatch(m, core, now):
    """Run the scalar unit of a core until something holds it.

    It may run ahead of the other units: what it does is seen by them at the time it carries.
    Only where it looks at them (flags, barriers) does it wait for the event loop to catch up.
    """
    unit = core * UNITS_PER_CORE
    pc = m.program_counter[core]
    for _ in range(MOST_PER_CALL):
        time = m.clock[unit]
        if pc < 0 or pc >= m.row_count:
            complain(m, BAD_ROW, core, pc, 0, 0, 0)
            return
        at = pc * ROW_WIDTH
        opcode = m.rows[at + OPCODE_COLUMN]
        action = m.action[opcode]
        following = pc + 1
        if action == DATA:
            pipe_unit = unit + m.rows[at + PIPE_COLUMN]
            if m.queue_count[pipe_unit] == m.depth:
                hold(m, core, time, pc, QUEUE_FULL, pipe_unit)
                return
            enqueue(m, core, pipe_unit, time + m.issue, pc)
        elif action == ALU:
            a = operand(m, core, pc, 1)
            b = operand(m, core, pc, 2)
            m.registers[core * REGISTER_COUNT + m.rows[at + OPERAND_COLUMN]] = alu(opcode, a, b)
        elif action == BRANCH:
            a = operand(m, core, pc, 0)
            b = operand(m, core, pc, 1)
            if taken(opcode, a, b):
                following = m.rows[at + OPERAND_COLUMN + 2]
        elif action == JUMP:
            following = m.rows[at + OPERAND_COLUMN]
        elif action == LOAD:
            index = m.rows[at + OPERAND_COLUMN + 1]
            if index < 0 or index >= m.parameter_count:
                complain(m, BAD_PARAMETER, core, pc, index, m.parameter_count, 0)
                return
            m.registers[core * REGISTER_COUNT + m.rows[at + OPERAND_COLUMN]] = m.parameters[index]
        elif action == STATE:
            set_modes(m, core, pc, opcode)
        elif SET_FLAG <= action <= CROSS_WAIT:
            if synchronise(m, core, time, now, pc, action):
                return
        elif MEMORY_LOAD <= action <= MEMORY_STORE:
            if touch_memory(m, core, time, now, pc, opcode):
                return
        elif action == CACHE:
            forget(m, core, operand(m, core, pc, 0), operand(m, core, pc, 1))
        elif action != END and action != DATA_BARRIER:
            complain(m, BAD_ROW, core, pc, opcode, 0, 0)
            return
        m.dispatched[core] += 1
        m.counters[INSTRUCTIONS] += 1
        m.busy[unit] += m.issue
        m.clock[unit] += m.issue
        if action == END:
            hold(m, core, m.clock[unit], pc, ENDED, 0)
            return
        pc = following
    yield_until(m, core, m.clock[unit], pc)


@internal
def touch_memory(m, core, time, now, pc, opcode):
    """A scalar load or store; True when the scalar unit is held before it.

    The scalar unit waits for its end: the cycles in UB are its own, those in GM the memory's.
    """
    if time > now:
        yield_until(m, core, time, pc)
        return True
    is_load = m.action[opcode] == MEMORY_LOAD
    address = operand(m, core, pc, 1 if is_load else 0)
    if m.functional and not is_legal(m, core, pc, opcode, address):
        return True
    value = 0
    if not is_load:
        value = operand(m, core, pc, 1)
        if m.functional:
            store(m, core, opcode, address, value)
    elif m.functional:
        value = load(m, core, opcode, address)
    if is_load:
        m.registers[core * REGISTER_COUNT + m.rows[pc * ROW_WIDTH + OPERAND_COLUMN]] = value
    unit = core * UNITS_PER_CORE
    free = access_end(m, core, opcode, address, now) - m.issue
    if m.address_space[opcode * MOST_ADDRESSES] == GM:
        name_stall(m, unit, STALL_MEMORY, free)
    else:
        m.busy[unit] += free - now
        m.clock[unit] = free
    if m.record:
        record_access(m, core, pc, opcode, now, free + m.issue, address, value)
    return False


@internal
def record_access(m, core, pc, opcode, start, end, address, value):
    """Append a scalar load or store to the log: its address and the value that it moved."""
    at = m.counters[LOG] * LOG_WIDTH
    m.counters[LOG] += 1
    m.log[at] = core
    m.log[at + 1] = m.dispatched[core]
    m.log[at + 2] = pc
    m.log[at + 3] = opcode
    m.log[at + 4] = 0
    m.log[at + 5] = start
    m.log[at + 6] = start
    m.log[at + 7] = end
    m.log[at + 8] = end
    m.log[at + LOG_FIELDS] = address
    m.log[at + LOG_FIELDS + 1] = value
    for j in range(LOG_FIELDS + 2, LOG_WIDTH):
        m.log[at + j] = 0


@internal
def synchronise(m, core, time, now, pc, action):
    """Dispatch a set, wait or barrier; True when the scalar unit is held before it."""
    if action >= CROSS_SET:
        return synchronise_cores(m, core, time, now, pc, action)
    unit = core * UNITS_PER_CORE
    at = pc * ROW_WIDTH
    source = m.rows[at + OPERAND_COLUMN]
    if action == BARRIER:
        if source == ALL_PIPES:
            return await_all_pipes(m, core, time, now, pc)
        if source <= 0 or source > LAST_PIPE:
            complain(m, BAD_PIPE, core, pc, source, source, 0)
            return True
        return enqueue_or_hold(m, core, unit + source, time, pc)
    target = m.rows[at + OPERAND_COLUMN + 1]
    event = operand(m, core, pc, 2)
    if event < 0 or event >= min(m.event_ids, EVENT_IDS):
        complain(m, BAD_EVENT, core, pc, event, m.event_ids - 1, 0)
        return True
    if source > LAST_PIPE or target > LAST_PIPE or source < 0 or target < 0:
        complain(m, BAD_PIPE, core, pc, source, target, 0)
        return True
    pipe = source if action == SET_FLAG else target
    if pipe > 0:
        return enqueue_or_hold(m, core, unit + pipe, time, pc)
    if time > now:
        yield_until(m, core, time, pc)
        return True
    flag = flag_index(core, source, target, event)
    if action == SET_FLAG:
        push(m, time + m.issue, FLAG, unit, flag)
        return False
    if not m.flags[flag]:
        hold(m, core, time, pc, AWAITS_FLAG, flag)
        return True
    m.flags[flag] = 0
    return False


@internal
def synchronise_cores(m, core, time, now, pc, action):
    """Dispatch a set or wait between cores; True when the scalar unit is held before it."""
    if action == CROSS_SET:
        pipe = m.rows[pc * ROW_WIDTH + OPERAND_COLUMN]
        mode, number = operand(m, core, pc, 1), operand(m, core, pc, 2)
        known = 0 <= mode < MODES and 0 <= number < CROSS_IDS
        if not known or not has_mode(core, mode, m.first_vector, m.core_count):
            complain(m, BAD_CROSS, core, pc, number, mode, 0)
            return True
        if pipe <= 0 or pipe > LAST_PIPE:
            complain(m, BAD_PIPE, core, pc, pipe, pipe, 0)
            return True
        return enqueue_or_hold(m, core, core * UNITS_PER_CORE + pipe, time, pc)
    number = operand(m, core, pc, 0)
    if number < 0 or number >= CROSS_IDS:
        complain(m, BAD_CROSS, core, pc, number, -1, 0)
        return True
    if time > now:
        yield_until(m, core, time, pc)
        return True
    counter = core * CROSS_IDS + number
    if m.cross_counters[counter] == 0:
        hold(m, core, time, pc, CROSS, number)
        return True
    m.cross_counters[counter] -= 1
    return False


@internal
def enqueue_or_hold(m, core, pipe_unit, time, pc):
    """Queue a synchronisation row; True when the queue is full and the scalar unit held."""
    if m.queue_count[pipe_unit] == m.depth:
        hold(m, core, time, pc, QUEUE_FULL, pipe_unit)
        return True
    enqueue(m, core, pipe_unit, time + m.issue, pc)
    return False


@internal
def await_all_pipes(m, core, time, now, pc):
    """The barrier of all pipes: True while anything dispatched has not ended."""
    if time > now:
        yield_until(m, core, time, pc)
        return True
    latest = drained(m, core)
    if latest < 0:
        hold(m, core, time, pc, DRAIN, 0)
        return True
    if latest > now:
        wake(m, core, STALL_BARRIER, latest)
        return True
    return False
