"""The order side of the checker: queues, flags and barriers of one core."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from pypto.emulator.hazards_context import Context, Entry
from pypto.emulator.hazards_memory import Memory
from pypto.emulator.hazards_report import Flag, HazardKind, event
from pypto.emulator.hazards_trace import Dispatch
from pypto.emulator.hazards_units import UnitFlags, unit_mode
from pypto.emulator.state import UNIT_BLOCK_BYTES
from pypto.target.clocks import PIPE_COUNT, SCALAR, Clock, EventKey, SetVerdict
from pypto.target.groups import CROSS_IDS, MODES, MOST_COUNTED, has_mode
from pypto.target.instructions import ScalarKind
from pypto.target.instructions.scalar_access import access_row
from pypto.target.memory import PIPES, Pipe

UNIT_PIPES = (PIPES.index(Pipe.M), PIPES.index(Pipe.FIX))
FLAG_KINDS = (ScalarKind.SET_FLAG, ScalarKind.WAIT_FLAG)


class Core:
    """One core being followed, in dispatch order as far as flags allow."""

    def __init__(
        self, context: Context, memory: Memory, core: int, dispatches: Iterator[Dispatch]
    ) -> None:
        self.context = context
        self.memory = memory
        self.core = core
        self.dispatches = dispatches
        self.number = 0
        self.awaited: Entry | None = None  # a wait for other cores that holds the scalar unit
        self.issued = context.issued[core]
        self.clock = Clock()
        self.units = UnitFlags()
        self.queues: list[deque[Entry]] = [deque() for _ in range(PIPE_COUNT)]
        self.flags: list[Entry] = []
        self.set_by: dict[EventKey, Entry] = {}
        self.late: set[int] = set()

    def run(self) -> bool:
        """Follow the core until it waits for others (False), or to its end or a deadlock."""
        if self.awaited is not None and not self._issue(self.awaited, SCALAR):
            return False
        self.awaited = None
        for dispatch in self.dispatches:
            others = self.context.cross.known(self.core)
            entry = Entry(dispatch, self.number, self.clock.dispatched(), others)
            self.number += 1
            obstacle = self._dispatch(entry)
            if obstacle and dispatch.form.kind is ScalarKind.CROSS_WAIT:
                self.awaited = entry
                return False
            if obstacle:
                self._deadlock(entry, obstacle)
                break
        else:
            if any(self.queues):
                self._deadlock(None, "")
            else:
                self._finish()
        self._add_cures()
        return True

    def give_up(self) -> None:
        """The set that the core waits for never comes."""
        assert self.awaited is not None
        (number,) = self.awaited.dispatch.operands
        missing = self.context.cross.missing(self.core, number)
        names = ", ".join(self.context.crew.core_name(core) for core in missing)
        why = f"{names} set it less often" if missing else "no set of it is left"
        self.context.add(
            HazardKind.DEADLOCK,
            self.awaited,
            message=f"{self.context.crew.core_name(self.core)} waits for cross-core flag {number} "
            f"(row {self.awaited.dispatch.row}): {why}",
            cure="every wait needs one set of each core that the mode names",
        )
        self._add_cures()

    def _add_cures(self) -> None:
        crew = self.context.crew
        kind = crew.of_core(self.core).program.core
        self.context.report.add_cures(self.core, kind, self.flag_list(), crew.is_mixed)

    def flag_list(self) -> list[Flag]:
        """The sets and waits dispatched, for cures."""
        return [
            Flag(
                self.context.site(entry),
                entry.dispatch.form.kind is ScalarKind.SET_FLAG,
                PIPES[entry.dispatch.operands[0]],
                PIPES[entry.dispatch.operands[1]],
                entry.dispatch.operands[2],
            )
            for entry in self.flags
        ]

    def _dispatch(self, entry: Entry) -> str:
        """Dispatch one instruction; what keeps the scalar unit from it, or nothing."""
        form = entry.dispatch.form
        pipe = form.queue(entry.dispatch.operands)
        if form.kind in FLAG_KINDS:
            self.flags.append(entry)
        if pipe != SCALAR:
            if len(self.queues[pipe]) >= self.context.machine.queue_depth:
                return f"the queue of {PIPES[pipe]} is full"
            self.queues[pipe].append(entry)
            self._advance(pipe)
            return ""
        if form.kind is ScalarKind.BARRIER and any(self.queues):
            return "it waits for all pipes"
        return "" if self._issue(entry, SCALAR) else "its flag is never set"

    def _advance(self, pipe: int) -> None:
        """Issue what can be issued on a pipe, and on the pipes whose flags that sets."""
        ready = [pipe]
        while ready:
            queue = self.queues[ready[-1]]
            if not queue or not self._issue(queue[0], ready[-1]):
                ready.pop()
                continue
            entry = queue.popleft()
            if entry.dispatch.form.kind is ScalarKind.SET_FLAG:
                ready.append(entry.dispatch.operands[1])
            elif unit_mode(entry):
                ready += UNIT_PIPES

    def _issue(self, entry: Entry, pipe: int) -> bool:
        """Issue one instruction; False when it waits for a flag."""
        form = entry.dispatch.form
        if not self.units.passes(entry):
            return False
        if form.kind is ScalarKind.WAIT_FLAG:
            if not self.clock.wait_flag(*entry.dispatch.operands, scalar=entry.scalar):
                self.late.add(entry.number)
                return False
            if entry.number in self.late:
                self._wait_before_set(entry)
        elif form.kind is ScalarKind.SET_FLAG:
            self._set_flag(entry)
        elif form.kind is ScalarKind.BARRIER and pipe == SCALAR:
            self.clock.barrier_all()
        elif form.kind is ScalarKind.BARRIER:
            self.clock.barrier(pipe, entry.scalar)
        elif form.kind is ScalarKind.DATA_BARRIER:
            self.clock.barrier(SCALAR)
        elif form.kind is ScalarKind.CROSS_SET:
            self._cross_set(entry, pipe)
        elif form.kind is ScalarKind.CROSS_WAIT:
            if not self._cross_wait(entry):
                return False
        else:
            self.clock.data(pipe, entry.scalar)
        self.issued[pipe].append(entry)
        if form.row is not None:
            self.memory.step(entry, form.row, pipe, self.clock)
        elif form.kind in (ScalarKind.MEMORY_LOAD, ScalarKind.MEMORY_STORE):
            address = form.index("address")
            assert form.operation is not None
            assert address is not None
            access = access_row(form.operation)
            self.memory.step(entry, access, pipe, self.clock, (entry.dispatch.operands[address],))
        elif form.kind is ScalarKind.CACHE:
            address, everything = entry.dispatch.operands
            self.memory.cache.drop(address, bool(everything))
        if form.kind is ScalarKind.SET_FLAG and pipe == SCALAR:
            self._advance(entry.dispatch.operands[1])
        return True

    def _finish(self) -> None:
        """What must not be left when the kernel ends."""
        for key in self.clock.unbalanced():
            self.context.add(
                HazardKind.UNBALANCED,
                self.set_by[key],
                message=f"flag {_name(key)} is still set when the kernel ends",
                cure="wait for it, or drop the set: it would hit the next kernel",
            )
        self.memory.cache.finish()
        for number, setter in list(self.units.up.items())[:1]:
            self.context.add(
                HazardKind.UNBALANCED,
                setter,
                message=f"the unit flag of byte {number * UNIT_BLOCK_BYTES} of l0c is still up "
                "when the kernel ends",
                cure="drain every block that a multiplication with unit_flag 3 made",
            )
        over = self.clock.dispatched()
        running = [p for p in range(1, PIPE_COUNT) if self.clock.issued[p] > over[p]]
        if running:
            self.context.add(
                HazardKind.NOT_DRAINED,
                self.issued[running[0]][-1],
                message=f"{PIPES[running[0]]} may still work when the kernel ends",
                cure="end with `pipe_barrier all`",
                warning=not self.context.compiled,
            )

    def _set_flag(self, entry: Entry) -> None:
        key = EventKey(*entry.dispatch.operands)
        verdict = self.clock.set_flag(*key, scalar=entry.scalar)
        before = self.set_by.get(key)
        self.set_by[key] = entry
        if verdict is SetVerdict.SAFE:
            return
        happened = verdict is SetVerdict.HAPPENED
        late = f"may be set again before {PIPES[key.target]} has waited for it"
        self.context.add(
            HazardKind.DOUBLE_SET,
            entry,
            first=None if before is None else self.context.site(before),
            detail=str(verdict),
            message=f"flag {_name(key)} {'is set again while it is set' if happened else late}",
            cure=f"use another id, or set it after a flag back from {PIPES[key.target]}",
            warning=not happened and not self.context.compiled,
        )

    def _cross_set(self, entry: Entry, pipe: int) -> None:
        """A set for other cores: its counters must have room, and one pipe and mode be enough."""
        _, mode, number = entry.dispatch.operands
        cross, crew = self.context.cross, self.context.crew
        ended = self.clock.cross_set(pipe, entry.scalar)
        known = 0 <= mode < MODES and 0 <= number < CROSS_IDS
        if not known or not has_mode(self.core, mode, cross.first_vector, cross.cores):
            name = crew.core_name(self.core)
            message = f"mode {mode} and id {number} are none that {name} of this launch can set"
            self.context.add(HazardKind.ILLEGAL_OPERAND, entry, message=message)
            return
        before = self.context.set_by.get((self.core, number))
        self.context.set_by[self.core, number] = entry
        first = None if before is None else self.context.site(before)
        if cross.is_mixed(self.core, pipe, mode, number):
            self.context.add(
                HazardKind.CROSS_MIXED,
                entry,
                first=first,
                message=f"cross-core flag {number} is set from two pipes or by two modes, so "
                "that a wait cannot know which of them is over",
                cure="use another id for each pipe and mode",
            )
        verdict = cross.set(self.core, pipe, mode, number, ended, entry.others)
        if verdict is SetVerdict.SAFE:
            return
        happened = verdict is SetVerdict.HAPPENED
        how = "is" if happened else "may be"
        self.context.add(
            HazardKind.CROSS_OVERFLOW,
            entry,
            first=first,
            detail=str(verdict),
            message=f"cross-core flag {number} {how} set while its counter stands at "
            f"{MOST_COUNTED}",
            cure="wait for a set back from the other core before so many sets",
            warning=not happened and not self.context.compiled,
        )

    def _cross_wait(self, entry: Entry) -> bool:
        (number,) = entry.dispatch.operands
        cross = self.context.cross
        if not 0 <= number < CROSS_IDS:
            message = f"there is no cross-core flag {number}"
            self.context.add(HazardKind.ILLEGAL_OPERAND, entry, message=message)
            self.clock.data(SCALAR)
            return True
        if not cross.wait(self.core, number):
            return False
        self.clock.cross_wait(cross.ended[self.core].get(self.core, ()))
        return True

    def _wait_before_set(self, entry: Entry) -> None:
        key = EventKey(*entry.dispatch.operands)
        self.context.add(
            HazardKind.WAIT_BEFORE_SET,
            entry,
            message=f"the set of {_name(key)} is dispatched after this wait: "
            "progress depends on the depth of the queues",
            cure="dispatch the set before the wait",
            warning=not self.context.compiled,
        )

    def _deadlock(self, held: Entry | None, obstacle: str) -> None:
        """Report who waits for whom; ``held`` is what the scalar unit cannot dispatch."""
        waiting = [queue[0] for queue in self.queues if queue]
        lines: list[str] = []
        if (
            held is not None
            and held.dispatch.form.kind is ScalarKind.WAIT_FLAG
            and not (held.dispatch.form.queue(held.dispatch.operands))
        ):
            waiting.append(held)
        elif held is not None:
            lines.append(f"s cannot dispatch {self.context.site(held)}: {obstacle}")
        undispatched = [one for one in self.dispatches if one.form.kind is ScalarKind.SET_FLAG]
        if held is not None:
            undispatched.append(held.dispatch)
        for entry in [one for one in waiting if unit_mode(one)]:
            lines.append(self.units.missing(entry))
        for entry in [one for one in waiting if not unit_mode(one)]:
            key = EventKey(*entry.dispatch.operands)
            why = self._missing(key, undispatched)
            row = entry.dispatch.row
            lines.append(f"{PIPES[key.target]} waits for {_name(key)} (row {row}): {why}")
        self.context.add(
            HazardKind.DEADLOCK,
            waiting[0],
            message="; ".join(lines),
            cure="every wait needs one set that is dispatched before it",
        )

    def _missing(self, key: EventKey, undispatched: list[Dispatch]) -> str:
        """Why the set of a flag never takes effect."""
        for pipe, queue in enumerate(self.queues):
            for entry in queue:
                if _sets(entry.dispatch, key):
                    row = entry.dispatch.row
                    return f"its set (row {row}) is held behind a wait of {PIPES[pipe]}"
        for dispatch in undispatched:
            if _sets(dispatch, key):
                return f"its set (row {dispatch.row}) is not dispatched"
        return "no set of it is left"


def _sets(dispatch: Dispatch, key: EventKey) -> bool:
    return dispatch.form.kind is ScalarKind.SET_FLAG and dispatch.operands == tuple(key)


def _name(key: EventKey) -> str:
    return f"{event(PIPES[key.source], PIPES[key.target])} id {key.event}"
