"""sink-scalars: index arithmetic moves down to where its result is first needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from pypto.dialects import tik
from pypto.dialects.scalars import SCALAR_OPERATIONS
from pypto.passes.base import Pass
from pypto.passes.tik.kernels import kernels_at

SCALARS = (*SCALAR_OPERATIONS, tik.CompareOp, tik.OffsetOp, arith.ConstantOp)


@dataclass(frozen=True)
class SinkScalars(Pass):
    """Values live shorter, so that more of them fit into the scalar registers of a core.

    An operation stays in its block: what a loop does not change is still computed once.
    """

    name = "sink-scalars"
    exact: ClassVar[bool] = True
    requires: ClassVar[str] = "kernels at tik level, virtual"
    ensures: ClassVar[str] = "an index computation stands right before its first use in its block"

    def apply(self, context: Context, module: ModuleOp) -> None:
        for kernel in kernels_at(module, tik.Stage.VIRTUAL):
            for op in list(kernel.walk()):
                for region in op.regions:
                    for block in region.blocks:
                        sink(block)


def sink(block: Block) -> None:
    """Move the scalar operations of one block, last first, so that chains move together."""
    for op in reversed(list(block.ops)):
        if not isinstance(op, SCALARS):
            continue
        users = {in_block(use.operation, block) for result in op.results for use in result.uses}
        if not users:
            continue
        first = next(after for after in following(op) if after in users)
        if first is not op.next_op:
            op.detach()
            block.insert_op_before(op, first)


def in_block(op: Operation, block: Block) -> Operation:
    """The operation of the block that is, or contains, ``op``."""
    while op.parent_block() is not block:
        parent = op.parent_op()
        assert parent is not None  # a value is used below the block that defines it
        op = parent
    return op


def following(op: Operation) -> Iterator[Operation]:
    """The operations behind ``op`` in its block."""
    current = op.next_op
    while current is not None:
        yield current
        current = current.next_op
