"""The form of the instruction table: fields, families and rows.

A *family* is a NamedTuple of integer fields with three integer-only functions over it; a *row* is
one mnemonic of a family. The functions are plain Python over NamedTuples so that the emulator
compiles the very same text with numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple, get_type_hints

from pypto.target.dtypes import DType
from pypto.target.memory import Pipe, Space


class Kind(StrEnum):
    """What a field holds: a byte address, a plain integer, scalar bits, or mode-register state."""

    ADDRESS = "address"
    VALUE = "value"
    SCALAR = "scalar"  # bits of one element of the row's dtype, e.g. the factor of vmuls
    STATE = "state"  # copied from a mode register at dispatch; codegen emits set_* on change


@dataclass(frozen=True)
class Field:
    """One operand of an instruction. ``default`` None means it must be given.

    ``role`` (addresses only) is ``r``, ``w`` or ``rw``; ``state`` names the mode register.
    ``low``..``high`` is the legal range of the value, ends included; where ``only`` names values
    (0..62), 0 and these alone are legal. ``clobbers`` marks a written address whose footprint may
    hold bytes that keep or lose their value: masked lanes, the part of a fractal beyond the valid
    extent.
    """

    name: str = ""
    kind: Kind = Kind.VALUE
    default: int | None = None
    space: Space | None = None
    role: str = ""
    state: str = ""
    low: int = 0
    high: int = 2**63 - 1
    align: int = 1
    only: tuple[int, ...] = ()
    clobbers: bool = False

    @property
    def is_register(self) -> bool:
        """Whether it is an address that has one place alone: a register."""
        return self.kind is Kind.ADDRESS and self.low == self.high

    def complaint(self, value: int) -> str | None:
        """What is legal, when a value is not; else None."""
        if self.only and value not in (0, *self.only):
            return self.range
        if not self.low <= value <= self.high:
            return self.range if self.low < self.high else f"{self.low} only"
        return f"a multiple of {self.align}" if value % self.align else None

    @property
    def range(self) -> str:
        """The legal values in words, but for the alignment."""
        if self.only:
            return ", ".join(map(str, (0, *self.only[:-1]))) + f" or {self.only[-1]}"
        return f"{self.low}..{self.high}"


class RowFacts(NamedTuple):
    """The integers that differ between rows of one family; handed to footprint and cycles.

    ``dst_bytes``/``src_bytes``: element sizes. ``head``: start-up cycles of an instruction.
    ``slope_num``/``slope_den``: cycles per repeat (vector) or per fractal (cube).
    ``latency``: fixed cycles between the end of occupancy and completion. ``variant``: a
    family's own switch (rounding mode of a cast, results per repeat of a reduction …).
    """

    dst_bytes: int
    src_bytes: int
    head: int
    slope_num: int
    slope_den: int
    latency: int
    variant: int


class Access(NamedTuple):
    """A strided set of bytes: ``outer`` rows of ``inner`` runs of ``length`` bytes.

    Run (i, j) begins at ``start + i * outer_stride + j * inner_stride``. The last run of every
    row is cut to ``edge`` bytes; the last row has only ``last_inner`` runs, its last one cut to
    ``last_edge``. ``length`` UNBOUNDED: the extent depends on data; the reader may touch anything
    from ``start`` to the end of the buffer it lies in.
    """

    start: int
    outer: int
    outer_stride: int
    inner: int
    inner_stride: int
    length: int
    edge: int
    last_inner: int
    last_edge: int


UNBOUNDED = -1


def runs(
    start: int, outer: int, outer_stride: int, inner: int, inner_stride: int, length: int
) -> Access:
    """An access whose runs are all whole."""
    return Access(start, outer, outer_stride, inner, inner_stride, length, length, inner, length)


def nowhere() -> Access:
    """A byte before the first of any memory: of fields from registers that no machine takes."""
    return runs(-1, 1, 0, 1, 0, 1)


def byte_ranges(access: Access) -> Iterator[tuple[int, int]]:
    """The (start, stop) byte ranges of a bounded access; empty runs are left out."""
    for i in range(access.outer):
        last_row = i == access.outer - 1
        inner = access.last_inner if last_row else access.inner
        for j in range(inner):
            start = access.start + i * access.outer_stride + j * access.inner_stride
            length = access.length
            if j == inner - 1:
                length = access.last_edge if last_row else access.edge
            if length > 0:
                yield start, start + length


def access_end(access: Access) -> int:
    """The first byte behind an access; strides are not negative."""
    stop = access.start
    for i in range(max(0, access.outer - 2), access.outer):
        count, edge = access.inner, access.edge
        if i == access.outer - 1:
            count, edge = access.last_inner, access.last_edge
        row = access.start + i * access.outer_stride
        if count > 0:
            stop = max(stop, row + (count - 1) * access.inner_stride + edge)
        if count > 1:
            stop = max(stop, row + (count - 2) * access.inner_stride + access.length)
    return stop


# footprint(fields, facts) -> a flat tuple: one Access per address field, in field order.
Footprint = Callable[[Any, RowFacts], tuple[Access, ...]]
# cycles(fields, facts, soc) -> (occupancy of the pipe, latency from start to completion); of a
# transfer to or from GM only what the pipe needs, the memory system adds its own time.
Cycles = Callable[[Any, RowFacts, Any], tuple[int, int]]
# conflicts(fields, facts, soc) -> cycles that bank conflicts add to the occupancy.
Conflicts = Callable[[Any, RowFacts, Any], int]
# limits(fields, facts) -> (field name, what is legal) of every rule between fields that is broken.
Limits = Callable[[Any, RowFacts], list[tuple[str, str]]]


@dataclass(frozen=True)
class Family:
    """A structural family: its NamedTuple, fields (same names, same order) and pure functions."""

    name: str
    tuple_type: type
    fields: tuple[Field, ...]
    footprint: Footprint
    cycles: Cycles
    limits: Limits | None = None
    conflicts: Conflicts | None = None

    def make(self, **values: int) -> Any:
        """The NamedTuple with the given fields and the defaults of the others."""
        complete = {f.name: values.pop(f.name, f.default) for f in self.fields}
        missing = [name for name, value in complete.items() if value is None]
        if missing or values:
            raise TypeError(f"{self.name}: missing {missing}, unknown {sorted(values)}")
        return self.tuple_type(**complete)


def family(
    name: str,
    tuple_type: type,
    footprint: Footprint,
    cycles: Cycles,
    limits: Limits | None = None,
    conflicts: Conflicts | None = None,
) -> Family:
    """A family whose fields stand in the annotations of its NamedTuple."""
    hints = get_type_hints(tuple_type, include_extras=True)
    fields = tuple(replace(hint.__metadata__[0], name=n) for n, hint in hints.items())
    return Family(name, tuple_type, fields, footprint, cycles, limits, conflicts)


@dataclass(frozen=True)
class Instruction:
    """One row: ``vadd.f16``. ``meaning(memory, fields, row)`` is its definition on NumPy bytes.

    ``dtype`` is the element type written, ``source`` the one read where it differs. The table as
    a whole says which ``architectures`` have the row.
    """

    mnemonic: str
    pipe: Pipe
    family: Family
    dtype: DType
    facts: RowFacts
    meaning: Callable[..., None]
    summary: str
    source: DType | None = None
    architectures: frozenset[str] = frozenset()

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.family.fields

    @property
    def op_name(self) -> str:
        """The name without dtype: ``vadd``."""
        return self.mnemonic.split(".")[0]

    @property
    def source_dtype(self) -> DType:
        """The element type read; a scalar operand is an element of it."""
        return self.source or self.dtype

    def spaces(self) -> tuple[Space, ...]:
        """The memory spaces of the address fields, in field order."""
        return tuple(f.space for f in self.fields if f.space is not None)
