"""Names inside a kernel: locals first, then what the function captured, then builtins."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from pypto.errors import CompileError, SourceLocation
from pypto.frontend.advice import BUILTIN_FIXES

# Builtins that make sense on values known while compiling.
STATIC_BUILTINS: dict[str, Any] = {
    name: getattr(builtins, name)
    for name in (
        "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "filter", "float",
        "frozenset", "int", "isinstance", "len", "list", "map", "max", "min", "pow", "range",
        "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip",
        "AssertionError", "Exception", "IndexError", "KeyError", "NotImplementedError",
        "RuntimeError", "TypeError", "ValueError",
    )
}  # fmt: skip
_INNER_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of functions and classes inside it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.arguments):
            continue
        yield node
        if not isinstance(node, _INNER_SCOPES):
            yield from own_nodes(node)


def target_names(generators: Iterable[ast.comprehension]) -> frozenset[str]:
    """The names of a comprehension's own."""
    nodes = (node for one in generators for node in ast.walk(one.target))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def assigned_names(tree: ast.FunctionDef) -> frozenset[str]:
    """The names a function assigns somewhere: as in Python, these are its own throughout."""
    comprehended = {
        name
        for node in own_nodes(tree)
        if isinstance(node, _COMPREHENSIONS)
        for generator in node.generators
        for name in map(id, ast.walk(generator.target))
    }
    found = {
        node.id
        for node in own_nodes(tree)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and id(node) not in comprehended
    }
    found |= {node.name for node in own_nodes(tree) if isinstance(node, ast.FunctionDef)}
    return frozenset(found)


def captured_names(function: FunctionType) -> dict[str, Any]:
    """Globals of a function and the variables of the functions around it that have a value."""
    captured = dict(function.__globals__)
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            captured[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            captured.pop(name, None)
    return captured


class Scope:
    """The names one activation of a function can see; ``outer`` is the scope it is nested in.

    ``assigned`` are the names it binds somewhere.
    """

    def __init__(
        self,
        assigned: frozenset[str],
        captured: dict[str, Any],
        *,
        outer: Scope | None = None,
        made: list[Any] | None = None,
    ) -> None:
        self.locals: dict[str, Any] = {}
        self.assigned = assigned
        self.captured = captured
        self.outer = outer
        self.function = self  # where ':=' binds
        # Lists made by the kernel and its helpers: these may change, captured ones may not.
        self.made: list[Any] = [] if made is None else made

    def of_comprehension(self, generators: Iterable[ast.comprehension]) -> Scope:
        """The scope of a comprehension inside this one."""
        names = target_names(generators)
        inner = Scope(names, self.captured, outer=self, made=self.made)
        inner.function = self.function
        return inner

    def lookup(self, name: str, location: SourceLocation) -> Any:
        """The value of a name.

        Raises:
            CompileError: ``UNKNOWN_NAME``, with the nearest known name; ``UNASSIGNED_NAME`` when
                the function assigns it elsewhere.
        """
        scope: Scope | None = self
        while scope is not None:
            if name in scope.locals:
                return scope.locals[name]
            if name in scope.assigned:
                raise CompileError(
                    "UNASSIGNED_NAME",
                    f"'{name}' has no value here: no assignment to it was reached",
                    location=location,
                    fix="assign it on every path before this line",
                )
            scope = scope.outer
        for table in (self.captured, STATIC_BUILTINS):
            if name in table:
                return table[name]
        if hasattr(builtins, name):
            raise CompileError(
                "UNSUPPORTED_BUILTIN",
                f"builtin '{name}' cannot be used inside a kernel",
                location=location,
                fix=BUILTIN_FIXES.get(name, "compute it outside and capture the value"),
            )
        near = difflib.get_close_matches(name, self.known(), n=1)
        fix = f"did you mean '{near[0]}'?" if near else "assign it before this line, or import it"
        raise CompileError(
            "UNKNOWN_NAME", f"name '{name}' is not defined", location=location, fix=fix
        )

    def known(self) -> list[str]:
        """Every name that has a value here, apart from builtins."""
        around = self.outer.known() if self.outer else list(self.captured)
        return [*self.locals, *(name for name in around if not name.startswith("__"))]

    def own(self, value: Any) -> Any:
        """Remember a list, dictionary or set as made by the kernel."""
        if isinstance(value, list | dict | set):
            self.made.append(value)
        return value

    def owns(self, value: Any) -> bool:
        """Whether a list or dictionary was made by the kernel."""
        return any(value is item for item in self.made)
