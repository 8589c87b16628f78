"""Kernels exchange narrow values: who needs a wide one widens it, cheaper than its bytes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.passes.tensor.element_types import keeps_all_values
from pypto.passes.tensor.units import GROUP, group_of


def repeat_widenings(main: FuncOp) -> None:
    """Copy a conversion that loses nothing into every other group that reads its result.

    A result that something outside of all groups reads is stored anyway, and stays as it is.
    """
    ops = list(main.body.block.ops)
    place = {op: index for index, op in enumerate(ops)}
    for op in ops:
        if not isinstance(op, TensorOperation) or not _widens(op):
            continue
        readers = sorted({use.operation for use in op.results[0].uses}, key=place.__getitem__)
        if all(group_of(reader) is not None for reader in readers):
            _repeat(op, [reader for reader in readers if group_of(reader) != group_of(op)])


def _widens(op: TensorOperation) -> bool:
    if op.row.name != "cast" or group_of(op) is None:
        return False
    source, target = type_of(op.operands[0]).dtype, type_of(op.results[0]).dtype
    return source.kind != "b" and keeps_all_values(source, target)


def _repeat(op: TensorOperation, readers: Sequence[Operation]) -> None:
    copies: dict[int | None, Operation] = {}
    for reader in readers:
        group = group_of(reader)
        if group not in copies:
            copy = copies[group] = op.clone()
            copy.location = op.location
            copy.attributes[GROUP] = reader.attributes[GROUP]
            Rewriter.insert_op(copy, InsertPoint.before(reader))
        for place, operand in enumerate(reader.operands):
            if operand is op.results[0]:
                reader.operands[place] = copies[group].results[0]
    if not list(op.results[0].uses):
        Rewriter.erase_op(op)
