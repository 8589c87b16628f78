"""Opens operators: what an operation stands for, in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ModuleOp, NameLoc, StringAttr
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.ops import Operator
from pypto.passes.tensor.rewriting import replace


def open_operations(module: ModuleOp, wanted: Callable[[Operator[Any, Any]], bool]) -> None:
    """Replace every operation whose row is ``wanted`` by its decomposition, at any depth.

    The location of what takes its place names the operator that the user wrote.
    """
    for op in list(module.walk()):
        _open(op, wanted)


def _open(op: Operation, wanted: Callable[[Operator[Any, Any]], bool]) -> None:
    if not isinstance(op, TensorOperation) or not wanted(op.row):
        return
    if not isinstance(op.location, NameLoc):
        op.location = NameLoc(StringAttr(op.row.name), op.location)
    before = op.prev_op
    block = op.parent_block()
    values = Builder(InsertPoint.before(op), location=op.location).expand(op)
    made = block.first_op if before is None and block is not None else None
    made = before.next_op if before is not None else made
    opened: list[Operation] = []
    while made is not None and made is not op:
        opened.append(made)
        made = made.next_op
    replace(op, values)
    for new in opened:
        _open(new, wanted)
