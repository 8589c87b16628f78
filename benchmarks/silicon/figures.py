"""What silicon measured, each with its public source.

``data/figures*.toml`` hold figures; ``data/golden_cycles.csv`` those of tile operators, whose
causes and exceptions stand beside it.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from pypto.target.soc import Soc, soc

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measurement of ``value`` microseconds or cycles, as ``unit`` says.

    Cycles are those of instructions, microseconds those of a whole task or, where ``pipe`` is
    given, those in which that pipe had an instruction under way, as a mean over the cores.

    ``prologue_us`` is what the source's figure holds beside launch and kernel. ``calibrates``
    names the constants that stand on the row, ``guessed`` what of its schedule is not public;
    such rows are shown but not counted. ``pipes``: percent of the task in which a pipe was at
    work. ``cause`` explains an error beyond 20 %, ``bar`` is the largest that passes.
    """

    id: str
    suite: str
    what: str
    soc: str
    value: float
    source: str
    unit: str = "us"
    pipe: str = ""
    prologue_us: float = 0.0
    calibrates: str = ""
    guessed: str = ""
    cause: str = ""
    bar: float | None = None
    pipes: Mapping[str, float] = field(default_factory=dict)

    @property
    def counted(self) -> bool:
        """Whether the error of the row says how good the model is."""
        return not self.calibrates and not self.guessed


@cache
def figures() -> dict[str, Figure]:
    """Every measurement by its id."""
    found: dict[str, Figure] = {}
    for path in sorted(DATA.glob("figures*.toml")):
        for name, entry in tomllib.loads(path.read_text()).items():
            if name in found:
                raise ValueError(f"{path.name} has {name} again")
            found[name] = Figure(id=name, **entry)
    return found | golden()


def golden() -> dict[str, Figure]:
    """The tile operators of ``golden_cycles.csv`` that a program stands for."""
    left_out = tomllib.loads((DATA / "golden_left_out.toml").read_text())
    causes = tomllib.loads((DATA / "golden_causes.toml").read_text())
    found = {}
    for entry in golden_rows():
        name = entry["test"].removesuffix("#0")
        if name in left_out or name.split(".")[0] in left_out:
            continue
        found[name] = Figure(
            id=name, suite="tile", what=f"{entry['instr']} of {entry['dtype']}, {entry['shape']}",
            soc="ascend910b3", unit="cycles", value=float(entry["cycles"]),
            source=f"pto-isa {entry['source']}", **causes.get(name, {}),
        )  # fmt: skip
    return found


def golden_rows() -> list[dict[str, str]]:
    """The table of tile operators, without the lines that say where it is from."""
    lines = (DATA / "golden_cycles.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@cache
def strict(machine: Soc) -> Soc:
    """A machine whose constants stand on documents and the calibration rows of one core only."""
    document = tomllib.loads((DATA / "strict.toml").read_text())
    values = {name: entry["value"] for name, entry in document.items()}
    return replace(machine, name=f"{machine.name} (strict)", **values)


def machine_of(figure: Figure) -> Soc:
    return soc(figure.soc)
