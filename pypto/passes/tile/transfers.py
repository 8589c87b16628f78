"""Cycles of transfers from global memory, without contention: pure arithmetic on bytes."""

from __future__ import annotations

from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.target.memory import LINE_BYTES, SECTOR_BYTES


def read_cycles(rows: int, row_bytes: int, port: int, latency: int, window: int) -> int:
    """Cycles to read ``rows`` rows that do not lie end to end, once the first bytes are there.

    A row is a request per 512 bytes begun, whole 128-byte sectors pass the port, and ``window``
    requests are under way at once for ``latency`` cycles.
    """
    on_port = rows * round_up(row_bytes, SECTOR_BYTES) // port
    under_way = rows * ceil_div(row_bytes, LINE_BYTES) * latency // window
    return max(on_port, under_way)
