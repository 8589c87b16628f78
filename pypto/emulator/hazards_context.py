"""What the parts of the checker share during one launch: sites, buffers, stamps, the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pypto.emulator.crew import Crew
from pypto.emulator.hazards_report import Hazard, HazardKind, Report, Site
from pypto.emulator.hazards_shadow import Shadow
from pypto.emulator.hazards_trace import Dispatch
from pypto.target.clocks import PIPE_COUNT
from pypto.target.clocks_cross import CrossClock, Release
from pypto.target.executable import allocated_bytes
from pypto.target.memory import PIPES, Space
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
    """A dispatched instruction: its number on its core, what the core knew then.

    ``scalar`` is what its scalar unit knew of its own pipes, ``others`` of other cores.
    """

    dispatch: Dispatch
    number: int
    scalar: tuple[int, ...]
    others: Release


class Region(NamedTuple):
    """A writable range of global memory with the last accesses to it."""

    start: int
    stop: int
    shadow: Shadow


class Context:
    """One launch being checked."""

    def __init__(
        self, crew: Crew, machine: Soc, buffers: Sequence[GlobalBuffer], compiled: bool
    ) -> None:
        self.crew = crew
        self.machine = machine
        self.buffers = buffers
        self.compiled = compiled
        self.report = Report()
        cores = len(crew.kinds)
        self.cross = CrossClock(crew.first_vector, cores)
        self.set_by: dict[tuple[int, int], Entry] = {}  # the last set of each core and id
        self.issued: list[list[list[Entry]]] = [
            [[] for _ in range(PIPE_COUNT)] for _ in range(cores)
        ]
        writable = (b for b in buffers if b.writable)
        self.regions = [
            Region(start, stop, Shadow(stop - start, start))
            for start, stop in _joined((b.address, b.limit) for b in writable)
        ]

    def site(self, entry: Entry) -> Site:
        dispatch = entry.dispatch
        program = self.crew.of_core(dispatch.core).program
        line = int(program.rows[dispatch.row, LINE_COLUMN])
        return Site(
            dispatch.form.mnemonic,
            PIPES[dispatch.form.queue(dispatch.operands)],
            dispatch.core,
            dispatch.row,
            program.lines[line] if line >= 0 else "",
            entry.number,
        )

    def buffer_at(self, space: Space, address: int) -> tuple[str, int]:
        """Name and end of the buffer, or of its slot, that holds an address of a space."""
        if space is Space.GM:
            buffer = self.global_buffer(address)
            return ("", 0) if buffer is None else (buffer.name, buffer.limit)
        # Programs of one launch have no memory space in common.
        programs = (member.program for member in self.crew.members)
        for local in (buffer for program in programs for buffer in program.buffers):
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


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that overlap joined, empty ones left out."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        elif start < stop:
            joined.append((start, stop))
    return joined
