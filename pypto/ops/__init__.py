"""What an operator means: the catalogue, by family."""

from __future__ import annotations

from typing import Any

from pypto.ops import (
    activation,
    comparison,
    creation,
    elementwise,
    functions,
    linear,
    movement,
    normalisation,
    reduction,
)
from pypto.ops.core import ROWS, Operator

__all__ = [
    "OPERATORS",
    "ROWS",
    "Operator",
    "activation",
    "comparison",
    "creation",
    "elementwise",
    "functions",
    "linear",
    "movement",
    "normalisation",
    "reduction",
]


def _public_names() -> dict[str, Operator[..., Any]]:
    """Rows by every public name; an alias wins over a row's own name (``max`` reduces)."""
    names = dict(ROWS)
    taken: dict[str, str] = {}
    for row in ROWS.values():
        for alias in row.aliases:
            if alias in taken:
                raise TypeError(f"{alias} is an alias of {taken[alias]} and of {row.name}")
            taken[alias] = row.name
            names[alias] = row
    return names


OPERATORS: dict[str, Operator[..., Any]] = _public_names()
