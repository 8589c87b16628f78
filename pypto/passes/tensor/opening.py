"""Opens operators: what an operation stands for, in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ModuleOp, NameLoc, StringAttr

from pypto.ops import Operator
from pypto.passes.tensor.rewriting import builder_before, replace, tensor_operations


def open_operations(module: ModuleOp, wanted: Callable[[Operator[Any, Any]], bool]) -> None:
    """Replace every operation whose row is ``wanted`` by its decomposition, at any depth.

    The location of what takes its place names the operator that the user wrote.
    """
    while found := [op for op in tensor_operations(module) if wanted(op.row)]:
        for op in found:
            if not isinstance(op.location, NameLoc):
                op.location = NameLoc(StringAttr(op.row.name), op.location)
            replace(op, builder_before(op).expand(op))
