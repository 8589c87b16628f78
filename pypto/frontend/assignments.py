"""What stands on the left of ``=``: names, targets that unpack, entries of own containers."""

from __future__ import annotations

import ast
import operator
from abc import abstractmethod
from typing import Any

from pypto.errors import CompileError
from pypto.frontend.calls import Calls
from pypto.frontend.operators import BINARY, SYMBOLS
from pypto.frontend.values import describe, is_data


class Assignments(Calls):
    """Binds values to targets."""

    @abstractmethod
    def binary(self, syntax: ast.operator, left: Any, right: Any, node: ast.AST) -> Any: ...

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind names; tuples and lists on the left unpack."""
        if isinstance(target, ast.Name):
            self.scope.locals[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self.put(target, *self.entry(target), value)
        else:
            raise self.bad_target(target)

    def entry(self, target: ast.Subscript) -> tuple[Any, Any]:
        """A list or dictionary that the kernel has made, and the index of an entry."""
        items = self.evaluate(target.value)
        if not isinstance(items, list | dict):
            raise self.bad_target(target)
        self.check_own(items, target)
        return items, self.evaluate(target.slice)

    def put(self, target: ast.Subscript, items: Any, index: Any, value: Any) -> None:
        """Set an entry of a list or dictionary."""
        self.compute(
            lambda items, index: operator.setitem(items, index, value),
            [items, index],
            target,
            what="[]=",
            lift=False,
        )

    def check_own(self, value: Any, node: ast.AST) -> None:
        """Raise unless the kernel made a list, dictionary or set that is to change."""
        if not self.scope.owns(value):
            raise self.failure(
                "CAPTURED_MUTATION",
                "this would change an object made outside the kernel",
                node,
                "build a new list or dictionary inside the kernel",
            )

    def assign_augmented(self, node: ast.AugAssign) -> None:
        """``+=`` and the like: containers change in place, all else is computed anew."""
        target = node.target
        if isinstance(target, ast.Name):
            value = self.evaluate(target)
            self.assign(target, self.augmented(node, value))
        elif isinstance(target, ast.Subscript):
            items, index = self.entry(target)
            value = self.compute(operator.getitem, [items, index], target, what="[]", lift=False)
            self.put(target, items, index, self.augmented(node, value))
        else:
            raise self.bad_target(target)

    def augmented(self, node: ast.AugAssign, current: Any) -> Any:
        value = self.evaluate(node.value)
        if not isinstance(current, list | dict | set):
            return self.binary(node.op, current, value, node)
        self.check_own(current, node.target)
        name = BINARY[type(node.op)].__name__.strip("_")
        in_place = getattr(operator, f"i{name}")
        symbol = f"'{SYMBOLS[type(node.op)]}='"
        return self.compute(in_place, [current, value], node, what=symbol, lift=False)

    def unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        if is_data(value) or not hasattr(value, "__iter__"):
            raise self.failure(
                "BAD_UNPACK",
                f"cannot unpack {describe(value)} into {len(target.elts)} names",
                target,
                "unpack a tuple, for example the results of pypto.split",
            )
        values = list(self.drawn(value, target))
        names = target.elts
        stars = [i for i, one in enumerate(names) if isinstance(one, ast.Starred)]
        fits = len(values) >= len(names) - 1 if stars else len(values) == len(names)
        if not fits:
            least = f"at least {len(names) - 1}" if stars else f"{len(names)}"
            raise self.failure(
                "BAD_UNPACK",
                f"{len(values)} values cannot be unpacked into {least} names",
                target,
                "give one name to each value",
            )
        for star in stars:  # Python allows one
            end = len(values) - (len(names) - star - 1)
            values[star:end] = [self.scope.own(values[star:end])]
        for element, item in zip(names, values, strict=True):
            self.assign(element.value if isinstance(element, ast.Starred) else element, item)

    def bad_target(self, target: ast.expr) -> CompileError:
        return self.failure(
            "IMMUTABLE_TENSOR",
            "only names can be assigned to inside a kernel",
            target,
            "tensors are immutable; build a new one with pypto.where, concat or slice",
        )
