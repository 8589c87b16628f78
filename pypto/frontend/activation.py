"""One activation of a function: its source, its names, and where its operations go."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pypto.errors import CompileError, SourceLocation
from pypto.frontend.door import Door
from pypto.frontend.scope import Scope
from pypto.frontend.source import FunctionSource
from pypto.frontend.structure import map_leaves
from pypto.frontend.values import contains_data, describe, is_array, plain_array


class Activation:
    """What evaluating needs: places of nodes, errors that carry them, arrays as constants."""

    def __init__(
        self,
        door: Door,
        source: FunctionSource,
        scope: Scope,
        callers: tuple[object, ...] = (),
    ) -> None:
        self.door = door
        self.source = source
        self.scope = scope
        self.callers = callers

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Any: ...

    @abstractmethod
    def run(self) -> Any: ...

    def at(self, node: ast.AST) -> SourceLocation:
        return self.source.location(node)

    def failure(self, code: str, message: str, node: ast.AST, fix: str) -> CompileError:
        return CompileError(code, message, location=self.at(node), fix=fix)

    @contextmanager
    def located(self, node: ast.AST) -> Iterator[None]:
        """Operations made inside get the place of ``node``; so do errors that have none."""
        location = self.at(node)
        try:
            with self.door.at(location):
                yield
        except CompileError as error:
            if error.location is None:
                error.location = location
            raise

    def lift(self, value: Any) -> Any:
        """Captured arrays as constants of the IR, also inside tuples, lists and records."""
        if not contains_data(value):
            return value
        return map_leaves(
            value,
            lambda leaf: (
                self.door.lift(plain_array(leaf, "a captured array")) if is_array(leaf) else leaf
            ),
        )

    def compute(
        self,
        meaning: Callable[..., Any],
        values: Sequence[Any],
        node: ast.AST,
        *,
        what: str,
        lift: bool = True,
    ) -> Any:
        """Apply an operator of Python; on tensors it becomes an operation. ``what`` names it.

        Raises:
            CompileError: ``STATIC_ERROR`` with what Python said of the values.
        """
        with self.located(node):
            try:
                return meaning(*map(self.lift, values)) if lift else meaning(*values)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                operands = ", ".join(map(describe, values))
                said = f"{type(error).__name__}: {error}"
                if contains_data(list(values)):
                    said = f"{what} is not defined for {operands}"
                raise self.failure(
                    "STATIC_ERROR", said, node, f"the operands were {operands}"
                ) from error
