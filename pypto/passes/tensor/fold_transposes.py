"""fold-transposes: a matrix transposed for a product is read transposed by the product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.passes.base import Pass
from pypto.passes.tensor.rewriting import apply_patterns, defining


@dataclass(frozen=True)
class FoldTransposes(Pass):
    """A ``permute`` of the last two axes that feeds a ``matmul`` becomes its flag ta or tb."""

    name = "fold-transposes"
    exact: ClassVar[bool] = True

    def apply(self, context: Context, module: ModuleOp) -> None:
        apply_patterns(module, {"matmul": (fold_transpose,)})


def fold_transpose(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """matmul(permute(a), b) reads a itself, with the flag turned."""
    operands, flags = list(op.operands), op.python_attributes()
    for place, flag in enumerate(("ta", "tb")):
        inner = defining(operands[place], "permute")
        if inner is not None and _swaps_last_two(inner.attribute("dims")):
            operands[place] = inner.operands[0]
            flags[flag] = not flags[flag]
    if operands == list(op.operands):
        return None
    return builder.apply(op.row, operands, flags)


def _swaps_last_two(dims: tuple[int, ...]) -> bool:
    rank = len(dims)
    return dims == (*range(rank - 2), rank - 1, rank - 2)
