"""Gives each vector kernel its own copy of the numbers and positions it reads."""

from __future__ import annotations

from itertools import count

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from pypto.passes.tensor.units import GROUP, group_of, is_creator, is_fusible


def own_creators(main: FuncOp) -> None:
    """Copy every ``full`` and ``iota`` into each group, or operation without one, that reads it."""
    ops = list(main.body.block.ops)
    fresh = count(max((group for op in ops if (group := group_of(op)) is not None), default=-1) + 1)
    copies: dict[tuple[int, Operation], Operation] = {}
    for op in ops:
        read = [value.owner for value in op.operands if is_creator(value.owner)]
        if not read or not is_fusible(op):
            continue
        if group_of(op) is None:
            op.attributes[GROUP] = IntegerAttr(next(fresh), i64)
        for place, operand in enumerate(op.operands):
            if is_creator(creator := operand.owner):
                op.operands[place] = _copy(creator, op, copies).results[0]
    for op in ops:
        if is_creator(op) and not any(list(result.uses) for result in op.results):
            Rewriter.erase_op(op)


def _copy(
    creator: Operation, reader: Operation, copies: dict[tuple[int, Operation], Operation]
) -> Operation:
    """The copy of a creator in the group of its reader."""
    group = group_of(reader)
    assert group is not None
    found = copies.get((group, creator))
    if found is None:
        found = copies[group, creator] = creator.clone()
        found.location = creator.location
        found.attributes[GROUP] = reader.attributes[GROUP]
        Rewriter.insert_op(found, InsertPoint.before(reader))
    return found
