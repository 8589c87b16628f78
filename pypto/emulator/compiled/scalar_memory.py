"""Scalar loads and stores: of UB in one round trip, of global memory through the data cache.

The cache decides the time of an access, never its value: loads see what memory holds then, and
stores are in memory at once. It is direct-mapped, takes a line on loads and stores alike, and
what it writes back is not timed.
"""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.effects import buffer_end, complain, take_all_effects, take_effects
from pypto.emulator.compiled.memory_system import request
from pypto.emulator.compiled.raw import internal, pointer
from pypto.emulator.state import (
    MEMORY_LIMITS,
    MEMORY_TABLE_WIDTH,
    MOST_ADDRESSES,
    TICKS,
    Fault,
)
from pypto.target.memory import SPACES, Space
from pypto.target.soc import DCACHE_LINE_BYTES

GM = SPACES.index(Space.GM)
BAD_ACCESS = int(Fault.BAD_ACCESS)


@internal
def is_legal(m, core, row, opcode, address):
    """Complain of an address that is not aligned or not in the memory."""
    space = m.address_space[opcode * MOST_ADDRESSES]
    size = abs(m.access_bytes[opcode])
    limit = m.memory_table[core * MEMORY_TABLE_WIDTH + MEMORY_LIMITS + space]
    if space == GM:
        limit = buffer_end(m, opcode, address)
    if address < 0 or address % size != 0 or address + size > limit:
        complain(m, BAD_ACCESS, core, row, address, size, 0)
        return False
    return True


@internal
def settle(m, core, opcode):
    """Let everything that ended before have its effect; the base address of the memory."""
    space = m.address_space[opcode * MOST_ADDRESSES]
    if space == GM:
        take_all_effects(m)
    else:
        take_effects(m, core)
    return m.memory_table[core * MEMORY_TABLE_WIDTH + space]


@internal
def load(m, core, opcode, address):
    """What memory holds, as a 64-bit register takes it."""
    at = settle(m, core, opcode) + address
    size = m.access_bytes[opcode]
    if size == -1:
        return np.int64(pointer(at, np.int8)[0])
    if size == -2:
        return np.int64(pointer(at, np.int16)[0])
    if size == -4:
        return np.int64(pointer(at, np.int32)[0])
    if size == 1:
        return np.int64(pointer(at, np.uint8)[0])
    if size == 2:
        return np.int64(pointer(at, np.uint16)[0])
    if size == 4:
        return np.int64(pointer(at, np.uint32)[0])
    return pointer(at, np.int64)[0]


@internal
def store(m, core, opcode, address, value):
    """Write the lowest bytes of a value."""
    at = settle(m, core, opcode) + address
    size = abs(m.access_bytes[opcode])
    if size == 1:
        pointer(at, np.uint8)[0] = np.uint8(value)
    elif size == 2:
        pointer(at, np.uint16)[0] = np.uint16(value)
    elif size == 4:
        pointer(at, np.uint32)[0] = np.uint32(value)
    else:
        pointer(at, np.int64)[0] = value


@internal
def access_end(m, core, opcode, address, now):
    """When the scalar unit goes on behind an access that it begins now."""
    if m.address_space[opcode * MOST_ADDRESSES] != GM:
        return now + m.ub_access
    line = address // DCACHE_LINE_BYTES
    place = core * m.cache_lines + line % m.cache_lines
    if m.cached[place] == line + 1:
        return now + m.cache_hit
    m.cached[place] = line + 1
    start = now * TICKS
    done = request(m, line * DCACHE_LINE_BYTES, DCACHE_LINE_BYTES, start, start, 0, 0, 0)
    return max(now + m.cache_hit, (done + TICKS - 1) // TICKS)


@internal
def forget(m, core, address, everything):
    """Drop a line, or all, from the data cache of a core."""
    line = address // DCACHE_LINE_BYTES
    place = core * m.cache_lines + line % m.cache_lines
    if m.cached[place] == line + 1:
        m.cached[place] = 0
    if everything != 0:
        for i in range(m.cache_lines):
            m.cached[core * m.cache_lines + i] = 0
