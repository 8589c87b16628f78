"""Compiles what a program needs: costs and footprints per family, bodies per opcode.

Every piece is a small generated module in the cache folder with C functions, which the engine
calls through addresses in its tables. So the engine never changes with the instruction table, and
a process loads what an earlier one compiled.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Any

from pypto.emulator.cache import generated_module
from pypto.emulator.tables import Action, tables
from pypto.emulator.templates import body_text, family_text
from pypto.target.instruction import Family, Instruction
from pypto.target.instructions import INSTRUCTIONS, OPCODES

compile_counts = {"hits": 0, "misses": 0}


def address(function: Any) -> int:
    """The address of a compiled C function; counts whether it came from the cache."""
    compile_counts["hits" if function.cache_hits else "misses"] += 1
    return function.address


@cache
def families() -> dict[str, Family]:
    """Every family of the instruction table by name."""
    return {row.family.name: row.family for row in INSTRUCTIONS}


@cache
def _rows() -> dict[int, Instruction]:
    return {OPCODES[row.mnemonic]: row for row in INSTRUCTIONS}


@cache
def _family_module(name: str) -> ModuleType:
    return generated_module(f"family_{name}", family_text(families()[name]))


def prepare(opcodes: Iterable[int], functional: bool) -> None:
    """Fill the addresses of all opcodes given; bodies only where data is computed."""
    made = tables()
    for opcode in set(opcodes):
        if made.action[opcode] != Action.DATA:
            continue
        row = _rows()[opcode]
        if made.cost[opcode] == 0:
            module = _family_module(row.family.name)
            made.cost[opcode] = address(module.cost)
            made.footprint[opcode] = address(module.footprint)
        if functional and made.body[opcode] == 0:
            name = row.mnemonic.replace(".", "_")
            made.body[opcode] = address(generated_module(f"body_{name}", body_text(row)).body)
