"""The memory side of the checker: bounds, conflicts and unset bytes of one data instruction."""

from __future__ import annotations

from typing import Any, NamedTuple

from pypto.emulator.hazards_cache import DataCache
from pypto.emulator.hazards_context import Context, Entry
from pypto.emulator.hazards_marks import CLEAN, Marks, Operand
from pypto.emulator.hazards_report import Hazard, HazardKind
from pypto.emulator.hazards_shadow import READ, WRITE, Shadow, Touched, boxes
from pypto.emulator.hazards_units import are_ordered
from pypto.target.clocks import PIPE_COUNT, Accumulation, Clock, same_pipe_is_ordered
from pypto.target.instruction import (
    UNBOUNDED,
    Field,
    Instruction,
    access_end,
)
from pypto.target.instructions.blocks import BLOCKS_OF_GM, UB_TO_GM
from pypto.target.limits import LimitError, check_fields, check_value
from pypto.target.memory import LOCAL_SPACES, Pipe, Space

NOTHING = (0,) * PIPE_COUNT  # known of a core that no wait tells of


class Resolved(NamedTuple):
    """An instruction with concrete operands: its bytes, those it must find written, a problem."""

    fields: Any
    operands: list[Operand]
    used: list[Operand]
    problem: dict[str, Any] | None


