"""The order side of the checker: queues, flags and barriers of one core."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from pypto.emulator.hazards_context import Context, Entry
from pypto.emulator.hazards_memory import Memory
from pypto.emulator.hazards_report import Flag, HazardKind, event
from pypto.emulator.hazards_trace import Dispatch
from pypto.target.clocks import PIPE_COUNT, SCALAR, Clock, EventKey, SetVerdict
from pypto.target.instructions import ScalarKind
from pypto.target.memory import PIPES

FLAG_KINDS = (ScalarKind.SET_FLAG, ScalarKind.WAIT_FLAG)


class Core:
    """One core being followed, in dispatch order as far as its flags allow."""

    def __init__(self, context: Context, memory: Memory) -> None:
        self.context = context
        self.memory = memory
        self.history = context.begin_core(PIPE_COUNT)
        self.clock = Clock()
        self.queues: list[deque[Entry]] = [deque() for _ in range(PIPE_COUNT)]
        self.flags: list[Entry] = []
        self.set_by: dict[EventKey, Entry] = {}
        self.late: set[int] = set()

    def run(self, dispatches: Iterator[Dispatch]) -> None:
        """Follow the core to its end, or to a deadlock."""
        for number, dispatch in enumerate(dispatches):
            entry = Entry(dispatch, number, self.clock.dispatched())
            obstacle = self._dispatch(entry)
            if obstacle:
                self._deadlock(entry, obstacle, dispatches)
                return
        if any(self.queues):
            self._deadlock(None, "", iter(()))
            return
        self._finish()

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

    def _issue(self, entry: Entry, pipe: int) -> bool:
        """Issue one instruction; False when it waits for a flag."""
        form = entry.dispatch.form
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
        else:
            self.clock.data(pipe, entry.scalar)
        self.history.issued[pipe].append(entry)
        if form.row is not None:
            self.memory.step(entry, form.row, pipe, self.clock, self.history)
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
        over = self.clock.dispatched()
        running = [p for p in range(1, PIPE_COUNT) if self.clock.issued[p] > over[p]]
        if running:
            self.context.add(
                HazardKind.NOT_DRAINED,
                self.history.issued[running[0]][-1],
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

    def _deadlock(self, held: Entry | None, obstacle: str, rest: Iterator[Dispatch]) -> None:
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
        undispatched = [dispatch for dispatch in rest if dispatch.form.kind is ScalarKind.SET_FLAG]
        if held is not None:
            undispatched.append(held.dispatch)
        for entry in waiting:
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
