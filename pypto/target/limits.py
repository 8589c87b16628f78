"""Checks the fields of one instruction against the limits of its family and of the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from pypto.errors import PyptoError
from pypto.target.dtypes import F16, F32, I16
from pypto.target.instruction import Field, Instruction, Kind, access_end
from pypto.target.instructions import BY_MNEMONIC, exists
from pypto.target.instructions.move_meaning import atomic_mode
from pypto.target.memory import Space
from pypto.target.soc import Soc, examples

# What an architecture takes of a field where that is not what the field says by itself: by name
# of the operation or of its family, "" for all, and by field [V asc-devkit dav_c100 and API pages].
Narrowed = dict[tuple[str, str], dict[str, Any]]
COUPLED: Narrowed = {
    # That no repeat does nothing is stated for 2201 alone, but of loads of fractals and fills.
    ("", "repeat"): {"low": 1},
    **{
        (f"{name}_{place}", "repeat"): {"low": 0}
        for name, places in (("load2d", "a b"), ("load_gm", "a b l1"), ("fill", "a b"))
        for place in places.split()
    },
    ("mad", "unit_flag"): {"high": 0},
    ("mad", "k_align"): {"high": 0},
}
NARROWED: dict[str, Narrowed] = {
    "2201": {},
    "2002": COUPLED
    | {
        ("fill_l1", "repeat"): {"low": 0},
        ("", "atomic"): {"only": tuple(atomic_mode("add", t) for t in (F32, F16, I16))},
        # One word configures a gather, with eight bits for the stride.
        ("gather", "dst_repeat"): {"high": 255},
        # The short form of load3d: filters of eight bits, and one image.
        **{
            (f"load3d_{side}", name): limit
            for side in "ab"
            for name, limit in {
                "filter_w": {"high": 255},
                "filter_h": {"high": 255},
                "second": {"high": 0},
            }.items()
        },
    },
    "1001": COUPLED
    | {
        ("", "mask_mode"): {"high": 0},  # no counter mode is known
        ("", "atomic"): {"only": (atomic_mode("add", F32),)},
        # The bits lie in a register of one repeat, not in UB.
        ("select", "repeat"): {"low": 1, "high": 1},
        ("select", "mask"): {"align": 16},
        ("vcgadd", "dst_repeat"): {"low": 1},
        ("vcgmax", "dst_repeat"): {"low": 1},
        ("vcgmin", "dst_repeat"): {"low": 1},
        ("vcpadd", "dst_repeat"): {"low": 1},
        ("load2d_a", "dst_gap"): {"high": 0},
        ("load2d_b", "dst_gap"): {"high": 0},
        ("load_gm_a", "dst_gap"): {"high": 0},
        ("load_gm_b", "dst_gap"): {"high": 0},
        ("load_gm_l1", "dst_gap"): {"high": 0},
    },
}


class LimitError(PyptoError):
    """A field of an instruction lies outside what the machine takes."""


@cache
def field_on(architecture: str, mnemonic: str, name: str) -> Field:
    """A field of a data row with the limits it has on an architecture."""
    row = BY_MNEMONIC[mnemonic]
    found = next(field for field in row.fields if field.name == name)
    for owner in ("", row.family.name, row.op_name):
        found = replace(found, **NARROWED[architecture].get((owner, name), {}))
    return found


def refusal(mnemonic: str, machine: Soc) -> str | None:
    """Why a machine does not run an instruction, a scalar or a state operation; None: it does."""
    if exists(mnemonic, machine.architecture):
        return None
    homes = [one.name for one in examples() if exists(mnemonic, one.architecture)]
    return (
        f"{machine.name} (architecture {machine.architecture}) has no {mnemonic};"
        f" {' and '.join(homes)} {'has' if len(homes) == 1 else 'have'} it"
    )


def state_limit(register: str, value: int, machine: Soc) -> str | None:
    """What all rows that take a mode register allow of it, when a value is not legal for one."""
    complaints = (f.complaint(value) for f in fields_of_state(register, machine.architecture))
    return next(filter(None, complaints), None)


@cache
def fields_of_state(register: str, architecture: str) -> tuple[Field, ...]:
    """The fields that take a mode register, of all rows of an architecture."""
    return tuple(
        field_on(architecture, row.mnemonic, field.name)
        for row in BY_MNEMONIC.values()
        if architecture in row.architectures
        for field in row.fields
        if field.state == register
    )


def check_fields(instruction: Instruction, values: Any, soc: Soc) -> None:
    """Raises LimitError for the first field that breaks a limit.

    ``values`` is the family's NamedTuple or a mapping of the fields known so far; rules between
    fields and the bounds of memory are checked once every field is known.
    """
    known: Mapping[str, int] = values if isinstance(values, Mapping) else values._asdict()
    for field in instruction.fields:
        if field.name in known:
            narrowed = field_on(soc.architecture, instruction.mnemonic, field.name)
            check_value(instruction, narrowed, known[field.name])
    if all(field.name in known for field in instruction.fields):
        check_together(instruction, known, soc)


def check_value(instruction: Instruction, field: Field, value: int) -> None:
    complaint = field.complaint(value)
    if complaint is not None:
        raise broken(instruction, field.name, value, complaint)


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
