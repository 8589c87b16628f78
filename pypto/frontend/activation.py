"""One activation of a function: its source, its names, and where its operations go."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pypto.errors import CompileError, SourceLocation
from pypto.frontend.door import Door
from pypto.frontend.scope import Scope
from pypto.frontend.source import FunctionSource
from pypto.frontend.structure import map_leaves
from pypto.frontend.values import contains_data, describe, is_array, is_data, plain_array

# What computing on static values may raise; a RecursionError is the compiler's own.
STATIC_ERRORS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip


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

    def drawn(self, values: Iterable[Any], node: ast.AST) -> Iterator[Any]:
        """Items one by one: a list may grow meanwhile, and not all iterables end."""
        iterator, end = iter(values), object()

        def following(items: Iterator[Any]) -> Any:
            return next(items, end)

        while True:
            item = self.compute(following, [iterator], node, what="iteration", lift=False)
            if item is end:
                return
            yield item

    def operand(self, value: Any) -> Any:
        """A captured array as a constant; all else, lists of arrays too, as it is."""
        return self.lift(value) if is_data(value) else value

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
                return meaning(*map(self.operand, values)) if lift else meaning(*values)
            except RecursionError:
                raise
            except STATIC_ERRORS as error:
                operands = ", ".join(map(describe, values))
                said = f"{type(error).__name__}: {error}"
                if contains_data(list(values)) and not isinstance(error, LookupError):
                    said = f"{what} is not defined for {operands}"
                raise self.failure(
                    "STATIC_ERROR", said, node, f"the operands were {operands}"
                ) from error
