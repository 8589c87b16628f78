"""``pyptoc soc``: the machines, one with its figures and their sources, or where two differ."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pypto.cli.output import print_json, print_table
from pypto.target.memory import Space
from pypto.target.soc import SOC_NAMES, Soc, soc

BYTES = "bytes"
UNITS: dict[str, str] = {f.name: f.metadata["unit"] for f in fields(Soc) if f.metadata}
# What the figures come to, by the name it has in tables and JSON.
DERIVED = {"peak_f16_tflops": "TFLOPS", "hbm_gb_per_second": "GB/s"}
SIZES = {"UB": Space.UB, "L1": Space.L1, "L0C": Space.L0C}


def soc_command(name: str, other: str, *, as_json: bool) -> None:
    """All machines, the figures of one with their sources, or where two differ."""
    if not name:
        list_machines(as_json=as_json)
    elif other:
        compare_machines(soc(name), soc(other), as_json=as_json)
    else:
        show_machine(soc(name), as_json=as_json)


def list_machines(*, as_json: bool) -> None:
    machines = [soc(name) for name in SOC_NAMES]
    if as_json:
        print_json([figures(machine) for machine in machines])
        return
    rows = [
        (
            one.name,
            one.architecture,
            cores(one),
            one.clock_mhz,
            round(one.peak_tflops, 1),
            *(f"{one.capacity[space] >> 10} KB" for space in SIZES.values()),
            f"{one.l2_bytes >> 20} MB",
            round(one.hbm_gb_per_second),
        )
        for one in machines
    ]
    headings = ("name", "architecture", "cores", "MHz", "f16 TFLOPS", *SIZES, "L2", "HBM GB/s")
    print_table(headings, rows, numbers=("MHz", "f16 TFLOPS", *SIZES, "L2", "HBM GB/s"))


def show_machine(machine: Soc, *, as_json: bool) -> None:
    """Every figure with its unit, its source and, where it is that of a base, the SoC it is of."""
    if as_json:
        origins = {"sources": machine.sources, "inherited": machine.inherited}
        print_json(figures(machine) | origins)
        return
    rows = [
        (key, value, unit_of(key), machine.inherited.get(key, ""), machine.sources.get(key, ""))
        for key, value in figures(machine).items()
    ]
    print_table(("figure", "value", "unit", "from", "source"), rows)


def compare_machines(first: Soc, second: Soc, *, as_json: bool) -> None:
    """The figures in which two machines differ; what one has not is null, or a dash."""
    left, right = figures(first), figures(second)
    pairs = {key: [left.get(key), right.get(key)] for key in left | right}
    different = {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
    if as_json:
        print_json(different)
        return
    rows = [
        (key, *("-" if value is None else value for value in pair), unit_of(key))
        for key, pair in different.items()
    ]
    print_table(("figure", first.name, second.name, "unit"), rows)


def cores(machine: Soc) -> str:
    """``24 cube, 48 vector``."""
    return ", ".join(f"{machine.cores(kind)} {kind}" for kind in machine.core_kinds())


def unit_of(key: str) -> str:
    """The unit of a figure by its key; nothing for a name."""
    if "." in key:
        return BYTES
    return UNITS.get(key) or DERIVED.get(key, "")


def figures(machine: Soc) -> dict[str, Any]:
    """Every number a machine has by its name, capacities as ``capacity.ub``; what they come to."""
    plain: dict[str, Any] = {"name": machine.name, "architecture": machine.architecture}
    for key in UNITS:
        if key in machine.sources:
            plain[key] = getattr(machine, key)
    for title, sizes in (("capacity", machine.capacity), ("usable", machine.usable)):
        plain |= {f"{title}.{space}": size for space, size in sizes.items() if size}
    peaks = (machine.peak_tflops, machine.hbm_gb_per_second)
    return plain | {key: round(peak, 1) for key, peak in zip(DERIVED, peaks, strict=True)}
