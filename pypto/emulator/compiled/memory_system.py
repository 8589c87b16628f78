"""Time of requests to global memory: L2 and HBM, shared by all cores, as busy-until servers.

L2 keeps lines of 512 bytes by a clock: a hand goes round, takes a line that was not asked for
again since it last came by, and spares the others once. Of a line it holds the 128-byte sectors
that were asked for or written; what was written goes to HBM when the line leaves, and who needs
its room to write waits for that. A sector that is written in part is read first. A line has one
time at which what is under way to it is there.

All times here are in 1/TICKS cycles.
"""

from __future__ import annotations

from pypto.emulator.compiled.raw import internal
from pypto.emulator.state import TICKS, Server
from pypto.target.memory import LINE_BYTES, SECTOR_BYTES

L2_FREE, HBM_FREE, HAND = int(Server.L2_FREE), int(Server.HBM_FREE), int(Server.HAND)
HBM_READ_BYTES, HBM_WRITE_BYTES = int(Server.HBM_READ_BYTES), int(Server.HBM_WRITE_BYTES)


@internal
def sectors_of(bits):
    """How many sectors of a line the bits name."""
    return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3 & 1)


@internal
def read_memory(m, time, sectors):
    """When HBM has delivered sectors asked for at ``time``."""
    size = sectors * SECTOR_BYTES
    m.servers[HBM_READ_BYTES] += size
    free = max(time, m.servers[HBM_FREE]) + size * TICKS // m.hbm_read_rate
    m.servers[HBM_FREE] = free
    return free


@internal
def write_memory(m, time, sectors):
    """When HBM has taken sectors that come at ``time``."""
    size = sectors * SECTOR_BYTES
    m.servers[HBM_WRITE_BYTES] += size
    free = max(time, m.servers[HBM_FREE]) + size * TICKS // m.hbm_write_rate
    m.servers[HBM_FREE] = free
    return free


@internal
def allocate(m, time, line):
    """Give a line a place in L2: when it has it, as the line that leaves may be written back."""
    hand = m.servers[HAND]
    while m.asked_again[hand]:
        m.asked_again[hand] = 0
        hand = 0 if hand + 1 == m.l2_lines else hand + 1
    leaving = m.owners[hand] - 1
    if leaving >= 0:
        if m.dirty[leaving]:
            time = write_memory(m, time, sectors_of(m.dirty[leaving]))
        m.places[leaving] = 0
        m.valid[leaving] = 0
        m.dirty[leaving] = 0
    m.owners[hand] = line + 1
    m.places[line] = hand + 1
    m.servers[HAND] = 0 if hand + 1 == m.l2_lines else hand + 1
    return time


@internal
def partly(low, size):
    """Bits of the sectors of a line that a request covers in part."""
    stop = low + size
    bits = 0
    if low % SECTOR_BYTES:
        bits |= 1 << low % LINE_BYTES // SECTOR_BYTES
    if stop % SECTOR_BYTES:
        bits |= 1 << (stop - 1) % LINE_BYTES // SECTOR_BYTES
    return bits


@internal
def request(m, low, size, start, sent, write, bypass, again):
    """When the answer to a request within one line is back at its core.

    The request leaves the port of the core from ``start`` to ``sent``. ``bypass``: it leaves in
    L2 what is there and brings nothing into it. ``again``: it is not the rest of the same line,
    so that what L2 has of it is asked for once more.
    """
    servers = m.servers
    line = low // LINE_BYTES
    amount = size * TICKS
    passed = max(start, servers[L2_FREE]) + amount // m.l2_rate
    servers[L2_FREE] = passed
    first = low % LINE_BYTES // SECTOR_BYTES
    last = (low + size - 1) % LINE_BYTES // SECTOR_BYTES
    wanted = (2 << last) - (1 << first)
    passed = max(passed, sent)
    if line < 0 or line >= m.line_count:
        return max(passed, read_memory(m, start, sectors_of(wanted))) + m.hbm_latency
    free = max(start, m.line_free[line]) + amount // m.line_rate
    m.line_free[line] = free
    passed = max(passed, free)
    place = m.places[line]
    if place > 0 and again and wanted & m.valid[line] != 0:
        m.asked_again[place - 1] = 1
    if write:
        filled = partly(low, size) & ~m.valid[line]
        if filled:
            passed = max(passed, read_memory(m, start, sectors_of(filled)))
        if place == 0 and bypass:
            return max(passed, write_memory(m, start, sectors_of(wanted))) + m.write_latency
        if place == 0:
            passed = max(passed, allocate(m, start, line))
        m.valid[line] |= wanted
        m.dirty[line] |= wanted
        return passed + m.write_latency
    missing = wanted & ~m.valid[line]
    if missing == 0:
        return max(passed + m.l2_latency, m.ready[line])
    done = max(passed, read_memory(m, start, sectors_of(missing))) + m.hbm_latency
    if not bypass:
        if place == 0:
            allocate(m, start, line)
        m.valid[line] |= wanted
        m.ready[line] = max(m.ready[line], done)
    return done
