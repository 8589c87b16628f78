"""Reductions as the machine does them: f32 sums, axes kept, one run of neighbouring axes each."""

from __future__ import annotations

from math import inf, prod

import numpy as np
from xdsl.ir import SSAValue

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.ops import ROWS
from pypto.ops.types import TensorType
from pypto.passes.tensor.legal_casts import cast
from pypto.target.dtypes import BF16, F16, F32, I32

# i32 has no reduction within a row: this many copies of a single column are reduced side by side.
COPIES = 8


def legal_reduce(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """One step towards reductions that keep their axes, all neighbours, in a native type."""
    x = op.operands[0]
    kind, dims = op.attribute("kind"), op.attribute("dims")
    source, result = type_of(x), type_of(op.results[0])
    count = prod(source.shape[axis] for axis in dims)
    if count == 0:
        return _identity(builder, kind, result)
    if count == 1:
        return _reshape(builder, x, result.shape)
    if source.dtype == BF16 or (source.dtype == F16 and kind == "sum"):
        total = _reduce(builder, cast(builder, x, F32), kind, dims, op.attribute("keepdim"))
        return cast(builder, total, source.dtype)
    if not op.attribute("keepdim"):
        return _reshape(builder, _reduce(builder, x, kind, dims), result.shape)
    runs = _runs(source.shape, dims)
    if len(runs) > 1:
        for run in reversed(runs):
            x = _reduce(builder, x, kind, run)
        return x
    if runs and runs[0] != dims:
        return _reduce(builder, x, kind, runs[0])
    if source.dtype == I32 and runs and prod(source.shape[dims[-1] + 1 :]) == 1:
        return _reduce_rows_of_integers(builder, x, kind, dims)
    return None


def _identity(builder: Builder, kind: str, result: TensorType) -> SSAValue:
    """What a reduction over nothing gives."""
    if kind == "sum":
        value = 0.0 if result.dtype.is_float else 0
    elif result.dtype.is_float:
        value = -inf if kind == "max" else inf
    else:
        limits = np.iinfo(result.dtype.numpy)
        value = int(limits.min if kind == "max" else limits.max)
    attributes = {"shape": result.shape, "value": value, "dtype": result.dtype}
    return builder.apply(ROWS["full"], (), attributes)


def _reduce(
    builder: Builder, x: SSAValue, kind: str, dims: tuple[int, ...], keepdim: bool = True
) -> SSAValue:
    return builder.apply(ROWS["reduce"], [x], {"kind": kind, "dims": dims, "keepdim": keepdim})


def _reshape(builder: Builder, x: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    return builder.apply(ROWS["reshape"], [x], {"shape": shape})


def _runs(shape: tuple[int, ...], dims: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The reduced axes in groups of neighbours; axes of extent 1 are in none and part none."""
    runs: list[tuple[int, ...]] = []
    open_run = False
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        if axis in dims:
            runs = [*runs[:-1], (*runs[-1], axis)] if open_run else [*runs, (axis,)]
        open_run = axis in dims
    return runs


def _reduce_rows_of_integers(
    builder: Builder, x: SSAValue, kind: str, dims: tuple[int, ...]
) -> SSAValue:
    """The reduced axis comes first, where whole rows are joined; there is no way within a row."""
    shape = type_of(x).shape
    columns = prod(shape[axis] for axis in dims)
    rows = prod(shape) // columns
    kept = tuple(1 if axis in dims else extent for axis, extent in enumerate(shape))
    if rows == 1:
        side = _reshape(builder, x, (columns, 1))
        side = builder.apply(ROWS["broadcast"], [side], {"shape": (columns, COPIES)})
        total = _reduce(builder, side, kind, (0,))
        limits = {"start": (0, 0), "stop": (1, 1), "step": (1, 1)}
        return _reshape(builder, builder.apply(ROWS["slice"], [total], limits), kept)
    side = _reshape(builder, x, (rows, columns))
    side = builder.apply(ROWS["permute"], [side], {"dims": (1, 0)})
    return _reshape(builder, _reduce(builder, side, kind, (0,)), kept)
