"""What silicon measured: the rows of ``data/figures*.toml``, each with its public source."""

from __future__ import annotations

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
    return found


@cache
def strict(machine: Soc) -> Soc:
    """A machine whose constants stand on documents and the calibration rows of one core only."""
    document = tomllib.loads((DATA / "strict.toml").read_text())
    values = {name: entry["value"] for name, entry in document.items()}
    return replace(machine, name=f"{machine.name} (strict)", **values)


def machine_of(figure: Figure) -> Soc:
    return soc(figure.soc)
