"""``pyptoc ops`` and ``isa``: what the tables of the compiler say."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from pypto.cli.output import print_json, print_table
from pypto.errors import CompileError


def ops_command(name: str, *, as_json: bool) -> None:
    """The catalogue, or one operator of it."""
    from pypto.ops import OPERATORS

    if not name:
        operators = {operator.name: operator for operator in OPERATORS.values()}
        if as_json:
            print_json([describe_operator(operators[key]) for key in sorted(operators)])
            return
        rows = [(o.signature, first_line(o.body.__doc__)) for _, o in sorted(operators.items())]
        print_table(("operator", "meaning"), rows)
        return
    if name not in OPERATORS:
        raise unknown("operator", "ops", name, OPERATORS)
    facts = describe_operator(OPERATORS[name])
    if as_json:
        print_json(facts)
    else:
        print_facts(facts)


def describe_operator(operator: Any) -> dict[str, Any]:
    """An operator's row as plain values."""
    gradient = operator.gradient
    error = operator.error
    return {
        "operator": operator.name,
        "signature": operator.signature,
        "meaning": operator.body.__doc__.strip(),
        "kind": "primitive" if operator.is_primitive else "composite",
        "aliases": list(operator.aliases),
        "dtypes": [dtype.public_name for dtype in operator.dtypes],
        "error_ulp": error if isinstance(error, float | int | str) else "by the operands",
        "gradient": "yes" if callable(gradient) else gradient,
    }


def isa_command(name: str, *, soc: str = "", as_json: bool) -> None:
    """The instruction table, or the rows of one mnemonic (``vadd.f16``) or name (``vadd``).

    ``soc`` leaves only what that machine has, with the limits it has there.
    """
    from pypto.target.instructions import INSTRUCTIONS, SCALARS
    from pypto.target.limits import refusal
    from pypto.target.soc import soc as load

    machine = load(soc) if soc else None
    rows = [*INSTRUCTIONS, *SCALARS]
    if name:
        named = [r for r in rows if name in (r.mnemonic, r.mnemonic.split(".")[0])]
        if not named:
            known = {n for r in rows for n in (r.mnemonic, r.mnemonic.split(".")[0])}
            raise unknown("instruction", "isa", name, known)
        rows = named
    if machine is not None:
        refusals = [refusal(row.mnemonic, machine) for row in rows]
        if name and all(refusals):
            raise CompileError("UNKNOWN_INSTRUCTION", refusals[0] or "")
        rows = [row for row, reason in zip(rows, refusals, strict=True) if reason is None]
    if name:
        show_instructions([describe_instruction(row, machine) for row in rows], as_json=as_json)
    else:
        list_instructions(rows, as_json=as_json)


def list_instructions(rows: list[Any], *, as_json: bool) -> None:
    """One line per instruction."""
    keys = ("mnemonic", "pipe", "architectures", "meaning")
    lines = [
        (row.mnemonic, getattr(row, "pipe", "s"), sorted(row.architectures), row.summary)
        for row in rows
    ]
    if as_json:
        print_json([dict(zip(keys, line, strict=True)) for line in lines])
    else:
        print_table(keys, [(one, pipe, " ".join(homes), text) for one, pipe, homes, text in lines])


def show_instructions(facts: list[dict[str, Any]], *, as_json: bool) -> None:
    """Everything of a few instructions."""
    if as_json:
        print_json(facts)
        return
    for index, one in enumerate(facts):
        if index:
            print()
        print_facts({key: value for key, value in one.items() if key != "fields"})
        if "fields" in one:
            print()
            headings = ("field", "kind", "default", "range", "align")
            print_table(headings, [tuple(f.values()) for f in one["fields"]])


def describe_instruction(row: Any, machine: Any = None) -> dict[str, Any]:
    """A row of the instruction table, or a scalar operation, as plain values."""
    from pypto.target.instruction import Instruction
    from pypto.target.limits import field_on

    common = {
        "mnemonic": row.mnemonic,
        "pipe": str(getattr(row, "pipe", "s")),
        "meaning": row.summary,
        "architectures": sorted(row.architectures),
    }
    if not isinstance(row, Instruction):
        return common | {"operands": list(row.operands)}
    fields = row.fields
    if machine is not None:
        fields = [field_on(machine.architecture, row.mnemonic, field.name) for field in fields]
    return common | {
        "family": row.family.name,
        "facts": row.facts._asdict(),
        "fields": [
            {
                "field": field.name,
                "kind": f"{field.space}:{field.role}" if field.space else field.kind.value,
                "default": "required" if field.default is None else field.default,
                "range": "any" if field.high >= 2**62 else field.range,
                "align": field.align,
            }
            for field in fields
        ],
    }


def first_line(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]


def print_facts(facts: dict[str, Any]) -> None:
    """``key  value`` lines; lists and tables in one line."""
    width = max(map(len, facts))
    for key, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{k} {v}" for k, v in value.items())
        elif isinstance(value, list):
            value = ", ".join(map(str, value)) or "none"
        print(f"{key:<{width}}  {value}")


def unknown(what: str, command: str, name: str, known: Iterable[str]) -> CompileError:
    """The error for a name that is in no table."""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return CompileError(
        f"UNKNOWN_{what.upper()}",
        f"there is no {what} {name!r}",
        fix=f"did you mean {near[0]!r}?" if near else f"`pyptoc {command}` lists them all",
    )
