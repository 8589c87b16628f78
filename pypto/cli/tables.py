"""``pyptoc ops``, ``isa`` and ``soc``: what the tables of the compiler say."""

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


def isa_command(name: str, *, as_json: bool) -> None:
    """The instruction table, or the rows of one mnemonic (``vadd.f16``) or name (``vadd``)."""
    from pypto.target.instructions import INSTRUCTIONS, SCALARS

    if not name:
        rows = [(r.mnemonic, r.pipe.value, r.summary) for r in INSTRUCTIONS]
        rows += [(s.mnemonic, "s", s.summary) for s in SCALARS]
        if as_json:
            keys = ("mnemonic", "pipe", "meaning")
            print_json([dict(zip(keys, row, strict=True)) for row in rows])
        else:
            print_table(("mnemonic", "pipe", "meaning"), rows)
        return
    found = [r for r in INSTRUCTIONS if name in (r.mnemonic, r.op_name)]
    scalars = [s for s in SCALARS if s.mnemonic == name]
    if not found and not scalars:
        known = {r.op_name for r in INSTRUCTIONS} | {r.mnemonic for r in INSTRUCTIONS}
        raise unknown("instruction", "isa", name, known | {s.mnemonic for s in SCALARS})
    facts = [describe_instruction(row) for row in found]
    facts += [
        {"mnemonic": s.mnemonic, "pipe": "s", "meaning": s.summary, "operands": list(s.operands)}
        for s in scalars
    ]
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


def describe_instruction(row: Any) -> dict[str, Any]:
    """A row of the instruction table as plain values."""
    return {
        "mnemonic": row.mnemonic,
        "pipe": row.pipe.value,
        "meaning": row.summary,
        "family": row.family.name,
        "architectures": sorted(row.architectures),
        "facts": row.facts._asdict(),
        "fields": [
            {
                "field": field.name,
                "kind": f"{field.space}:{field.role}" if field.space else field.kind.value,
                "default": "required" if field.default is None else field.default,
                "range": "any" if field.high >= 2**62 else f"{field.low}..{field.high}",
                "align": field.align,
            }
            for field in row.fields
        ],
    }


def soc_command(name: str, other: str, *, as_json: bool) -> None:
    """All machines, the figures of one with their sources, or where two differ."""
    from pypto.target.soc import SOC_NAMES
    from pypto.target.soc import soc as load

    if not name:
        machines = [load(one) for one in SOC_NAMES]
        if as_json:
            print_json([figures(machine) for machine in machines])
            return
        rows = [
            (m.name, m.architecture, m.cube_cores, m.vector_cores, m.clock_mhz) for m in machines
        ]
        headings = ("name", "architecture", "cube cores", "vector cores", "MHz")
        print_table(headings, rows, numbers=headings[2:])
        return
    first = load(name)
    if other:
        second = load(other)
        left, right = figures(first), figures(second)
        different = [key for key in left if left[key] != right.get(key)]
        if as_json:
            print_json({key: [left[key], right.get(key)] for key in different})
        else:
            rows = [(key, left[key], right.get(key)) for key in different]
            print_table(("figure", first.name, second.name), rows)
        return
    if as_json:
        print_json(figures(first) | {"sources": first.sources})
    else:
        rows = [(k, v, first.sources.get(k, "")) for k, v in figures(first).items()]
        print_table(("figure", "value", "source"), rows)


def figures(machine: Any) -> dict[str, Any]:
    """Every number of a machine by its name; capacities as ``capacity.ub``."""
    plain: dict[str, Any] = {"name": machine.name, "architecture": machine.architecture}
    for key in machine.__dataclass_fields__:
        value = getattr(machine, key)
        if key in ("capacity", "usable"):
            plain |= {f"{key}.{space.value}": size for space, size in value.items()}
        elif key not in ("name", "architecture", "sources"):
            plain[key] = value
    return plain


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