class Memory:
    """The memories that a core sees: who touched which byte last, and what holds no value.

    ``resolved`` and ``caches`` are shared by all cores of the launch.
    """

    def __init__(
        self,
        context: Context,
        marks: Marks,
        resolved: dict[tuple[str, tuple[int, ...]], Resolved],
        caches: list[DataCache],
    ) -> None:
        self.context = context
        self.marks = marks
        self.resolved = resolved
        self.cache = DataCache(context, caches)
        capacity = context.machine.capacity
        self.local = {space: Shadow(capacity[space]) for space in LOCAL_SPACES}

    def step(
        self,
        entry: Entry,
        row: Instruction,
        pipe: int,
        clock: Clock,
        values: tuple[int, ...] | None = None,
    ) -> None:
        """Check the instruction just issued on ``pipe`` and remember what it touches."""
        values = entry.dispatch.operands if values is None else values
        key = (row.mnemonic, values)
        resolved = self.resolved.get(key) or self._resolve(row, values)
        if Space.GM not in row.spaces():
            self.resolved[key] = resolved
        fields, operands, used, problem = resolved
        if problem is not None:
            self.context.add(entry=entry, **problem)
            return
        for operand in operands:
            self._conflicts(entry, pipe, operand, fields, clock)
        core, stamp = entry.dispatch.core, clock.issued[pipe]
        for operand in operands:
            for shadow in self._shadows(operand):
                for kind in _kinds(operand.field, fields):
                    shadow.record(core, pipe, kind, operand.where, stamp)
        self._keep_coherent(entry, row, operands)
        unset_reads = self.marks.step(row, fields, used)
        if row.family is UB_TO_GM:
            self._forget_behind(fields.dst)
        for unset in unset_reads:
            self.context.add(
                HazardKind.UNINIT_READ,
                entry,
                space=unset.field.space,
                start=unset.start,
                stop=unset.stop,
                message=f"{unset.field.name} of {row.mnemonic} is used, but nothing has written it",
                cure="write it first: load it, fill it, or narrow the valid extent",
            )

    def _keep_coherent(self, entry: Entry, row: Instruction, operands: list[Operand]) -> None:
        """Follow what an access of global memory means to the data caches."""
        for operand in operands:
            if operand.field.space is not Space.GM:
                continue
            writes = "w" in operand.field.role
            if row.pipe is not Pipe.S:
                self.cache.transfer(entry, operand.where, writes)
            elif writes:
                self.cache.store(entry, operand.where)
            else:
                self.cache.load(entry, operand.where)

    def _forget_behind(self, address: int) -> None:
        """Whatever was stored behind the values of a buffer, it may be read."""
        buffer = self.context.global_buffer(address)
        if buffer is not None:
            self.marks.memory[Space.GM][buffer.stop : buffer.limit] = CLEAN

    def _resolve(self, row: Instruction, values: tuple[int, ...]) -> Resolved:
        """The bytes that an instruction touches, or what is wrong with its operands."""
        fields = row.family.tuple_type(*values)
        operands: list[Operand] = []
        used: list[Operand] = []
        addressed = [field for field in row.fields if field.space is not None]
        accesses = row.family.footprint(fields, row.facts)
        for field, access in zip(addressed, accesses, strict=True):
            assert field.space is not None
            bounded = access
            if access.length == UNBOUNDED:
                length = self.context.buffer_at(field.space, access.start)[1] - access.start
                bounded = access._replace(length=length, edge=length, last_edge=length)
            operands.append(Operand(field, boxes(bounded)))
            if access.length != UNBOUNDED:
                used.append(operands[-1])
            stop = access_end(bounded)
            outside = self._outside(row, field, access.start, stop) if operands[-1].where else ""
            if outside:
                problem = {
                    "kind": HazardKind.OUT_OF_BOUNDS,
                    "space": field.space,
                    "start": access.start,
                    "stop": stop,
                    "message": f"{field.name} of {row.mnemonic} {outside}",
                    "cure": "check the address, the strides and the count",
                }
                return Resolved(fields, operands, used, problem)
        try:
            if row.pipe is Pipe.S:
                check_value(row, row.fields[0], fields.address)
            else:
                check_fields(row, fields, self.context.machine)
        except LimitError as error:
            problem = {"kind": HazardKind.ILLEGAL_OPERAND, "message": error.message}
            return Resolved(fields, operands, used, problem)
        return Resolved(fields, operands, used, None)

    def _outside(self, row: Instruction, field: Field, start: int, stop: int) -> str:
        """Why bytes ``start``..``stop`` may not be touched, or nothing."""
        if field.space is not Space.GM and field.space is not None:
            capacity = self.context.machine.capacity[field.space]
            inside = start >= 0 and stop <= capacity
            return "" if inside else f"leaves {field.space}, which holds {capacity} bytes"
        blocks = row.family in BLOCKS_OF_GM
        holders = [
            b for b in self.context.buffers if b.address <= start < (b.limit if blocks else b.stop)
        ]
        if not holders:
            return "lies in no buffer of the launch"
        if all(stop > (b.limit if blocks else b.stop) for b in holders):
            return f"leaves buffer {holders[0].name}"
        if "w" in field.role and not any(b.writable for b in holders):
            return f"writes buffer {holders[0].name}, which the kernel may only read"
        return ""

    def _shadows(self, operand: Operand) -> list[Shadow]:
        space = operand.field.space
        if space is not Space.GM and space is not None:
            return [self.local[space]]
        if not operand.where:
            return []
        start = operand.where[0].start
        return [r.shadow for r in self.context.regions if r.start <= start < r.stop]

    def _conflicts(
        self,
        entry: Entry,
        pipe: int,
        operand: Operand,
        fields: Any,
        clock: Clock,
    ) -> None:
        """Report earlier accesses that clash with an operand and are not ordered before it."""

        def floor(core: int, other: int) -> int:
            if core == entry.dispatch.core:
                return clock.known[pipe][other]
            return entry.others.ended.get(core, NOTHING)[other]

        for shadow in self._shadows(operand):
            for kind in _kinds(operand.field, fields):
                seen: set[tuple[int, int, int]] = set()
                for touched in shadow.conflicts(kind, operand.where, floor):
                    if touched[:3] in seen:
                        continue
                    for stamp in touched.unordered():
                        if self._race(entry, pipe, operand.field, kind, touched, stamp):
                            seen.add(touched[:3])
                            break

    def _race(
        self, entry: Entry, pipe: int, field: Field, kind: int, touched: Touched, stamp: int
    ) -> bool:
        """Report a race; False when hardware orders the two."""
        other = self.context.issued[touched.core][touched.pipe][stamp - 1]
        same_core = touched.core == entry.dispatch.core
        if (
            same_core
            and touched.pipe == pipe
            and same_pipe_is_ordered(pipe, _accumulation(other, field), _accumulation(entry, field))
        ):
            return False
        assert field.space is not None
        if same_core and are_ordered(other, entry, field.space):
            return False
        detail = ("R" if kind == READ else "W") + "A" + ("R" if touched.kind == READ else "W")
        first, second = other, entry
        if same_core and second.number < first.number:
            first, second, detail = second, first, detail[::-1]
        start, stop = touched.addresses(stamp)
        self.context.report.add(
            Hazard(
                HazardKind.RACE,
                self.context.site(second),
                self.context.site(first),
                detail,
                field.space,
                self.context.buffer_at(field.space, start)[0],
                start,
                stop,
                "nothing makes the second wait for the end of the first",
            )
        )
        return True


def _kinds(field: Field, fields: Any) -> list[int]:
    """The kinds of access of an address field."""
    atomic = getattr(fields, "atomic", 0) if field.space is Space.GM else 0
    kinds = [READ] if "r" in field.role else []
    if "w" in field.role:
        kinds.append(atomic if atomic > 0 else WRITE)
    return kinds


def _accumulation(entry: Entry, field: Field) -> Accumulation | None:
    """The accumulator tile of a multiplication, when ``field`` lies in it."""
    row = entry.dispatch.form.row
    if row is None or row.pipe is not Pipe.M or field.space is not Space.L0C:
        return None
    fields = row.family.tuple_type(*entry.dispatch.operands)
    return Accumulation(fields.c, fields.m, fields.n, "r" in field.role and not fields.c_init)
