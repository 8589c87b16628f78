"""What stands on the left of ``=``: names, targets that unpack, entries of own containers."""

from __future__ import annotations

import ast
from typing import Any

from pypto.errors import CompileError
from pypto.frontend.calls import Calls
from pypto.frontend.values import describe, is_data


class Assignments(Calls):
    """Binds values to targets."""

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind names; tuples and lists on the left unpack."""
        if isinstance(target, ast.Name):
            self.scope.locals[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self.store(target, value)
        else:
            raise self.bad_target(target)

    def store(self, target: ast.Subscript, value: Any) -> None:
        """Set an entry of a list or dictionary that the kernel has made."""
        items = self.evaluate(target.value)
        if not isinstance(items, list | dict):
            raise self.bad_target(target)
        if not self.scope.owns(items):
            raise self.failure(
                "CAPTURED_MUTATION",
                "this would change an object made outside the kernel",
                target,
                "build a new list or dictionary inside the kernel",
            )
        index = self.evaluate(target.slice)
        self.compute(lambda: items.__setitem__(index, value), [], target, what="[]=", lift=False)

    def unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        if is_data(value) or not hasattr(value, "__iter__"):
            raise self.failure(
                "BAD_UNPACK",
                f"cannot unpack {describe(value)} into {len(target.elts)} names",
                target,
                "unpack a tuple, for example the results of pypto.split",
            )
        values = list(value)
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
