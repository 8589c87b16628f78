"""What silicon measured: the rows of ``data/figures.toml``, each with its public source."""

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

    ``prologue_us`` is what the source's figure holds beside launch and kernel. ``calibrates``
    names the constants that stand on the row, ``guessed`` what of its schedule is not public;
    such rows are shown but not counted. ``pipes``: percent of the task in which a pipe was at
    work. ``cause`` explains an error beyond 20 %.
    """

    id: str
    suite: str
    what: str
    soc: str
    value: float
    source: str
    unit: str = "us"
    prologue_us: float = 0.0
    calibrates: str = ""
    guessed: str = ""
    cause: str = ""
    pipes: Mapping[str, float] = field(default_factory=dict)

    @property
    def counted(self) -> bool:
        """Whether the error of the row says how good the model is."""
        return not self.calibrates and not self.guessed


@cache
def figures() -> dict[str, Figure]:
    """Every measurement by its id."""
    document = tomllib.loads((DATA / "figures.toml").read_text())
    return {name: Figure(id=name, **entry) for name, entry in document.items()}


@cache
def strict(machine: Soc) -> Soc:
    """A machine whose constants stand on documents and the calibration rows of one core only."""
    document = tomllib.loads((DATA / "strict.toml").read_text())
    values = {name: entry["value"] for name, entry in document.items()}
    return replace(machine, name=f"{machine.name} (strict)", **values)


def machine_of(figure: Figure) -> Soc:
    return soc(figure.soc)
