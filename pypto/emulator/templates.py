"""Texts of the modules that are compiled per family and per opcode."""

from __future__ import annotations

from string import Template

from pypto.emulator.bodies import body_call
from pypto.emulator.state import ACCESS_WORDS, COSTS
from pypto.target.instruction import Access, Family, Instruction, RowFacts
from pypto.target.soc import SocNumbers

FAMILY = Template('''"""Time and footprint of the instructions of family $name."""

import numpy as np
from pypto.emulator.prepare import families
from pypto.emulator.compiled.raw import internal, pointer
from pypto.emulator.compiled.rebuild import jitted
from pypto.target.instruction import RowFacts
from pypto.target.soc import SocNumbers

FAMILY = families()["$name"]
Fields = FAMILY.tuple_type
cycles = jitted(FAMILY.cycles)
accesses = jitted(FAMILY.footprint)
$conflicts_function

@internal
def measure(fields, facts, soc, out, with_footprint):
    v, k, s = pointer(fields, np.int64), pointer(facts, np.int64), pointer(soc, np.int64)
    f = Fields($fields)
    row = RowFacts($facts)
    machine = SocNumbers($numbers)
    occupancy, latency = cycles(f, row, machine)
    o = pointer(out, np.int64)
    o[0] = occupancy
    o[1] = latency
    o[2] = $conflicts
    if with_footprint != 0:
        touched = accesses(f, row)
$stores
    return 0
''')

BODY = Template('''"""Effect of $mnemonic: $summary."""

import numpy as np
from pypto.emulator.compiled.kernels import casts as c
from pypto.emulator.compiled.kernels import (
    blocks, cube, dequantised, fixpipe, fractals, fused, l1_copies, lanes, load3d, moves, picks,
    reductions, sorting, turns,
)
from pypto.emulator.compiled.kernels import elements as e
from pypto.emulator.compiled.raw import float_of_bits, internal, pointer
from pypto.emulator.state import MEMORY_LIMITS, MEMORY_SCRATCH
from $fields_module import $fields_class as Fields


@internal
def body(fields, memory):
    v, t = pointer(fields, np.int64), pointer(memory, np.int64)
    f = Fields($fields)
    return $call
''')


def _indexed(name: str, count: int) -> str:
    return ", ".join(f"{name}[{i}]" for i in range(count))


def family_text(family: Family) -> str:
    """The module with ``measure`` of a family: costs and, if asked, the footprint."""
    addresses = sum(1 for field in family.fields if field.space is not None)
    stores = [
        f"        o[{COSTS + i * ACCESS_WORDS + j}] = touched[{i}].{name}"
        for i in range(addresses)
        for j, name in enumerate(Access._fields)
    ]
    return FAMILY.substitute(
        name=family.name,
        conflicts_function="conflicts = jitted(FAMILY.conflicts)\n" if family.conflicts else "",
        conflicts="conflicts(f, row, machine)" if family.conflicts else "0",
        fields=_indexed("v", len(family.fields)),
        facts=_indexed("k", len(RowFacts._fields)),
        numbers=_indexed("s", len(SocNumbers._fields)),
        stores="\n".join(stores),
    )


def body_text(row: Instruction) -> str:
    """The module with ``body`` of one opcode."""
    tuple_type = row.family.tuple_type
    return BODY.substitute(
        mnemonic=row.mnemonic,
        summary=row.summary,
        fields_module=tuple_type.__module__,
        fields_class=tuple_type.__name__,
        fields=_indexed("v", len(row.fields)),
        call=body_call(row),
    )
