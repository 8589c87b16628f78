"""Names inside a kernel: locals first, then what the function captured, then builtins."""

from __future__ import annotations

import builtins
import difflib
import inspect
from collections.abc import Callable
from typing import Any

from pypto.errors import CompileError, SourceLocation

# Builtins that make sense on values known while compiling.
STATIC_BUILTINS: dict[str, Any] = {
    name: getattr(builtins, name)
    for name in (
        "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "False", "float", "int",
        "isinstance", "len", "list", "max", "min", "None", "pow", "range", "reversed", "round",
        "slice", "sorted", "str", "sum", "True", "tuple", "zip",
    )
    if hasattr(builtins, name)
}  # fmt: skip


class Scope:
    """The names one activation of a function can see."""

    def __init__(self, function: Callable[..., Any], made: list[Any] | None = None) -> None:
        variables = inspect.getclosurevars(function)
        self.locals: dict[str, Any] = {}
        # Lists made by the kernel and its helpers: these may change, captured ones may not.
        self.made: list[Any] = [] if made is None else made
        self.captured: dict[str, Any] = {**function.__globals__, **variables.nonlocals}

    def lookup(self, name: str, location: SourceLocation) -> Any:
        """The value of a name.

        Raises:
            CompileError: ``UNKNOWN_NAME``, with the nearest known name.
        """
        for table in (self.locals, self.captured, STATIC_BUILTINS):
            if name in table:
                return table[name]
        if hasattr(builtins, name):
            raise CompileError(
                "UNSUPPORTED_BUILTIN",
                f"builtin '{name}' cannot be used inside a kernel",
                location=location,
                fix="compute it outside and capture the value",
            )
        known = [*self.locals, *(k for k in self.captured if not k.startswith("__"))]
        near = difflib.get_close_matches(name, known, n=1)
        fix = f"did you mean '{near[0]}'?" if near else "assign it before this line, or import it"
        raise CompileError(
            "UNKNOWN_NAME", f"name '{name}' is not defined", location=location, fix=fix
        )

    def own(self, items: list[Any]) -> list[Any]:
        """Remember a list as made by the kernel."""
        self.made.append(items)
        return items

    def owns(self, value: Any) -> bool:
        """Whether a list was made by the kernel."""
        return any(value is item for item in self.made)
