"""What commands print: tables for people, JSON for programs; results on stdout only."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from pypto.errors import PyptoError

WIDTH_OF_A_PIPE = 1000  # columns when stdout is no terminal


def print_json(value: Any) -> None:
    """One JSON value; numbers JSON does not know become null."""
    print(json.dumps(finite(value), indent=2))


def finite(value: Any) -> Any:
    """The value with NaN and infinities as None."""
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def error_value(error: PyptoError) -> dict[str, Any]:
    """The parts of an error; ``location`` is ``file:line:column``."""
    location = None if error.location is None else str(error.location)
    return {"code": error.code, "message": error.message, "location": location, "fix": error.fix}


def console() -> Console:
    """Writes to stdout, in colour on a terminal only."""
    from rich.console import Console

    return Console(
        file=sys.stdout,
        width=None if sys.stdout.isatty() else WIDTH_OF_A_PIPE,
        highlight=False,
        emoji=False,
        markup=False,
    )


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Sequence[str] = ()
) -> None:
    """A compact table; the columns named in ``numbers`` are right-aligned."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    console().print(table)
