"""Statements of a kernel, executed on values known while compiling and on tensors of the IR."""

from __future__ import annotations

import ast
from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

from pypto.errors import CompileError, PyptoError
from pypto.frontend import advice
from pypto.frontend.displays import MAX_UNROLLED
from pypto.frontend.expressions import Expressions
from pypto.frontend.scope import own_nodes
from pypto.frontend.values import contains_data, describe


@dataclass(frozen=True)
class Returned:
    """The value of a ``return`` statement on its way out of the function."""

    value: Any


class _Break(Exception):
    """Leaves the innermost unrolled loop."""


class _Continue(Exception):
    """Goes on with the innermost unrolled loop."""


class Statements(Expressions):
    """Executes the body of one activation of a function."""

    def run(self) -> Any:
        """The function's value.

        Raises:
            CompileError: ``MISSING_RETURN`` when a path ends without one.
        """
        result = self.block(self.source.tree.body)
        if result is None and self.callers and not self.returns_something():
            return None
        if result is None:
            raise CompileError(
                "MISSING_RETURN",
                f"'{self.source.name}' ends without returning a value",
                location=self.source.definition(),
                fix="end every path with 'return' and the result tensor",
            )
        return result.value

    def returns_something(self) -> bool:
        return any(isinstance(node, ast.Return) for node in own_nodes(self.source.tree))

    def block(self, statements: list[ast.stmt]) -> Returned | None:
        for statement in statements:
            handler = getattr(self, f"do_{type(statement).__name__}", None)
            if handler is None:
                raise self.unsupported(statement)
            result = handler(statement)
            if result is not None:
                return result
        return None

    def unsupported(self, node: ast.stmt) -> CompileError:
        kind = type(node).__name__
        word, fix = advice.STATEMENTS.get(kind, (kind.lower(), "move it outside the kernel"))
        code = "WHILE_LOOP" if word == "while" else "UNSUPPORTED_STATEMENT"
        return self.failure(code, f"'{word}' is not supported inside a kernel", node, fix)

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.failure(
                "DECORATED_FUNCTION",
                f"'{node.name}' has a decorator; a function inside a kernel cannot have one",
                node.decorator_list[0],
                "define the decorated function outside the kernel",
            )
        generating = (n for n in own_nodes(node) if isinstance(n, ast.Yield | ast.YieldFrom))
        place = next(generating, None)
        if place is not None:
            raise self.failure(
                "NOT_A_FUNCTION",
                f"'{node.name}' is a generator: it has a 'yield'",
                place,
                "return a tuple of tensors",
            )
        self.scope.locals[node.name] = self.nested(node)

    def do_Raise(self, node: ast.Raise) -> None:
        error = None if node.exc is None else self.evaluate(node.exc)
        if isinstance(error, type) and issubclass(error, Exception):
            error = error()
        if not isinstance(error, Exception):
            raise self.failure(
                "UNSUPPORTED_STATEMENT",
                "'raise' needs an exception with its message",
                node,
                'write raise ValueError("what is wrong")',
            )
        said = error.message if isinstance(error, PyptoError) else str(error)
        name = type(error).__name__
        raise CompileError(
            "RAISED", f"{name}: {said}" if said else name, location=self.at(node)
        ) from error

    def do_Return(self, node: ast.Return) -> Returned:
        if node.value is None:
            raise CompileError(
                "MISSING_RETURN",
                f"'{self.source.name}' returns nothing here",
                location=self.at(node),
                fix="return the result tensor",
            )
        return Returned(self.evaluate(node.value))

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring has no effect
            self.evaluate(node.value)

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        self.assign_augmented(node)

    def do_Assert(self, node: ast.Assert) -> None:
        if self.truth(node.test, "assert"):
            return
        message = self.evaluate(node.msg) if node.msg is not None else "assertion failed"
        said = describe(message) if contains_data(message) else str(message)
        raise CompileError("ASSERTION", said, location=self.at(node))

    def do_If(self, node: ast.If) -> Returned | None:
        return self.block(node.body if self.truth(node.test, "if") else node.orelse)

    def do_For(self, node: ast.For) -> Returned | None:
        values = self.iterable(node.iter)
        if isinstance(values, Sized) and len(values) > MAX_UNROLLED:
            raise self.too_long(len(values), node.iter)
        for count, value in enumerate(self.drawn(values, node.iter)):
            if count == MAX_UNROLLED:
                raise self.too_long(f"more than {MAX_UNROLLED}", node.iter)
            self.assign(node.target, value)
            try:
                result = self.block(node.body)
            except _Continue:
                continue
            except _Break:
                return None
            if result is not None:
                return result
        return self.block(node.orelse)

    def do_While(self, node: ast.While) -> None:
        self.truth(node.test, "while")
        raise self.unsupported(node)

    def do_Break(self, node: ast.Break) -> None:
        raise _Break

    def do_Continue(self, node: ast.Continue) -> None:
        raise _Continue
