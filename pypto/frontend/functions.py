"""Functions a kernel may call by their text: helpers, other kernels, functions inside functions."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from pypto.errors import CompileError
from pypto.frontend.scope import Scope
from pypto.frontend.source import FunctionSource


@dataclass(eq=False)
class NestedFunction:
    """A function made inside a kernel; it sees the variables around it as they are when called."""

    source: FunctionSource
    signature: inspect.Signature
    scope: Scope
    inline: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return self.source.name

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Called by a builtin such as ``map`` or ``sorted``."""
        return self.inline(self, list(arguments), keywords, self.source.tree)


def plain_function(function: Any) -> FunctionType:
    """The function behind a kernel or a cached function.

    Raises:
        CompileError: ``DECORATED_FUNCTION`` when a decorator has put code of its own around it.
    """
    while not isinstance(function, FunctionType) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    inner = getattr(function, "__wrapped__", None)
    if isinstance(function, FunctionType) and inner is not None:
        raise CompileError(
            "DECORATED_FUNCTION",
            f"'{function.__name__}' is wrapped by a decorator, whose code a kernel does not see",
            fix="call the decorator's work inside the function, or leave the decorator out",
        )
    return function


def signature_of(tree: ast.arguments, evaluate: Callable[[ast.expr], Any]) -> inspect.Signature:
    """The signature of a function inside a kernel, its defaults evaluated."""
    kinds = inspect.Parameter
    positional = [*tree.posonlyargs, *tree.args]
    missing = len(positional) - len(tree.defaults)
    parameters = []
    for index, argument in enumerate(positional):
        kind = (
            kinds.POSITIONAL_ONLY if index < len(tree.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD
        )
        default = (
            inspect.Parameter.empty if index < missing else evaluate(tree.defaults[index - missing])
        )
        parameters.append(inspect.Parameter(argument.arg, kind, default=default))
    if tree.vararg is not None:
        parameters.append(inspect.Parameter(tree.vararg.arg, kinds.VAR_POSITIONAL))
    for argument, node in zip(tree.kwonlyargs, tree.kw_defaults, strict=True):
        default = inspect.Parameter.empty if node is None else evaluate(node)
        parameters.append(inspect.Parameter(argument.arg, kinds.KEYWORD_ONLY, default=default))
    if tree.kwarg is not None:
        parameters.append(inspect.Parameter(tree.kwarg.arg, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def call_form(name: str, signature: inspect.Signature) -> str:
    """How a function is called, without its annotations: ``scaled(x, by=2.0)``."""
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    return f"{name}{inspect.Signature(plain)}"
