"""Gives every result of @main a buffer of its own: no input, constant or other result shares it."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.ops import ROWS
from pypto.passes.tensor.rewriting import builder_before, defining
from pypto.passes.tensor.units import VIEWS


def own_results(main: FuncOp) -> None:
    """Copy every result that is, or is a view of, an input, a constant or an earlier result."""
    end = main.body.block.last_op
    if end is None:
        return
    builder = builder_before(end)
    taken: set[SSAValue] = set()
    for place, value in enumerate(end.operands):
        buffer = _viewed(value)
        if not isinstance(buffer.owner, TensorOperation) or buffer in taken:
            end.operands[place] = _copy(builder, value)
        taken.add(buffer)


def _viewed(value: SSAValue) -> SSAValue:
    """The value whose elements a chain of views shows."""
    while (view := defining(value, *VIEWS)) is not None:
        value = view.operands[0]
    return value


def _copy(builder: Builder, value: SSAValue) -> SSAValue:
    """The same elements in a new buffer: all of them, as a slice."""
    tensor = type_of(value)
    if 0 in tensor.shape:
        attributes = {"shape": tensor.shape, "value": 0, "dtype": tensor.dtype}
        return builder.apply(ROWS["full"], (), attributes)
    if not tensor.is_static:
        return builder.apply(ROWS["cast"], [value], {"dtype": tensor.dtype})
    if tensor.rank == 0:
        line = builder.apply(ROWS["reshape"], [value], {"shape": (1,)})
        return builder.apply(ROWS["reshape"], [_copy(builder, line)], {"shape": ()})
    limits = {"start": (0,) * tensor.rank, "stop": tensor.shape}
    return builder.apply(ROWS["slice"], [value], limits)
