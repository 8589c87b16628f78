"""What the parts of the checker share during one launch: sites, buffers, stamps, the report."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

from pypto.emulator.hazards_report import Hazard, HazardKind, Report, Site
from pypto.emulator.hazards_trace import Dispatch
from pypto.target.executable import allocated_bytes
from pypto.target.memory import PIPES, Space
from pypto.target.program import Program
from pypto.target.rows import LINE_COLUMN
from pypto.target.soc import Soc


class GlobalBuffer(NamedTuple):
    """A range of global memory that a launch may touch; ``filled`` says it holds values."""

    name: str
    address: int
    bytes: int
    writable: bool = True
    filled: bool = True

    @property
    def stop(self) -> int:
        """The end of its values."""
        return self.address + self.bytes

    @property
    def limit(self) -> int:
        """The end of what copies of whole blocks may touch: behind the values lies more memory."""
        return self.address + allocated_bytes(self.bytes)


class Entry(NamedTuple):
    """A dispatched instruction: its number on its core, what the scalar unit knew then."""

    dispatch: Dispatch
    number: int
    scalar: tuple[int, ...]


class CoreHistory(NamedTuple):
    """What each pipe of a core has issued; stamps of the core are above ``base``."""

    base: int
    issued: list[list[Entry]]


class Context:
    """One launch being checked."""

    def __init__(
        self, program: Program, machine: Soc, buffers: Sequence[GlobalBuffer], compiled: bool
    ) -> None:
        self.program = program
        self.machine = machine
        self.buffers = buffers
        self.compiled = compiled
        self.report = Report()
        self.cores: list[CoreHistory] = []

    def begin_core(self, pipes: int) -> CoreHistory:
        """The history of the next core."""
        base = 0
        if self.cores:
            base = self.cores[-1].base + max(map(len, self.cores[-1].issued))
        self.cores.append(CoreHistory(base, [[] for _ in range(pipes)]))
        return self.cores[-1]

    def issued(self, pipe: int, stamp: int) -> Entry:
        """The instruction that a stamp stands for."""
        core = self.cores[bisect_left(self.cores, stamp, key=lambda history: history.base) - 1]
        return core.issued[pipe][stamp - core.base - 1]

    def site(self, entry: Entry) -> Site:
        dispatch = entry.dispatch
        line = int(self.program.rows[dispatch.row, LINE_COLUMN])
        return Site(
            dispatch.form.mnemonic,
            PIPES[dispatch.form.queue(dispatch.operands)],
            dispatch.core,
            dispatch.row,
            self.program.lines[line] if line >= 0 else "",
            entry.number,
        )

    def buffer_at(self, space: Space, address: int) -> tuple[str, int]:
        """Name and end of the buffer, or of its slot, that holds an address of a space."""
        if space is Space.GM:
            buffer = self.global_buffer(address)
            return ("", 0) if buffer is None else (buffer.name, buffer.limit)
        for local in self.program.buffers:
            offset = address - local.address
            if local.space is space and 0 <= offset < local.bytes:
                size = local.bytes // local.slots
                slot = offset // size
                name = f"{local.name}[{slot}]" if local.slots > 1 else local.name
                return name, local.address + (slot + 1) * size
        return "", self.machine.capacity[space]

    def global_buffer(self, address: int) -> GlobalBuffer | None:
        """The buffer whose values, or else whose memory, hold an address of GM."""
        holders = [b for b in self.buffers if b.address <= address < b.limit]
        return next((b for b in holders if address < b.stop), holders[0] if holders else None)

    def add(self, kind: HazardKind, entry: Entry, **rest: Any) -> None:
        """Report a hazard of one instruction."""
        if "space" in rest:
            rest["buffer"] = self.buffer_at(rest["space"], rest["start"])[0]
        self.report.add(Hazard(kind, self.site(entry), **rest))
