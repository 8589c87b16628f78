"""Scalar loads and stores in the form of the table's rows: which bytes they read or write."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import DTYPES
from pypto.target.instruction import Access, Instruction, RowFacts, family, runs
from pypto.target.instructions import fields
from pypto.target.instructions.scalar import ScalarKind, ScalarOperation
from pypto.target.memory import Pipe, Space


class ScalarAccess(NamedTuple):
    """One element at an address."""

    address: Annotated[int, fields.address(Space.UB, "r", align=1)]


def _element(f: ScalarAccess, facts: RowFacts) -> tuple[Access, ...]:
    return (runs(f.address, 1, 0, 1, 0, facts.dst_bytes),)


def _no_time(f: ScalarAccess, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return 0, 0


def _no_meaning(memory: Any, f: ScalarAccess, row: Instruction) -> None:
    raise TypeError(f"{row.mnemonic} is followed by the scalar unit")


@cache
def access_row(operation: ScalarOperation) -> Instruction:
    """What a scalar load or store touches, as a row with one address."""
    made = family("scalar_access", ScalarAccess, _element, _no_time)
    role = "r" if operation.kind is ScalarKind.MEMORY_LOAD else "w"
    (field,) = made.fields
    field = replace(field, space=operation.space, role=role, align=operation.width)
    facts = RowFacts(operation.width, operation.width, 0, 0, 1, 0, 0)
    return Instruction(
        operation.mnemonic,
        Pipe.S,
        replace(made, fields=(field,)),
        DTYPES["i8"],
        facts,
        _no_meaning,
        operation.summary,
        architectures=operation.architectures,
    )
