"""Time of transfers to and from global memory: ports, L2 and HBM as busy-until servers.

A transfer streams through the GM port of its core (shared by MTE2, MTE3 and FIX), the L2 of the
die and, for sectors that L2 does not hold yet, the HBM; all servers work at once, in the order of
the transfers' starts. The pipe is held until the slowest has passed the last byte.

L2 keeps a sector from its first read or write until as many bytes again as it holds have come in
after it (first in, first out); what was written goes to HBM when it leaves.
"""

from __future__ import annotations

from pypto.emulator.compiled.raw import internal
from pypto.emulator.state import ACCESS_WORDS, COSTS, SECTOR_BYTES, TICKS, Server

L2_FREE, HBM_FREE, FILLS = int(Server.L2_FREE), int(Server.HBM_FREE), int(Server.FILLS)
HBM_READ_BYTES, HBM_WRITE_BYTES = int(Server.HBM_READ_BYTES), int(Server.HBM_WRITE_BYTES)


@internal
def _bring_in(m, first, last, write):
    """Touch sectors ``first``..``last``: bytes that HBM must read, bytes that it must write."""
    servers, filled, dirty, ring = m.servers, m.filled, m.dirty, m.ring
    capacity = m.l2_sectors
    fills = servers[FILLS]
    read = 0
    written = 0
    for sector in range(first, last + 1):
        age = fills - filled[sector]
        if filled[sector] != 0 and age < capacity:
            if write:
                dirty[sector] = 1
            continue
        place = fills % capacity
        if fills >= capacity:
            leaving = ring[place]
            if dirty[leaving]:
                dirty[leaving] = 0
                written += SECTOR_BYTES
        fills += 1
        ring[place] = sector
        filled[sector] = fills
        dirty[sector] = write
        if not write:
            read += SECTOR_BYTES
    servers[FILLS] = fills
    return read, written


@internal
def _hbm_bytes(m, at, write):
    """Bytes that HBM reads and writes for the runs of the access that begins at word ``at``."""
    accesses = m.measured
    start, outer, outer_stride = accesses[at], accesses[at + 1], accesses[at + 2]
    inner, inner_stride, length = accesses[at + 3], accesses[at + 4], accesses[at + 5]
    read = 0
    written = 0
    for i in range(outer):
        last_row = i == outer - 1
        count = accesses[at + 7] if last_row else inner
        for j in range(count):
            size = length
            if j == count - 1:
                size = accesses[at + 8] if last_row else accesses[at + 6]
            if size <= 0:
                continue
            low = start + i * outer_stride + j * inner_stride
            first, last = low // SECTOR_BYTES, (low + size - 1) // SECTOR_BYTES
            if low >= 0 and last < m.sector_count:
                more_read, more_written = _bring_in(m, first, last, write)
                read += more_read
                written += more_written
    return read, written


@internal
def transfer(m, core, now, size, which, write):
    """Serve ``size`` bytes from ``now`` on: the time at which the last byte has passed."""
    servers = m.servers
    rate = m.write_rate if write else m.read_rate
    start = now * TICKS
    port = max(start, m.port_free[core]) + size * TICKS // rate
    l2 = max(start, servers[L2_FREE]) + size * TICKS // m.l2_rate
    m.port_free[core] = port
    servers[L2_FREE] = l2
    passed = max(port, l2)
    read, written = _hbm_bytes(m, COSTS + which * ACCESS_WORDS, write)
    if read + written > 0:
        servers[HBM_READ_BYTES] += read
        servers[HBM_WRITE_BYTES] += written
        rate = m.hbm_read_rate if written == 0 else m.hbm_mixed_rate
        hbm = max(start, servers[HBM_FREE]) + (read + written) * TICKS // rate
        servers[HBM_FREE] = hbm
        passed = max(passed, hbm)
    return passed // TICKS
