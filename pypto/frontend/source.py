"""The source of a Python function: its syntax tree, and where each node stands in the file."""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pypto.errors import CompileError, SourceLocation


@dataclass(frozen=True)
class FunctionSource:
    """A function's tree with its lines, and where in which file they begin.

    Lines of the tree count from 0.
    """

    tree: ast.FunctionDef
    file: str
    first_line: int
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.tree.name

    def location(self, node: ast.AST) -> SourceLocation:
        """Where a node stands; lines and columns count from 1."""
        line = getattr(node, "lineno", 0)
        column = self.column(line, getattr(node, "col_offset", 0))
        end = getattr(node, "end_col_offset", None)
        one_line = getattr(node, "end_lineno", line) == line
        end_column = self.column(line, end) if end is not None and one_line else None
        return SourceLocation(self.file, self.first_line + line, column, end_column)

    def column(self, line: int, offset: int) -> int:
        """The column of the character that begins at a byte of a line."""
        return len(self.lines[line].encode()[:offset].decode()) + 1

    def definition(self) -> SourceLocation:
        """The name in the ``def`` line."""
        start = self.location(self.tree)
        column = start.column + len("def ")
        return SourceLocation(start.file, start.line, column, column + len(self.name))

    def parameter(self, name: str) -> SourceLocation:
        """Where a parameter stands in the ``def`` line."""
        arguments = self.tree.args
        stars = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *stars]
        return self.location(next((one for one in listed if one.arg == name), self.tree))


def function_source(function: Callable[..., Any]) -> FunctionSource:
    """Read and parse the text of a function.

    Raises:
        CompileError: the text is not to be had (typed at a prompt, made by ``exec``) or is not a
            plain ``def``.
    """
    name = getattr(function, "__name__", repr(function))
    code = getattr(function, "__code__", function)
    try:
        lines, first_line = inspect.getsourcelines(code)
    except (OSError, TypeError) as error:
        raise CompileError(
            "NO_SOURCE",
            f"the source text of '{name}' cannot be read",
            fix="define the function with 'def' in a file; kernels are compiled from their text",
        ) from error
    first = next(line for line in lines if line.strip())
    indent = len(first) - len(first.lstrip())
    file = relative_path(inspect.getsourcefile(code) or "<unknown>")
    body = parsed("".join(lines), indented=indent > 0)
    place = SourceLocation(file, first_line, indent + 1)
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        kind = "async function" if inspect.iscoroutinefunction(function) else "lambda"
        article = "an" if kind[0] == "a" else "a"
        raise CompileError(
            "NOT_A_FUNCTION",
            f"'{name}' is not a plain function but {article} {kind}",
            location=place,
            fix="write it with 'def'; lambdas and async functions cannot be compiled",
        )
    source = FunctionSource(body[0], file, first_line, tuple(lines))
    if inspect.isgeneratorfunction(function):
        raise CompileError(
            "NOT_A_FUNCTION",
            f"'{name}' is a generator: it has a 'yield'",
            location=source.definition(),
            fix="return a tuple of tensors",
        )
    return source


def parsed(text: str, *, indented: bool) -> list[ast.stmt]:
    """The statements of a text, whose lines count from 0; none when it is not whole."""
    block = f"if True:\n{text}" if indented else f"\n{text}"
    try:
        body = ast.parse(block).body
    except SyntaxError:  # a lambda inside an expression, cut out of its line
        return []
    for statement in body:
        ast.increment_lineno(statement, -2)
    return body[0].body if isinstance(body[0], ast.If) else body


def relative_path(path: str) -> str:
    """The path as seen from the current directory when it lies below it."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
