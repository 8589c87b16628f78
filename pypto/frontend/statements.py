"""Statements of a kernel, executed on values known while compiling and on tensors of the IR."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from pypto.errors import CompileError
from pypto.frontend.expressions import Expressions

MAX_UNROLLED = 1024


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
        if result is None:
            raise CompileError(
                "MISSING_RETURN",
                f"'{self.source.name}' ends without returning a value",
                location=self.source.definition(),
                fix="end every path with 'return' and the result tensor",
            )
        return result.value

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
        word = type(node).__name__
        fixes = {
            "While": "use 'for' over a range known while compiling",
            "Try": "check shapes with 'if'; kernels cannot catch exceptions",
            "With": "move the context manager outside the kernel",
            "Import": "import at the top of the file",
            "ImportFrom": "import at the top of the file",
            "FunctionDef": "define the helper outside the kernel and call it",
            "ClassDef": "define the class outside the kernel",
            "Global": "return the value instead",
            "Nonlocal": "return the value instead",
            "Delete": "just stop using the name",
            "Raise": "use 'assert' on values known while compiling",
        }
        code = "WHILE_LOOP" if word == "While" else "UNSUPPORTED_STATEMENT"
        shown = {"While": "while", "FunctionDef": "nested def", "ClassDef": "class"}
        return CompileError(
            code,
            f"'{shown.get(word, word.lower())}' is not supported inside a kernel",
            location=self.at(node),
            fix=fixes.get(word, "move it outside the kernel"),
        )

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
        if not isinstance(node.target, ast.Name):
            raise self.bad_target(node.target)
        current = self.scope.lookup(node.target.id, self.at(node.target))
        value = self.binary(node.op, current, self.evaluate(node.value), node)
        self.scope.locals[node.target.id] = value

    def do_Assert(self, node: ast.Assert) -> None:
        if self.truth(node.test, "assert"):
            return
        message = self.evaluate(node.msg) if node.msg is not None else "assertion failed"
        raise CompileError("ASSERTION", str(message), location=self.at(node))

    def do_If(self, node: ast.If) -> Returned | None:
        return self.block(node.body if self.truth(node.test, "if") else node.orelse)

    def do_For(self, node: ast.For) -> Returned | None:
        values = self.static_items(node.iter)
        if len(values) > MAX_UNROLLED:
            raise CompileError(
                "LOOP_TOO_LONG",
                f"the loop runs {len(values)} times; a kernel unrolls at most {MAX_UNROLLED}",
                location=self.at(node.iter),
                fix="use a whole-tensor operation instead of a loop over elements",
            )
        for value in values:
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

    def do_Break(self, node: ast.Break) -> None:
        raise _Break

    def do_Continue(self, node: ast.Continue) -> None:
        raise _Continue
