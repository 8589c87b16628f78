"""Ten bugs to plant: each makes exactly one pass wrong, and leaves IR that keeps all laws."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.rewriter import InsertPoint, Rewriter

from pypto.dialects import tik, tile
from pypto.dialects.builder import Builder
from pypto.dialects.emitter import Emitter, folded
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.tik_laws import _lives
from pypto.dialects.types import type_of
from pypto.ops import ROWS
from pypto.passes.base import Pass
from pypto.passes.tensor.canonicalize import Canonicalize
from pypto.passes.tensor.expand_recipes import ExpandRecipes
from pypto.passes.tensor.legalize import Legalize
from pypto.passes.tik import lower_to_tik
from pypto.passes.tik.insert_sync import InsertSync
from pypto.passes.tik.kernels import kernels_at
from pypto.passes.tik.place_buffers import PlaceBuffers
from pypto.passes.tik.sink_scalars import SinkScalars
from pypto.passes.tile import vector_kernel
from pypto.passes.tile.kernel_frame import Frame
from pypto.target.memory import Pipe, Space

Planted = AbstractContextManager[object]


@dataclass(frozen=True)
class Bug:
    """A mistake in the pass ``pass_name``; ``plant`` makes it for the time of a ``with``."""

    name: str
    pass_name: str
    plant: Callable[[], Planted]


def around(kind: type[Pass], change: Callable[[Callable[[], None], ModuleOp], None]) -> Planted:
    """``change`` runs a pass and edits the module before or behind it."""
    right = kind.apply

    def apply(self: Pass, context: Context, module: ModuleOp) -> None:
        change(lambda: right(self, context, module), module)

    return patch.object(kind, "apply", apply)


def instead(owner: Any, name: str, make: Callable[[Any], Any]) -> Planted:
    """A helper of a pass replaced by what ``make`` makes of the right one."""
    return patch.object(owner, name, make(getattr(owner, name)))


def tensor_operations(module: ModuleOp, *names: str) -> list[TensorOperation]:
    return [op for op in module.walk() if isinstance(op, TensorOperation) and op.row.name in names]


def off_by_one_tile() -> Planted:
    """Every tile but the first is read one element too early."""

    def make(load: Any) -> Any:
        def early(step: Any, value: Any) -> Any:
            emit, right = step.emit, step.window
            row, column = (emit.sub(n, emit.min(n, 1)) for n in (right.row, right.column))
            step.window = replace(right, row=row, column=column)
            made = load(step, value)
            step.window = right
            return made

        return early

    return instead(vector_kernel._Step, "load", make)


def wrong_axis() -> Planted:
    """The reductions of a recipe run along the axis before theirs."""

    def change(run: Callable[[], None], module: ModuleOp) -> None:
        known = set(tensor_operations(module, "reduce"))
        run()
        for op in tensor_operations(module, "reduce"):
            shape, dims = type_of(op.operands[0]).shape, op.attribute("dims")
            if op in known or len(dims) != 1 or len(shape) < 2:
                continue
            right, wrong = dims[0], (dims[0] - 1) % len(shape)
            turned = list(shape)
            turned[right], turned[wrong] = shape[wrong], shape[right]
            builder = Builder(InsertPoint.before(op), location=op.location)
            attributes = {**op.python_attributes(), "dims": (wrong,)}
            value = builder.apply(ROWS["reshape"], [op.operands[0]], {"shape": tuple(turned)})
            value = builder.apply(op.row, [value], attributes)
            shape = type_of(op.results[0]).shape
            op.results[0].replace_all_uses_with(
                builder.apply(ROWS["reshape"], [value], {"shape": shape})
            )
            Rewriter.erase_op(op)

    return around(ExpandRecipes, change)


def dropped_flag() -> Planted:
    """Nothing waits for the computation before a result is stored."""

    def change(run: Callable[[], None], module: ModuleOp) -> None:
        run()
        for op in list(module.walk()):
            if isinstance(op, tik.FlagOp) and op.target in (Pipe.MTE3, Pipe.FIX):
                Rewriter.erase_op(op)

    return around(InsertSync, change)


def swapped_operands() -> Planted:
    """What is subtracted, divided or compared changes sides."""

    def change(run: Callable[[], None], module: ModuleOp) -> None:
        run()
        for op in tensor_operations(module, "sub", "div", "lt", "le"):
            if len(op.operands) == 2:
                op.operands = tuple(reversed(op.operands))

    return around(Canonicalize, change)


def lost_tail() -> Planted:
    """A last tile that is not whole loses what does not fill eight elements."""

    def make(valid: Any) -> Any:
        def shorter(frame: Frame, extent: Any, start: Any, size: int) -> Any:
            inside, emit = valid(frame, extent, start, size), frame.emitter
            if isinstance(inside, int):
                return inside
            return emit.max(1, emit.mul(emit.floor_div(inside, 8), 8))

        return shorter

    return instead(Frame, "valid", make)


def overlapping_buffers() -> Planted:
    """A buffer gets 32 bytes; one that is made while it is in use follows at once."""

    def change(run: Callable[[], None], module: ModuleOp) -> None:
        run()
        for kernel in kernels_at(module, tik.Stage.PLACED):
            lives = _lives(kernel)
            found = [op for op in lives if op.space is Space.UB and op.slot_count == 1]
            found.sort(key=lambda op: -op.slot_bytes)
            for first, second in itertools.permutations(found, 2):
                is_made_meanwhile = lives[first][0] < lives[second][0] < lives[first][1]
                if (
                    is_made_meanwhile
                    and first.slot_bytes >= second.slot_bytes > 32
                    and not any(meets(first, op) and meet(lives[op], lives[second]) for op in found)
                ):
                    assert first.place is not None
                    second.bytes = IntegerAttr(first.slot_bytes - 32, i64)
                    second.address = IntegerAttr(first.place + 32, i64)
                    first.bytes = IntegerAttr(32, i64)
                    break

    def meets(first: tik.AllocOp, other: tik.AllocOp) -> bool:
        """Whether another buffer lies, at another time, where the first one does."""
        a, b = first.place or 0, other.place or 0
        return other is not first and a < b + other.slot_bytes and b < a + first.slot_bytes

    def meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return one[0] < other[1] and other[0] < one[1]

    return around(PlaceBuffers, change)


def wrong_cast() -> Planted:
    """Floats become the nearest integer, not the next one towards zero."""

    def change(run: Callable[[], None], module: ModuleOp) -> None:
        run()
        for op in tensor_operations(module, "cast"):
            if op.attribute("round") == "trunc":
                builder = Builder(InsertPoint.before(op), location=op.location)
                attributes = {**op.python_attributes(), "round": "rint"}
                made = builder.apply(op.row, op.operands, attributes)
                op.results[0].replace_all_uses_with(made)
                Rewriter.erase_op(op)

    return around(Legalize, change)


def wrong_valid_shape() -> Planted:
    """The last valid row or column of a tile does not take part in its reductions."""

    def make(reduce: Any) -> Any:
        def shorter(state: Any, kind: str, axis: int, source: Any, out: Any) -> None:
            emit = state.emit
            rows, columns = source.rows, source.columns
            if axis == 0:
                rows = emit.max(1, emit.sub(rows, 1))
            else:
                columns = emit.max(1, emit.sub(columns, 1))
            count = emit.mul(rows, source.pitch)
            reduce(state, kind, axis, replace(source, rows=rows, columns=columns, count=count), out)

        return shorter

    return instead(lower_to_tik, "reduce", make)


def wrong_trip_count() -> Planted:
    """Loops of several turns lack the last one."""

    def change(run: Callable[[], None], module: ModuleOp) -> None:
        run()
        for kernel in kernels_at(module, tik.Stage.VIRTUAL):
            for op in list(kernel.walk()):
                if isinstance(op, scf.ForOp):
                    emit, turns = Emitter.before(op), folded(op.ub)
                    last = emit.min(1, emit.max(0, emit.sub(turns, 1)))
                    op.operands[1] = emit.index(emit.sub(turns, last))

    return around(SinkScalars, change)


def stale_double_buffer() -> Planted:
    """A factor of a product is read from the first slot, whatever slot it was loaded into."""
    right = lower_to_tik.HANDLERS[tile.ExtractOp]

    def stale(kernel: Any, op: Any) -> None:
        right(kernel, op)
        factor = kernel.factors[op.result]
        first = kernel.state.emit.slot(factor.tile.buffer.value, 0)
        kernel.factors[op.result] = replace(factor, tile=replace(factor.tile, pointer=first))

    return patch.dict(lower_to_tik.HANDLERS, {tile.ExtractOp: stale})


BUGS = (
    Bug("off-by-one tile", "tile-kernels", off_by_one_tile),
    Bug("wrong axis", "expand-recipes", wrong_axis),
    Bug("dropped flag", "insert-sync", dropped_flag),
    Bug("swapped operands", "canonicalize", swapped_operands),
    Bug("lost tail", "tile-kernels", lost_tail),
    Bug("overlapping buffers", "place-buffers", overlapping_buffers),
    Bug("wrong cast", "legalize", wrong_cast),
    Bug("wrong valid shape", "lower-to-tik", wrong_valid_shape),
    Bug("wrong trip count", "sink-scalars", wrong_trip_count),
    Bug("stale double buffer", "lower-to-tik", stale_double_buffer),
)
