"""Calls, attributes and subscripts inside a kernel."""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import operator
import sys
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.frontend.functions import NestedFunction, plain_function
from pypto.frontend.library import LibraryCalls
from pypto.frontend.scope import Scope, assigned_names, captured_names
from pypto.frontend.source import function_source
from pypto.frontend.structure import is_record_class
from pypto.frontend.values import describe, is_data, is_tensor
from pypto.ops import OPERATORS
from pypto.ops.core import Operator
from pypto.target.dtypes import DType

MAX_CALL_DEPTH = 32


class Calls(LibraryCalls):
    """Evaluates calls: operators, methods, helpers, and functions on static values."""

    @abstractmethod
    def elements(self, nodes: list[ast.expr]) -> list[Any]: ...

    def eval_Attribute(self, node: ast.Attribute) -> Any:
        value = self.evaluate(node.value)
        if not is_tensor(value):
            missing = object()
            found = self.compute(
                lambda owner: getattr(owner, node.attr, missing),
                [value],
                node,
                what=f".{node.attr}",
                lift=False,
            )
            if found is missing:
                known = [name for name in dir(value) if not name.startswith("_")]
                raise self.unknown_attribute(value, node, known)
            return found
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
        index = plain_index(index)
        if not is_data(value):
            part = self.compute(operator.getitem, [value, index], node, what="[]", lift=False)
            return self.scope.own(part) if isinstance(index, slice) else part
        if is_tensor(index) and index.dtype.kind == "b":
            raise self.failure(
                "DATA_DEPENDENT_INDEX",
                f"the index is {describe(index)}: how much it selects depends on its values",
                node.slice,
                "keep the shape and choose element by element with pypto.where(condition, a, b)",
            )
        try:
            return self.compute(lambda tensor: tensor[index], [value], node, what="[]")
        except CompileError as error:
            error.fix = error.fix or "use integers, slices, None and ..."
            raise

    def eval_Slice(self, node: ast.Slice) -> slice:
        bounds = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self.evaluate(part) for part in bounds))

    def eval_Call(self, node: ast.Call) -> Any:
        function = self.evaluate(node.func)
        arguments = self.elements(node.args)
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            given = value if keyword.arg is None else {keyword.arg: value}
            if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
                raise self.failure(
                    "BAD_UNPACK",
                    f"'**' needs a dictionary with names as keys, not {describe(value)}",
                    keyword.value,
                    "write the keyword arguments out",
                )
            twice = next((name for name in given if name in keywords), None)
            if twice is not None:
                raise self.failure(
                    "BAD_ARGUMENTS",
                    f"the keyword argument '{twice}' is given twice",
                    keyword.value,
                    "leave one of them out",
                )
            keywords |= given
        return self.call(function, arguments, keywords, node)

    def call(
        self, function: Any, arguments: list[Any], keywords: dict[str, Any], node: ast.AST
    ) -> Any:
        """Call what a kernel may call: operators, methods, kernels, helpers, static functions."""
        if isinstance(function, Operator) or is_tensor_method(function):
            lifted = {name: self.lift(value) for name, value in keywords.items()}
            name = getattr(function, "__name__", "the operator")
            values = [tuple(one) if isinstance(one, Iterator) else one for one in arguments]
            return self.compute(
                lambda *values: function(*map(self.lift, values), **lifted),
                values,
                node,
                what=name,
                lift=False,
            )
        if isinstance(function, DType):
            return self.compute(
                OPERATORS["cast"], [*arguments, function], node, what=function.public_name
            )
        if isinstance(function, functools.partial):
            keywords = {**function.keywords, **keywords}
            return self.call(function.func, [*function.args, *arguments], keywords, node)
        if isinstance(function, NestedFunction):
            return self.inline(function, arguments, keywords, node)
        if not callable(function):
            raise self.failure(
                "NOT_CALLABLE", f"{describe(function)} cannot be called", node, "call a function"
            )
        if isinstance(function, type) and is_record_class(function):
            return self.make_record(function, arguments, keywords, node)
        method = user_method(function)
        if method is not None:
            return self.call(method.__func__, [method.__self__, *arguments], keywords, node)
        with self.located(node):
            inner = plain_function(function)
        if isinstance(inner, FunctionType) and is_user_function(inner):
            return self.inline(inner, arguments, keywords, node)
        return self.call_static(function, arguments, keywords, node)

    def inline(
        self,
        function: FunctionType | NestedFunction,
        arguments: list[Any],
        keywords: dict[str, Any],
        node: ast.AST,
    ) -> Any:
        """Compile a helper function or another kernel in place of its call."""
        name = function.__name__
        if len(self.callers) >= MAX_CALL_DEPTH or function in self.callers:
            raise self.failure(
                "RECURSION",
                f"'{name}' calls itself, directly or not",
                node,
                "unroll the recursion into a 'for' loop over a static range",
            )
        nested = isinstance(function, NestedFunction)
        signature = function.signature if nested else inspect.signature(function)
        bound = self.bound(signature, name, arguments, keywords, node)
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                self.scope.own(bound.arguments[parameter.name])
        try:
            source = function.source if nested else function_source(function)
            scope = Scope(
                assigned_names(source.tree),
                function.scope.captured if nested else captured_names(function),
                outer=function.scope if nested else None,
                made=self.scope.made,
            )
            scope.locals.update(bound.arguments)
            return type(self)(self.door, source, scope, (*self.callers, function)).run()
        except CompileError as error:
            error.location = error.location or self.at(node)
            error.notes = (*error.notes, f"called from {self.at(node)}")
            raise


def is_tensor_method(function: Any) -> bool:
    """True for what ``tensor.name`` gives when ``name`` is an operator."""
    return isinstance(function, FunctionType) and function.__module__ == "pypto.ops.value"


def plain_index(index: Any) -> Any:
    """An index with Python's integers in place of NumPy's."""
    if isinstance(index, tuple):
        return tuple(map(plain_index, index))
    if isinstance(index, slice):
        return slice(*map(plain_index, (index.start, index.stop, index.step)))
    return index.item() if isinstance(index, np.integer) else index


def is_user_function(function: FunctionType) -> bool:
    """True for functions a kernel compiles from their text; libraries are called as they are."""
    root = (function.__module__ or "").partition(".")[0]
    return root != "numpy" and root not in sys.stdlib_module_names


def user_method(value: Any) -> MethodType | None:
    """The method that a call of ``value`` runs, when its class is a user's."""
    if hasattr(value, "__wrapped__"):  # a kernel, a cached function
        return None
    if isinstance(vars(type(value)).get("__call__"), FunctionType):
        value = value.__call__
    if not isinstance(value, MethodType) or not isinstance(value.__func__, FunctionType):
        return None
    ours = value.__func__.__module__.startswith("pypto.")
    return value if is_user_function(value.__func__) and not ours else None
