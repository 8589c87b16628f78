"""Calls of builtins, libraries and records: static values are computed, tensors mostly refused."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import inspect
import operator
from abc import abstractmethod
from types import ModuleType
from typing import Any

from pypto.errors import CompileError
from pypto.frontend import advice
from pypto.frontend.activation import Activation
from pypto.frontend.functions import NestedFunction, call_form
from pypto.frontend.structure import is_record
from pypto.frontend.values import contains_data, contains_tensors, describe, is_array, is_data
from pypto.ops.value import Tensor, UnknownExtent

# Methods that change their object; only lists made inside the kernel may be changed.
MUTATORS = (
    "add", "append", "clear", "discard", "extend", "fill", "insert", "pop", "popitem", "put",
    "remove", "resize", "reverse", "setdefault", "sort", "update", "difference_update",
    "intersection_update", "symmetric_difference_update", "itemset", "partition", "setflags",
    "__delitem__", "__iadd__", "__iand__", "__imul__", "__ior__", "__isub__", "__ixor__",
    "__setitem__",
)  # fmt: skip
# Functions that change their first argument.
CHANGING_FUNCTIONS = (
    "copyto", "delitem", "fill_diagonal", "heapify", "heappop", "heappush", "heappushpop",
    "heapreplace", "iadd", "iconcat", "imul", "insort", "insort_left", "insort_right", "ior",
    "iand", "isub", "ixor", "place", "put", "putmask", "setitem", "shuffle",
)  # fmt: skip
# Methods whose result is a new list, dictionary or set.
MAKERS = (
    "_asdict", "copy", "difference", "fromkeys", "intersection", "rsplit", "split", "splitlines",
    "symmetric_difference", "tolist", "union",
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
        self.bound(inspect.signature(kind), kind.__name__, arguments, keywords, node)
        named = {key: self.operand(value) for key, value in keywords.items()}
        return self.compute(
            lambda *values: kind(*values, **named), arguments, node, what=kind.__name__
        )

    def bound(
        self,
        signature: inspect.Signature,
        name: str,
        arguments: list[Any],
        keywords: dict[str, Any],
        node: ast.AST,
    ) -> inspect.BoundArguments:
        """The arguments of a call by the parameters they are for, with defaults."""
        try:
            bound = signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise self.failure(
                "BAD_ARGUMENTS",
                f"{name}: {error}",
                node,
                f"call it as {call_form(name, signature)}",
            ) from error
        bound.apply_defaults()
        return bound

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
        kind = function if isinstance(function, type) else None
        keeps = function is dataclasses.replace or (kind is not None and dict in kind.__mro__)
        iterates = function is functools.reduce or (kind and kind.__module__ == "itertools")
        is_operator = getattr(operator, name, None) is function
        allowed = is_builtin or of_container or keeps or iterates or is_operator
        if contains_tensors([arguments, keywords]) and not allowed:
            raise self.refusal(function, name, owner, node)
        self.check_unchanged(function, name, arguments, node)
        if function is isinstance:
            function = is_instance
        elif iterates or (is_builtin and not keeps):
            arguments = [self.callback(value, node) for value in arguments]
            keywords = {key: self.callback(value, node) for key, value in keywords.items()}
        result = self.compute(
            lambda *values: function(*values, **keywords),
            arguments,
            node,
            what=name,
            lift=is_operator,
        )
        fresh = kind is not None or function is sorted or name in MAKERS
        return self.scope.own(result) if fresh else result

    def check_unchanged(
        self, function: Any, name: str, arguments: list[Any], node: ast.AST
    ) -> None:
        """Raise when a call would change what the kernel has not made."""
        owner = getattr(function, "__self__", None)
        if owner is None or isinstance(owner, ModuleType):
            is_method = hasattr(function, "__objclass__")
            changes = name in (MUTATORS if is_method else CHANGING_FUNCTIONS)
            owner = arguments[0] if arguments else None
        else:
            changes = name in MUTATORS
        if not changes or self.scope.owns(owner):
            return
        if is_array(owner):
            raise self.failure(
                "CAPTURED_MUTATION",
                f"'{name}' would change an array; arrays are constants of a kernel",
                node,
                "make the array outside the kernel, or build a new one",
            )
        raise self.failure(
            "CAPTURED_MUTATION",
            f"'{name}' would change an object made outside the kernel",
            node,
            "build a new list inside the kernel",
        )

    def callback(self, value: Any, node: ast.AST) -> Any:
        """A function that a builtin calls, so that it is called as the kernel would."""
        if not callable(value) or is_data(value) or isinstance(value, NestedFunction):
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
