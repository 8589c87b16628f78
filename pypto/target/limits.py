"""Checks the fields of one instruction against the limits its family states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pypto.errors import PyptoError
from pypto.target.instruction import Field, Instruction, Kind, access_end
from pypto.target.memory import Space
from pypto.target.soc import Soc


class LimitError(PyptoError):
    """A field of an instruction lies outside what the machine takes."""


def check_fields(instruction: Instruction, values: Any, soc: Soc) -> None:
    """Raises LimitError for the first field that breaks a limit.

    ``values`` is the family's NamedTuple or a mapping of the fields known so far; rules between
    fields and the bounds of memory are checked once every field is known.
    """
    known: Mapping[str, int] = values if isinstance(values, Mapping) else values._asdict()
    for field in instruction.fields:
        if field.name in known:
            check_value(instruction, field, known[field.name])
    if all(field.name in known for field in instruction.fields):
        check_together(instruction, known, soc)


def check_value(instruction: Instruction, field: Field, value: int) -> None:
    if not field.low <= value <= field.high:
        raise broken(instruction, field.name, value, f"{field.low}..{field.high}")
    if value % field.align:
        raise broken(instruction, field.name, value, f"a multiple of {field.align}")


def check_together(instruction: Instruction, known: Mapping[str, int], soc: Soc) -> None:
    family = instruction.family
    fields = family.make(**known)
    if family.limits is not None:
        for name, limit in family.limits(fields, instruction.facts):
            raise broken(instruction, name, known[name], limit)
    addresses = [f for f in instruction.fields if f.kind is Kind.ADDRESS]
    accesses = family.footprint(fields, instruction.facts)
    for field, access in zip(addresses, accesses, strict=True):
        if field.space is None or field.space is Space.GM:
            continue
        size = soc.capacity[field.space]
        last = access_end(access)
        if last > size:
            limit = f"{field.space} ends at byte {size}, the access ends at {last}"
            raise broken(instruction, field.name, known[field.name], limit)


def broken(instruction: Instruction, name: str, value: int, limit: str) -> LimitError:
    return LimitError(
        "FIELD_LIMIT", f"{instruction.mnemonic}: {name} = {value}; the machine takes {limit}"
    )
