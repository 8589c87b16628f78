"""The device side that outlives a launch: global memory and what of it L2 holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pypto.emulator.placement import POISON
from pypto.emulator.state import TICKS, Server
from pypto.target.memory import LINE_BYTES, CoreKind, Space
from pypto.target.soc import Soc


@dataclass
class Device:
    """Global memory (empty when only time is asked) and the die's L2, for all launches of a run.

    The arrays are the fields of the same name of ``state.Machine``.
    """

    soc: Soc
    memory: np.ndarray
    servers: np.ndarray
    places: np.ndarray
    valid: np.ndarray
    dirty: np.ndarray
    owners: np.ndarray
    asked_again: np.ndarray

    @classmethod
    def of_size(cls, soc: Soc, size: int, functional: bool) -> Device:
        """A device with ``size`` poisoned bytes of memory in use and a cold L2."""
        lines = size // LINE_BYTES + 1
        l2_lines = soc.l2_bytes // LINE_BYTES
        return cls(
            soc,
            np.full(size if functional else 0, POISON, np.uint8),
            np.zeros(len(Server), np.int64),
            np.zeros(lines, np.int32),
            np.zeros(lines, np.uint8),
            np.zeros(lines, np.uint8),
            np.zeros(l2_lines, np.int32),
            np.zeros(l2_lines, np.uint8),
        )

    def hbm_bytes(self) -> tuple[int, int]:
        """Bytes read from and written to HBM since the device was made."""
        read, written = self.servers[Server.HBM_READ_BYTES], self.servers[Server.HBM_WRITE_BYTES]
        return int(read), int(written)

    def rest(self, cycles: int) -> None:
        """Let the cycles of a launch pass, and those until the next one begins."""
        passed = cycles + round(self.soc.launch_us * self.soc.clock_mhz)
        free = self.servers[Server.HBM_FREE] - passed * TICKS
        self.servers[Server.HBM_FREE] = max(0, free)

    def parts(self) -> dict[str, Any]:
        """The memory system at the start of a launch; HBM may still write what came before."""
        soc = self.soc
        self.servers[Server.L2_FREE] = 0
        return {
            "window_size": soc.request_window,
            "read_interval": soc.mte2_interval_hundredths * TICKS // 100,
            "l1_half": soc.capacity[Space.L1] // 2 if soc.l1_banks else 0,
            "l1_rate": soc.l1_read,
            "servers": self.servers,
            "places": self.places,
            "valid": self.valid,
            "dirty": self.dirty,
            "owners": self.owners,
            "asked_again": self.asked_again,
            "line_free": np.zeros(len(self.places), np.int64),
            "ready": np.zeros(len(self.places), np.int64),
            "line_count": len(self.places),
            "l2_lines": len(self.owners),
            "l2_rate": soc.l2_bandwidth,
            "line_rate": soc.l2_line_bandwidth,
            "hbm_read_rate": soc.hbm_read,
            "hbm_write_rate": soc.hbm_write,
            "l2_latency": soc.l2_latency * TICKS,
            "hbm_latency": soc.hbm_latency * TICKS,
            "write_latency": soc.gm_latency_write * TICKS,
        }


def port_rates(soc: Soc, kinds: list[CoreKind]) -> dict[str, Any]:
    """Bytes per cycle through the ports of cores of these kinds, reading and writing."""
    reads = [soc.gm_port(kind) for kind in kinds]
    writes = [soc.gm_port(kind) if kind is CoreKind.CUBE else soc.ub_to_gm for kind in kinds]
    return {
        "read_rate": np.array(reads, np.int64),
        "write_rate": np.array(writes, np.int64),
    }
