"""Brings a program's code into memory: time and footprint per family, effects per opcode.

The engine calls them through addresses in its tables, so it is the same code whatever the
instruction table holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

from pypto.emulator.native import callable_at, function_address
from pypto.emulator.tables import Action, tables
from pypto.target.instruction import Family, Instruction
from pypto.target.instructions import INSTRUCTIONS, OPCODES

MEASURE_ARGUMENTS = 5
BODY_ARGUMENTS = 2
ENGINE_ARGUMENTS = 2


@cache
def families() -> dict[str, Family]:
    """Every family of the instruction table by name."""
    return {row.family.name: row.family for row in INSTRUCTIONS}


@cache
def rows() -> dict[int, Instruction]:
    """Every row of the instruction table by opcode."""
    return {OPCODES[row.mnemonic]: row for row in INSTRUCTIONS}


def prepare(opcodes: Iterable[int], functional: bool) -> None:
    """Fill the addresses of all opcodes given; bodies only where data is computed."""
    made = tables()
    for opcode in set(opcodes):
        if made.action[opcode] != Action.DATA:
            continue
        row = rows()[opcode]
        if made.measure[opcode] == 0:
            made.measure[opcode] = _measure(row.family.name)
        if functional and made.body[opcode] == 0:
            made.body[opcode] = function_address(
                f"body_{row.mnemonic}", partial(_body_function, row), BODY_ARGUMENTS
            )


@cache
def run_slice() -> Callable[..., int]:
    """The engine: ``run_slice(address of the machine's words, events)`` gives an Outcome."""
    return callable_at(
        function_address("engine", _engine_function, ENGINE_ARGUMENTS), ENGINE_ARGUMENTS
    )


@cache
def _measure(family: str) -> int:
    make = partial(_measure_function, families()[family])
    return function_address(f"family_{family}", make, MEASURE_ARGUMENTS)


def _engine_function() -> Any:
    from pypto.emulator.compiled.engine import run_slice

    return run_slice


def _measure_function(family: Family) -> Any:
    from pypto.emulator.templates import family_text

    return _names(family_text(family))["measure"]


def _body_function(row: Instruction) -> Any:
    from pypto.emulator.templates import body_text

    return _names(body_text(row))["body"]


def _names(text: str) -> dict[str, Any]:
    """What a module text defines."""
    names: dict[str, Any] = {"__name__": "pypto.emulator.generated"}
    exec(compile(text, "<generated>", "exec"), names)
    return names
