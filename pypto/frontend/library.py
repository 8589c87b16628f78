"""Calls of builtins, libraries and records: static values are computed, tensors mostly refused."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
from abc import abstractmethod
from types import FunctionType, MethodType, ModuleType
from typing import Any

from pypto.errors import CompileError
from pypto.frontend import advice
from pypto.frontend.activation import Activation
from pypto.frontend.functions import call_form
from pypto.frontend.structure import is_record
from pypto.frontend.values import contains_data, describe, is_array, is_data
from pypto.ops.value import Tensor, UnknownExtent

# Methods that change their object; only lists made inside the kernel may be changed.
MUTATORS = (
    "add", "append", "clear", "discard", "extend", "fill", "insert", "pop", "popitem", "put",
    "remove", "resize", "reverse", "setdefault", "sort", "update",
)  # fmt: skip
CONTAINERS = (tuple, list, dict, set, str)


class LibraryCalls(Activation):
    """Calls what is not compiled from its text."""

    @abstractmethod
    def call(
        self, function: Any, arguments: list[Any], keywords: dict[str, Any], node: ast.AST
    ) -> Any: ...

    def make_record(
        self, kind: type, arguments: list[Any], keywords: dict[str, Any], node: ast.AST
    ) -> Any:
        """A named tuple or a dataclass of tensors and static values."""
        if dataclasses.is_dataclass(kind):
            own_code = hasattr(kind, "__post_init__") or not kind.__dataclass_params__.init  # pyright: ignore[reportAttributeAccessIssue]
            if own_code and contains_data([arguments, keywords]):
                raise self.failure(
                    "UNSUPPORTED_CALL",
                    f"{kind.__name__} runs code of its own when it is made",
                    node,
                    "leave out __post_init__ and __init__; compute the fields in the kernel",
                )
        try:
            return kind(
                *map(self.lift, arguments), **{k: self.lift(v) for k, v in keywords.items()}
            )
        except TypeError as error:
            raise self.failure(
                "BAD_ARGUMENTS",
                str(error).replace("__new__()", f"{kind.__name__}()"),
                node,
                f"call it as {call_form(kind.__name__, inspect.signature(kind))}",
            ) from error

    def call_static(
        self, function: Any, arguments: list[Any], keywords: dict[str, Any], node: ast.AST
    ) -> Any:
        """Call a function of Python or a library on values known while compiling."""
        name = getattr(function, "__name__", str(function))
        owner = getattr(function, "__self__", None)
        is_builtin = getattr(builtins, name, None) is function
        if is_builtin and any(map(is_data, arguments)):
            return self.call_builtin(name, arguments, keywords, node)
        of_container = isinstance(owner, CONTAINERS) or is_record(owner)
        allowed = is_builtin or of_container or function is dataclasses.replace
        if contains_data([arguments, keywords]) and not allowed:
            raise self.refusal(function, name, owner, node)
        is_method = owner is not None and not isinstance(owner, ModuleType)
        if name in MUTATORS and is_method and not self.scope.owns(owner):
            raise self.failure(
                "CAPTURED_MUTATION",
                f"'{name}' would change an object made outside the kernel",
                node,
                "build a new list inside the kernel",
            )
        if function is isinstance:
            function = is_instance
        if is_builtin:
            arguments = [self.callback(value, node) for value in arguments]
            keywords = {key: self.callback(value, node) for key, value in keywords.items()}
        result = self.compute(
            lambda *values: function(*values, **keywords), arguments, node, what=name, lift=False
        )
        fresh = function in (list, dict, set, sorted) or name == "copy"
        return self.scope.own(result) if fresh else result

    def callback(self, value: Any, node: ast.AST) -> Any:
        """A function that a builtin calls, so that it is compiled from its text."""
        if not isinstance(value, FunctionType) and not hasattr(value, "__wrapped__"):
            return value
        return lambda *arguments, **keywords: self.call(value, list(arguments), keywords, node)

    def refusal(self, function: Any, name: str, owner: Any, node: ast.AST) -> CompileError:
        """Why a function of a library or an object cannot take a tensor."""
        if is_array(owner):
            return self.failure(
                "UNSUPPORTED_CALL",
                f"the array method '{name}' cannot take a tensor",
                node,
                advice.instead_of(name),
            )
        is_method = isinstance(function, MethodType)
        if is_method or isinstance(vars(type(function)).get("__call__"), FunctionType):
            kind = type(owner if is_method else function).__name__
            return self.failure(
                "UNSUPPORTED_CALL",
                f"'{name}' is a method of a {kind}; a kernel calls functions"
                if is_method
                else f"a {kind} object cannot take a tensor",
                node,
                "make it a function that takes what it needs from the object as arguments",
            )
        if isinstance(function, type) and issubclass(function, Tensor):
            return self.failure(
                "UNSUPPORTED_CALL",
                "pypto.Tensor cannot be made inside a kernel",
                node,
                "use the value itself: tensors and arrays need no conversion here",
            )
        module = getattr(function, "__module__", None) or type(function).__module__
        return self.failure(
            "UNSUPPORTED_CALL",
            f"{module}.{name} cannot take a tensor",
            node,
            advice.instead_of(name),
        )

    def call_builtin(
        self, name: str, arguments: list[Any], keywords: dict[str, Any], node: ast.AST
    ) -> Any:
        """A builtin of a tensor: few make sense, for the others there are operators."""
        if name == "len" and len(arguments) == 1 and len(arguments[0].shape) > 0:
            return arguments[0].shape[0]
        if name == "isinstance" and len(arguments) == 2:
            return self.compute(is_instance, arguments, node, what=name, lift=False)
        if name in ("abs", "pow") and not keywords:
            return self.compute(getattr(builtins, name), arguments, node, what=name)
        kind = next(filter(is_data, arguments))
        raise self.failure(
            "UNSUPPORTED_CALL",
            f"{name}() cannot take {describe(kind)}",
            node,
            advice.static_builtin(name),
        )


def is_instance(value: Any, kinds: Any) -> bool:
    """``isinstance`` with tensors of a kernel taken for ``pypto.Tensor``."""
    listed = kinds if isinstance(kinds, tuple) else (kinds,)
    if is_data(value):
        return any(isinstance(kind, type) and issubclass(kind, Tensor) for kind in listed)
    return isinstance(0 if isinstance(value, UnknownExtent) else value, kinds)
