"""The device side that outlives a launch: global memory and what of it L2 holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pypto.emulator.placement import POISON
from pypto.emulator.state import SECTOR_BYTES, Server
from pypto.target.memory import CoreKind
from pypto.target.soc import Soc


@dataclass
class Device:
    """Global memory (empty when only time is asked) and the die's L2, for all launches of a run.

    The arrays are the fields of the same name of ``state.Machine``.
    """

    soc: Soc
    memory: np.ndarray
    servers: np.ndarray
    filled: np.ndarray
    dirty: np.ndarray
    ring: np.ndarray

    @classmethod
    def of_size(cls, soc: Soc, size: int, functional: bool) -> Device:
        """A device with ``size`` poisoned bytes of memory in use and a cold L2."""
        sectors = -(-size // SECTOR_BYTES) + 1
        return cls(
            soc,
            np.full(size if functional else 0, POISON, np.uint8),
            np.zeros(len(Server), np.int64),
            np.zeros(sectors, np.int64),
            np.zeros(sectors, np.uint8),
            np.zeros(soc.l2_bytes // SECTOR_BYTES, np.int32),
        )

    def hbm_bytes(self) -> tuple[int, int]:
        """Bytes read from and written to HBM since the device was made."""
        read, written = self.servers[Server.HBM_READ_BYTES], self.servers[Server.HBM_WRITE_BYTES]
        return int(read), int(written)

    def parts(self, core: CoreKind, cores: int) -> dict[str, Any]:
        """The memory system at the start of a launch, all servers free."""
        soc = self.soc
        self.servers[Server.L2_FREE] = 0
        self.servers[Server.HBM_FREE] = 0
        return {
            "servers": self.servers,
            "port_free": np.zeros(cores, np.int64),
            "filled": self.filled,
            "dirty": self.dirty,
            "ring": self.ring,
            "sector_count": len(self.filled),
            "l2_sectors": len(self.ring),
            "read_rate": soc.gm_port(core),
            "write_rate": soc.gm_port(core) if core is CoreKind.CUBE else soc.ub_to_gm,
            "l2_rate": soc.l2_bandwidth,
            "hbm_read_rate": soc.hbm_read,
            "hbm_mixed_rate": soc.hbm_mixed,
        }
