"""Runs a function's text on types: the form of its result, found without the IR."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.frontend.door import Computing, Door
from pypto.frontend.functions import plain_function
from pypto.frontend.scope import Scope, assigned_names, captured_names
from pypto.frontend.source import FunctionSource, function_source
from pypto.frontend.statements import Statements
from pypto.frontend.structure import is_record, is_structure, leaves, parts
from pypto.frontend.values import describe, is_data
from pypto.ops.core import TypesEvaluator
from pypto.ops.types import TensorType, tensor_type_of
from pypto.ops.value import Tensor, UnknownExtent


class _TypeFinder(TypesEvaluator):
    """Evaluates to types; arrays that meet tensors count as tensors."""

    def lift(self, operand: Any) -> Tensor:
        if hasattr(operand, "__array__"):
            return Tensor(self, tensor_type_of(np.asarray(operand)))
        return super().lift(operand)


def result_form(function: Callable[..., Any], types: Sequence[Any]) -> Any:
    """What a call returns, with tensors that are types only.

    ``types`` has one entry per parameter: a TensorType, or the value of a parameter that is static.
    """
    finder = _TypeFinder()
    return evaluate(function, types, Computing(finder), lambda _, type: Tensor(finder, type))


def evaluate(
    function: Callable[..., Any],
    types: Sequence[Any],
    door: Door,
    tensor: Callable[[str, TensorType], Tensor],
) -> Any:
    """What a function returns; ``tensor`` makes the value of a parameter.

    Raises:
        CompileError: at the line of the function that cannot be compiled.
    """
    try:
        function = plain_function(function)
    except CompileError as error:
        error.location = function_source(inspect.unwrap(function)).definition()
        raise
    source = function_source(function)
    scope = Scope(assigned_names(source.tree), captured_names(function))
    for name, type in zip(inspect.signature(function).parameters, types, strict=True):
        scope.locals[name] = tensor(name, type) if isinstance(type, TensorType) else type
    statements = Statements(door, source, scope)
    try:
        value = statements.run()
    except RecursionError as error:
        raise CompileError(
            "TOO_DEEP",
            f"'{source.name}' nests expressions or calls deeper than Python's stack",
            location=source.definition(),
            fix="store parts of the expression in variables",
        ) from error
    check_returned(value, source)
    with door.at(source.definition()):
        return statements.lift(value)


def check_returned(value: Any, source: FunctionSource) -> None:
    """Raise unless a value is a tensor or is made of tensors; records may also hold numbers."""

    def fail(message: str) -> CompileError:
        return CompileError(
            "BAD_RETURN",
            f"'{source.name}' returns {message}",
            location=source.definition(),
            fix="return a tensor or a tuple of tensors; pypto.full makes one of a number",
        )

    def visit(part: Any, where: str, static_allowed: bool) -> None:
        if is_data(part):
            return
        if isinstance(part, UnknownExtent):
            raise CompileError(
                "DYNAMIC_SHAPE",
                f"'{source.name}' returns an extent that is known at launch only{where}",
                location=source.definition(),
                fix="leave the field out: the caller reads it from the shape of the array",
            )
        if is_structure(part):
            named = is_record(part) or isinstance(part, dict)
            for name, inner in parts(part):
                place = f"{where}{name}" if where else f" as result{name}"
                visit(inner, place, static_allowed or named)
        elif not static_allowed:
            raise fail(f"{describe(part)}{where}, not a tensor")

    if is_structure(value) and not parts(value):
        raise CompileError(
            "BAD_RETURN",
            f"'{source.name}' returns an empty {type(value).__name__}",
            location=source.definition(),
            fix="return at least one tensor",
        )
    visit(value, "", False)
    if not any(map(is_data, leaves(value))):
        raise fail(f"{describe(value)} without a tensor in it")
