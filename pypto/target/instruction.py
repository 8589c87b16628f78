"""The form of the instruction table: fields, families and rows.

A *family* is a NamedTuple of integer fields with three integer-only functions over it; a *row* is
one mnemonic of a family. The functions are plain Python over NamedTuples so that the emulator
compiles the very same text with numba.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

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
    ``low``..``high`` is the legal range of the value, ends included.
    """

    name: str
    kind: Kind = Kind.VALUE
    default: int | None = None
    space: Space | None = None
    role: str = ""
    state: str = ""
    low: int = 0
    high: int = 2**63 - 1
    align: int = 1


class RowFacts(NamedTuple):
    """The integers that differ between rows of one family; handed to footprint and cycles.

    ``dst_bytes``/``src_bytes``: element sizes. ``head``: start-up cycles of an instruction.
    ``slope_num``/``slope_den``: cycles per repeat (vector) or per fractal (cube, load2d).
    ``latency``: fixed cycles between the end of occupancy and completion. ``variant``: a
    family's own switch (reduction kind, destination space …).
    """

    dst_bytes: int
    src_bytes: int
    head: int
    slope_num: int
    slope_den: int
    latency: int
    variant: int


class Access(NamedTuple):
    """A strided set of bytes: ``outer`` x ``inner`` runs of ``length`` bytes from ``start``.

    Run (i, j) begins at ``start + i * outer_stride + j * inner_stride``.
    """

    start: int
    outer: int
    outer_stride: int
    inner: int
    inner_stride: int
    length: int


# footprint(fields, facts) -> one tuple of Access per address field, in field order.
Footprint = Callable[[Any, RowFacts], tuple[Access, ...]]
# cycles(fields, facts, soc) -> (occupancy of the pipe, latency from start to completion).
Cycles = Callable[[Any, RowFacts, Any], tuple[int, int]]
# traffic(fields, facts) -> (bytes moved to or from GM, number of bursts).
Traffic = Callable[[Any, RowFacts], tuple[int, int]]


@dataclass(frozen=True)
class Family:
    """A structural family: its NamedTuple, fields (same names, same order) and pure functions."""

    name: str
    tuple_type: type
    fields: tuple[Field, ...]
    footprint: Footprint
    cycles: Cycles
    traffic: Traffic | None = None

    def index(self, name: str) -> int:
        """The position of a field."""
        return next(i for i, f in enumerate(self.fields) if f.name == name)


@dataclass(frozen=True)
class Instruction:
    """One row: ``vadd.f16``. ``meaning(memory, fields, row)`` is its definition on NumPy bytes."""

    mnemonic: str
    pipe: Pipe
    family: Family
    dtype: DType
    facts: RowFacts
    meaning: Callable[..., None]
    summary: str
    architectures: frozenset[str] = field(default_factory=lambda: frozenset({"2201"}))

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.family.fields

    @property
    def op_name(self) -> str:
        """The name without dtype: ``vadd``."""
        return self.mnemonic.split(".")[0]

    def spaces(self) -> tuple[Space, ...]:
        """The memory spaces of the address fields, in field order."""
        return tuple(f.space for f in self.fields if f.space is not None)
