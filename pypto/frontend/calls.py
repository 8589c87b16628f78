"""Calls, attributes and subscripts inside a kernel."""

from __future__ import annotations

import ast
import difflib
import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FunctionType
from typing import Any, Protocol

import numpy as np

from pypto.errors import CompileError, SourceLocation
from pypto.frontend.scope import Scope
from pypto.frontend.source import FunctionSource, function_source
from pypto.frontend.values import contains_data, describe, is_array, is_data, is_tensor
from pypto.ops import OPERATORS
from pypto.ops.core import Operator
from pypto.ops.value import Tensor
from pypto.target.dtypes import DType

MAX_CALL_DEPTH = 32
# Methods that change their object; only lists made inside the kernel may be changed.
MUTATORS = ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort", "update")


class Door(Protocol):
    """Where operators go: the Builder that makes IR of them, or an evaluator that computes."""

    def at(self, location: SourceLocation | None) -> AbstractContextManager[None]:
        """Operators called inside belong to ``location``; errors get it."""
        ...

    def lift(self, value: Any) -> Tensor:
        """An array as a tensor that operators go here with."""
        ...


class Calls:
    """One activation of a function: its source, its names, and the door its operators take."""

    def __init__(
        self,
        builder: Door,
        source: FunctionSource,
        scope: Scope,
        callers: tuple[Callable[..., Any], ...] = (),
    ) -> None:
        self.builder = builder
        self.source = source
        self.scope = scope
        self.callers = callers

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Any: ...

    @abstractmethod
    def elements(self, nodes: list[ast.expr]) -> list[Any]: ...

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
            with self.builder.at(location):
                yield
        except CompileError as error:
            if error.location is None:
                error.location = location
            raise

    def lift(self, value: Any) -> Any:
        """Captured arrays as constants of the IR, also inside tuples and lists."""
        if isinstance(value, tuple | list):
            return type(value)(map(self.lift, value)) if contains_data(value) else value
        if is_array(value):
            return self.builder.lift(np.asarray(value))
        return value

    def compute(
        self,
        meaning: Callable[..., Any],
        values: Sequence[Any],
        node: ast.AST,
        *,
        lift: bool = True,
    ) -> Any:
        """Apply an operator of Python; on tensors it becomes an operation.

        Raises:
            CompileError: ``STATIC_ERROR`` with what Python said of the values.
        """
        with self.located(node):
            try:
                return meaning(*map(self.lift, values)) if lift else meaning(*values)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise self.failure(
                    "STATIC_ERROR",
                    f"{type(error).__name__}: {error}",
                    node,
                    "the operands were " + ", ".join(map(describe, values)),
                ) from error

    def eval_Attribute(self, node: ast.Attribute) -> Any:
        value = self.evaluate(node.value)
        if not is_tensor(value):
            if not hasattr(value, node.attr):
                known = [name for name in dir(value) if not name.startswith("_")]
                raise self.unknown_attribute(value, node, known)
            return getattr(value, node.attr)
        with self.located(node):
            try:
                return getattr(value, node.attr)
            except AttributeError as error:
                known = [*OPERATORS, "shape", "dtype", "ndim", "T"]
                raise self.unknown_attribute(value, node, known) from error

    def unknown_attribute(
        self, value: Any, node: ast.Attribute, known: Sequence[str]
    ) -> CompileError:
        near = difflib.get_close_matches(node.attr, known, n=1)
        fix = f"did you mean '{near[0]}'?" if near else "list the operators with 'pyptoc ops'"
        owner = getattr(value, "__name__", None) or describe(value)
        return self.failure("UNKNOWN_NAME", f"{owner} has no attribute '{node.attr}'", node, fix)

    def eval_Subscript(self, node: ast.Subscript) -> Any:
        value, index = self.evaluate(node.value), self.evaluate(node.slice)
        if is_data(value):
            return self.compute(lambda tensor: tensor[index], [value], node)
        return self.compute(lambda items, key: items[key], [value, index], node, lift=False)

    def eval_Slice(self, node: ast.Slice) -> slice:
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self.evaluate(part) for part in parts))

    def eval_Call(self, node: ast.Call) -> Any:
        function = self.evaluate(node.func)
        arguments = self.elements(node.args)
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is None:
                keywords.update(value)
            else:
                keywords[keyword.arg] = value
        return self.call(function, arguments, keywords, node)

    def call(
        self, function: Any, arguments: list[Any], keywords: dict[str, Any], node: ast.Call
    ) -> Any:
        """Call what a kernel may call: operators, methods, kernels, helpers, static functions."""
        if isinstance(function, Operator) or is_tensor_method(function):
            lifted = {name: self.lift(value) for name, value in keywords.items()}
            return self.compute(lambda *values: function(*values, **lifted), arguments, node)
        if isinstance(function, DType):
            return self.compute(OPERATORS["cast"], [*arguments, function], node)
        inner = inspect.unwrap(function) if callable(function) else function
        if isinstance(inner, FunctionType) and is_user_function(inner):
            return self.inline(inner, arguments, keywords, node)
        if not callable(function):
            raise self.failure(
                "NOT_CALLABLE", f"{describe(function)} cannot be called", node, "call a function"
            )
        return self.call_static(function, arguments, keywords, node)

    def call_static(
        self, function: Any, arguments: list[Any], keywords: dict[str, Any], node: ast.Call
    ) -> Any:
        """Call a function of Python or a library on values known while compiling."""
        name = getattr(function, "__name__", str(function))
        module = getattr(function, "__module__", None) or ""
        if module not in ("builtins", "") and contains_data([*arguments, *keywords.values()]):
            fix = f"use pypto.{name}" if name in OPERATORS else "compute it outside the kernel"
            raise self.failure(
                "UNSUPPORTED_CALL", f"{module}.{name} cannot take a tensor", node, fix
            )
        owner = getattr(function, "__self__", None)
        if name in MUTATORS and not self.scope.owns(owner):
            raise self.failure(
                "CAPTURED_MUTATION",
                f"'{name}' would change an object made outside the kernel",
                node,
                "build a new list inside the kernel",
            )
        return self.compute(
            lambda *values: function(*values, **keywords), arguments, node, lift=False
        )

    def inline(
        self,
        function: FunctionType,
        arguments: list[Any],
        keywords: dict[str, Any],
        node: ast.Call,
    ) -> Any:
        """Compile a helper function or another kernel in place of its call."""
        if len(self.callers) >= MAX_CALL_DEPTH or function in self.callers:
            raise self.failure(
                "RECURSION",
                f"'{function.__name__}' calls itself, directly or not",
                node,
                "unroll the recursion into a 'for' loop over a static range",
            )
        try:
            bound = inspect.signature(function).bind(*arguments, **keywords)
        except TypeError as error:
            raise self.failure(
                "BAD_ARGUMENTS",
                f"{function.__name__}: {error}",
                node,
                f"call it as {function.__name__}{inspect.signature(function)}",
            ) from error
        bound.apply_defaults()
        with self.located(node):
            scope = Scope(function, self.scope.made)
        scope.locals.update(bound.arguments)
        source = function_source(function)
        try:
            return type(self)(self.builder, source, scope, (*self.callers, function)).run()
        except CompileError as error:
            error.notes = (*error.notes, f"called from {self.at(node)}")
            raise


def is_tensor_method(function: Any) -> bool:
    """True for what ``tensor.name`` gives when ``name`` is an operator."""
    return getattr(function, "__module__", None) == "pypto.ops.value"


def is_user_function(function: FunctionType) -> bool:
    """True for functions a kernel compiles from their text; libraries are called as they are."""
    root = (function.__module__ or "").partition(".")[0]
    return root not in ("math", "numpy", "operator", "functools", "itertools", "builtins")
