"""The source of a Python function: its syntax tree, and where each node stands in the file."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pypto.errors import CompileError, SourceLocation


@dataclass(frozen=True)
class FunctionSource:
    """A function's tree with the file, line and column its text begins at."""

    function: Callable[..., Any]
    tree: ast.FunctionDef
    file: str
    first_line: int
    indent: int

    @property
    def name(self) -> str:
        return self.tree.name

    def location(self, node: ast.AST) -> SourceLocation:
        """Where a node stands; lines and columns count from 1."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0) + self.indent + 1
        end = getattr(node, "end_col_offset", None)
        one_line = getattr(node, "end_lineno", line) == line
        end_column = end + self.indent + 1 if end is not None and one_line else None
        return SourceLocation(self.file, self.first_line + line - 1, column, end_column)

    def definition(self) -> SourceLocation:
        """The name in the ``def`` line."""
        start = self.location(self.tree)
        column = start.column + len("def ")
        return SourceLocation(start.file, start.line, column, column + len(self.name))


def function_source(function: Callable[..., Any]) -> FunctionSource:
    """Read and parse the text of a function.

    Raises:
        CompileError: the text is not to be had (typed at a prompt, made by ``exec``) or is not a
            plain ``def``.
    """
    name = getattr(function, "__name__", repr(function))
    try:
        lines, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise CompileError(
            "NO_SOURCE",
            f"the source text of '{name}' cannot be read",
            fix="define the function with 'def' in a file; kernels are compiled from their text",
        ) from error
    text = "".join(lines)
    dedented = textwrap.dedent(text)
    first = next(line for line in lines if line.strip())
    indent = len(first) - len(first.lstrip())
    file = relative_path(inspect.getsourcefile(function) or "<unknown>")
    try:
        body = ast.parse(dedented).body
    except SyntaxError:  # a lambda inside an expression, cut out of its line
        body = []
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise CompileError(
            "NOT_A_FUNCTION",
            f"'{name}' is not a plain function",
            location=SourceLocation(file, first_line, indent + 1),
            fix="write it with 'def'; lambdas and async functions cannot be compiled",
        )
    return FunctionSource(function, body[0], file, first_line, indent)


def relative_path(path: str) -> str:
    """The path as seen from the current directory when it lies below it."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
