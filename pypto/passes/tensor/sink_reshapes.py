"""sink-reshapes: elementwise work comes before a change of shape, so that it can be fused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.ops import ROWS
from pypto.passes.base import Pass
from pypto.passes.tensor.rewriting import apply_patterns, defining
from pypto.passes.tensor.units import is_fusible


@dataclass(frozen=True)
class SinkReshapes(Pass):
    """Elementwise operations move in front of the reshape that makes their operand.

    Other operands of the same shape are reshaped back, which costs nothing.
    """

    name = "sink-reshapes"
    exact: ClassVar[bool] = True

    def apply(self, context: Context, module: ModuleOp) -> None:
        elementwise = (name for name, row in ROWS.items() if row.elementwise and row.operands)
        apply_patterns(module, dict.fromkeys(elementwise, (sink_reshape,)))


def sink_reshape(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """f(reshape(a), b) becomes reshape(f(a, reshape(b)))."""
    result = type_of(op.results[0]).shape
    whole = (value for value in op.operands if type_of(value).shape == result)
    source = next((shape for value in whole if (shape := _computed_shape(value))), None)
    if source is None or any(_blocks(value, result) for value in op.operands):
        return None
    arguments = [
        builder.apply(ROWS["reshape"], [argument], {"shape": source})
        if isinstance(argument, SSAValue) and type_of(argument).shape == result
        else argument
        for argument in op.arguments()
    ]
    moved = builder.apply(op.row, arguments, op.python_attributes())
    return builder.apply(ROWS["reshape"], [moved], {"shape": result})


def _computed_shape(value: SSAValue) -> tuple[int, ...] | None:
    """The shape in which a vector kernel computes what ``value`` shows in another one."""
    reshape = defining(value, "reshape")
    if reshape is None or not is_fusible(reshape.operands[0].owner):
        return None
    return type_of(reshape.operands[0]).shape


def _blocks(value: SSAValue, result: tuple[int, ...]) -> bool:
    """Whether an operand is broadcast, or computed in the new shape by what it may fuse with."""
    shape = type_of(value).shape
    return is_fusible(value.owner) if shape == result else shape != ()
