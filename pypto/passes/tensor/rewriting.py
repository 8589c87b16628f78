"""How tensor passes change a module: build in front of an operation, then replace it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation

# Gives the value that takes the place of an operation's only result, None when it does not match.
Pattern = Callable[[TensorOperation, Builder], SSAValue | None]


def builder_before(op: Operation) -> Builder:
    """A Builder that works in front of ``op`` and gives its location to what it makes."""
    return Builder(InsertPoint.before(op), location=op.location)


def replace(op: Operation, values: Sequence[SSAValue]) -> None:
    """Let ``values`` take the place of the results of ``op``, and their names with them."""
    for result, value in zip(op.results, values, strict=True):
        if value.name_hint is None:
            value.name_hint = result.name_hint
        result.replace_all_uses_with(value)
    Rewriter.erase_op(op)


def tensor_operations(module: ModuleOp) -> Iterator[TensorOperation]:
    """The operations of the catalogue in a module as it is now, in order."""
    return iter([op for op in module.walk() if isinstance(op, TensorOperation)])


def apply_patterns(module: ModuleOp, patterns: Mapping[str, Sequence[Pattern]]) -> None:
    """Apply to each operation the patterns of its row's name until none matches anywhere."""
    changed = True
    while changed:
        changed = False
        for op in tensor_operations(module):
            builder = builder_before(op)
            with builder.at(op.location):
                applied = (one(op, builder) for one in patterns.get(op.row.name, ()))
                value = next((value for value in applied if value is not None), None)
            if value is not None:
                replace(op, [value])
                changed = True


def defining(value: object, *names: str) -> TensorOperation | None:
    """The operation that makes ``value`` if its row is one of ``names``."""
    if not isinstance(value, SSAValue) or not isinstance(value.owner, TensorOperation):
        return None
    return value.owner if value.owner.row.name in names else None
