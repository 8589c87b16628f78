"""Elementwise, broadcast and reduction chains as loops over tiles of the unified buffer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from pypto.dialects import tile
from pypto.dialects.emitter import Index
from pypto.dialects.locations import source_of
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.errors import CompileError
from pypto.passes.tensor.iteration_space import IterationSpace, Kind
from pypto.passes.tile.alignment import Runs
from pypto.passes.tile.kernel_frame import Frame, known_product, static_product
from pypto.passes.tile.vector_problem import Values, problem_of
from pypto.passes.tile.vector_schedule import Stored, VectorSchedule, choose_schedule
from pypto.target.dtypes import F16, I8, U8, DType
from pypto.target.memory import Space

# How a reduction joins two tiles.
JOIN = {"sum": "add", "max": "max", "min": "min"}
# Stands for an extent known at launch when the tile is chosen.
UNKNOWN_EXTENT = 1 << 20


def identity(kind: str, dtype: DType) -> int | float:
    """The value that joins to the other operand."""
    if kind == "sum":
        return 0.0 if dtype.is_float else 0
    if dtype.is_float:
        return -np.inf if kind == "max" else np.inf
    limits = np.iinfo(dtype.numpy)
    return int(limits.min if kind == "max" else limits.max)


@dataclass(frozen=True)
class Window:
    """The part of the domain a tile covers: where it begins and how much of it is valid.

    ``outer`` are the indices along the outer axes.
    """

    outer: tuple[Index, ...]
    row: Index
    column: Index
    rows: Index
    columns: Index


@dataclass(frozen=True)
class Held:
    """A value inside a tile step: a tile or a number, and along which axes it varies."""

    value: SSAValue | int | float
    rows: bool
    columns: bool


class VectorKernel:
    """Lowers one tensor function whose operations share an iteration space."""

    def __init__(self, frame: Frame, space: IterationSpace) -> None:
        self.frame = frame
        self.emit = frame.emitter
        self.space = space
        self.values = Values(frame.source, space)
        self.extents = self.collapsed_extents()
        problem = problem_of(self.values, self.static_extents(), frame.slots, frame.soc)
        if not frame.copies_bytes:
            problem = replace(problem, stored=tuple(map(self.stored, frame.results)))
        schedule = choose_schedule(problem, frame.soc)
        if schedule is None:
            raise CompileError(
                "TILE_TOO_LARGE",
                f"kernel '{frame.source.sym_name.data}' keeps whole rows of {problem.columns} "
                f"elements in the unified buffer and needs more than its "
                f"{frame.soc.usable[Space.UB]} bytes",
                location=source_of(frame.source),
                fix="compile with -O0, or split the row",
            )
        self.schedule: VectorSchedule = schedule
        self.granule = problem.granule

    def collapsed_extents(self) -> list[Index]:
        """Elements along each collapsed axis."""
        extents: list[Index] = []
        for axes in self.space.axes:
            factors = [self.domain_extent(axis) for axis in axes]
            extents.append(self.frame.product(factors))
        return extents

    def domain_extent(self, axis: int) -> Index:
        extent = self.space.domain[axis]
        return extent if extent >= 0 else self.frame.extents[len(self.space.domain) - 1 - axis]

    def static_extents(self) -> tuple[int, int, int]:
        """Outer, rows and columns as numbers, extents known at launch taken as large."""
        rows, columns = self.axis_extent(self.space.rows), self.axis_extent(self.space.columns)
        outer = [self.extents[axis] for axis in self.space.outer]
        return (
            static_product(outer, UNKNOWN_EXTENT),
            static_product([rows], UNKNOWN_EXTENT),
            static_product([columns], UNKNOWN_EXTENT),
        )

    def axis_extent(self, axis: int | None) -> Index:
        return 1 if axis is None else self.extents[axis]

    def stored(self, value: SSAValue) -> Stored:
        """A result as runs in global memory: along the last axis it varies along."""
        spans = self.space.spans(type_of(value).shape)
        rows, columns = self.varies(value)
        place = self.space.columns if columns else self.space.rows if rows else None
        others = [
            extent
            for axis, (extent, varies) in enumerate(zip(self.extents, spans, strict=True))
            if varies and axis != place
        ]
        runs = Runs(
            type_of(value).dtype.bytes,
            known_product([self.axis_extent(place)]),
            known_product(others),
            adjacent=known_product([self.axis_extent(self.space.rows if rows else None)]),
        )
        return Stored(runs, "columns" if columns else "rows" if rows else "none")

    def lower(self) -> None:
        """Emit the loops and close the frame."""
        emit, space, schedule = self.emit, self.space, self.schedule
        rows, columns = self.axis_extent(space.rows), self.axis_extent(space.columns)
        down = emit.ceil_div(rows, schedule.rows)
        across = emit.ceil_div(columns, schedule.columns)
        outer = [self.extents[axis] for axis in space.outer]
        walk_rows = space.kind is Kind.COLUMN
        walk_columns = space.kind is Kind.ROW
        tasks = [*outer, 1 if walk_rows else down, 1 if walk_columns else across]
        with self.frame.tasks(tasks) as places:
            *outer_places, row_place, column_place = places
            if walk_rows or walk_columns:
                self.reduce_task(tuple(outer_places), row_place, column_place)
            else:
                window = self.window(tuple(outer_places), row_place, column_place)
                self.step(window, self.values.operations, {})
        self.frame.function.attributes[tile.GRANULE] = IntegerAttr(self.granule, i64)
        self.frame.close(
            {
                "kind": space.kind.value,
                "rows": schedule.rows,
                "columns": schedule.columns,
                "slots": self.frame.slots,
            }
        )

    def window(self, outer: tuple[Index, ...], row_tile: Index, column_tile: Index) -> Window:
        emit, schedule = self.emit, self.schedule
        row = emit.mul(row_tile, schedule.rows)
        column = emit.mul(column_tile, schedule.columns)
        rows, columns = self.axis_extent(self.space.rows), self.axis_extent(self.space.columns)
        return Window(
            outer,
            row,
            column,
            self.frame.valid(rows, row, schedule.rows),
            self.frame.valid(columns, column, schedule.columns),
        )

    def reduce_task(self, outer: tuple[Index, ...], row_tile: Index, column_tile: Index) -> None:
        """Reduce over all tiles along the reduced axis, then finish what reads the result."""
        emit, space = self.emit, self.space
        by_rows = space.kind is Kind.COLUMN
        extent = self.axis_extent(space.rows if by_rows else space.columns)
        steps = emit.ceil_div(extent, self.schedule.rows if by_rows else self.schedule.columns)
        if steps == 1:
            window = self.window(outer, row_tile, column_tile)
            self.step(window, self.values.operations, {})
            return
        before, behind = self.values.split_at_reductions()
        reductions = [op for op in before if op.row.name == "reduce"]
        head = self.window(outer, row_tile, column_tile)
        totals = [self.initial(op, head) for op in reductions]
        with emit.for_(0, steps, totals) as loop:
            place = (loop.index, column_tile) if by_rows else (row_tile, loop.index)
            held = self.step(self.window(outer, *place), before, {}, is_final=False)
            joined = [
                self.join(op, total, held[op.results[0]])
                for op, total in zip(reductions, loop.args, strict=True)
            ]
            loop.yield_(*joined)
        known: dict[SSAValue, Held] = {
            op.results[0]: Held(total, *self.varies(op.results[0]))
            for op, total in zip(reductions, loop.results, strict=True)
        }
        self.step(head, behind, known)

    def initial(self, op: TensorOperation, window: Window) -> SSAValue:
        kind = op.attribute("kind")
        rows, columns = self.varies(op.results[0])
        value = identity(kind, type_of(op.results[0]).dtype)
        return self.full(value, op.results[0], rows, columns, window)

    def join(self, op: TensorOperation, total: SSAValue, part: Held) -> SSAValue:
        assert isinstance(part.value, SSAValue)
        operator = JOIN[op.attribute("kind")]
        return self.emit.value(tile.ApplyOp, operator, [total, part.value], total.type)

    def step(
        self,
        window: Window,
        operations: Iterable[TensorOperation],
        known: Mapping[SSAValue, Held],
        *,
        is_final: bool = True,
    ) -> dict[SSAValue, Held]:
        """Emit operations on one tile; results of the kernel are stored as they appear.

        Reductions of a step that is not final are only partial, and not stored.
        """
        body = _Step(self, window, dict(known))
        for value in known:
            body.store(value)
        for op in operations:
            self.emit.location = op.location
            body.compute(op)
            if is_final or op.row.name != "reduce":
                body.store(op.results[0])
        return body.held

    def varies(self, value: SSAValue) -> tuple[bool, bool]:
        """Whether a tensor varies along the rows and along the columns of a tile."""
        spans = self.space.spans(type_of(value).shape)
        rows, columns = self.space.rows, self.space.columns
        return rows is not None and spans[rows], columns is not None and spans[columns]

    def tile_type(self, dtype: DType, rows: bool, columns: bool) -> tile.TileType:
        schedule = self.schedule
        return tile.TileType(
            schedule.rows if rows else 1, schedule.columns if columns else 1, dtype, Space.UB
        )

    def extents_of(self, rows: bool, columns: bool, window: Window) -> tuple[SSAValue, SSAValue]:
        emit = self.emit
        return (
            emit.index(window.rows if rows else 1),
            emit.index(window.columns if columns else 1),
        )

    def full(
        self, number: int | float, like: SSAValue, rows: bool, columns: bool, window: Window
    ) -> SSAValue:
        """A tile of one number in the element type of a tensor."""
        type = self.tile_type(type_of(like).dtype, rows, columns)
        return self.emit.value(tile.FullOp, number, *self.extents_of(rows, columns, window), type)

    def offset(self, value: SSAValue, window: Window) -> tuple[Index, Index]:
        """Where the window begins in a tensor, and the elements from one row to the next."""
        emit, space = self.emit, self.space
        strides = self.frame.strides(value, len(space.domain))
        steps = [strides[axes[-1]] for axes in space.axes]
        places: dict[int, Index] = dict(zip(space.outer, window.outer, strict=True))
        row_stride: Index = 0
        if space.rows is not None:
            places[space.rows] = window.row
            row_stride = steps[space.rows]
        if space.columns is not None:
            places[space.columns] = window.column
        offset: Index = 0
        for axis, place in places.items():
            offset = emit.add(offset, emit.mul(place, steps[axis]))
        return offset, row_stride


class _Step:
    """One tile of the domain: what its operations read and make."""

    def __init__(self, kernel: VectorKernel, window: Window, held: dict[SSAValue, Held]) -> None:
        self.kernel = kernel
        self.emit = kernel.emit
        self.window = window
        self.held = held
        self.broadcasts: dict[tuple[SSAValue, bool, bool], SSAValue] = {}

    def compute(self, op: TensorOperation) -> None:
        result = op.results[0]
        match op.row.name:
            case "full":
                self.held[result] = Held(op.attribute("value"), False, False)
            case "broadcast":
                self.held[result] = self.fetch(op.arguments()[0])
            case "iota":
                self.held[result] = self.iota(op)
            case "reduce":
                self.held[result] = self.reduce(op)
            case _:
                self.held[result] = self.apply(op)

    def fetch(self, value: SSAValue) -> Held:
        """A value of this step; an input of the kernel is loaded on its first use."""
        found = self.held.get(value)
        if found is None:
            found = self.held[value] = self.load(value)
        return found

    def load(self, value: SSAValue) -> Held:
        kernel = self.kernel
        rows, columns = kernel.varies(value)
        offset, row_stride = kernel.offset(value, self.window)
        type = kernel.tile_type(type_of(value).dtype, rows, columns)
        valid = kernel.extents_of(rows, columns, self.window)
        operands = (self.emit.index(offset), self.emit.index(row_stride if rows else 0))
        handle = kernel.frame.inputs[value]
        made = self.emit.value(
            tile.LoadOp, handle, *operands, *valid, type, slots=kernel.frame.slots
        )
        return Held(made, rows, columns)

    def store(self, value: SSAValue) -> None:
        """Store a result of the kernel, as many times as it is a result."""
        kernel = self.kernel
        for output, result in zip(kernel.frame.outputs, kernel.frame.results, strict=True):
            if result is not value:
                continue
            rows, columns = kernel.varies(value)
            made = self.as_tile(value, rows, columns)
            offset, row_stride = kernel.offset(value, self.window)
            stored = kernel.stored(value)
            kernel.frame.store(
                made,
                output,
                offset,
                row_stride if rows else 0,
                stored.runs,
                stored.piece(kernel.schedule),
                stored.rows(kernel.schedule),
            )

    def as_tile(self, value: SSAValue, rows: bool, columns: bool) -> SSAValue:
        """A value as a tile that varies along the given axes."""
        found = self.fetch(value)
        if not isinstance(found.value, SSAValue):
            return self.kernel.full(found.value, value, rows, columns, self.window)
        type = self.kernel.tile_type(type_of(value).dtype, rows, columns)
        if found.value.type == type:
            return found.value
        key = (found.value, rows, columns)
        if key not in self.broadcasts:
            self.broadcasts[key] = self.broadcast(found.value, type)
        return self.broadcasts[key]

    def broadcast(self, value: SSAValue, type: tile.TileType) -> SSAValue:
        """A smaller tile spread over a larger one; bytes go through f16, which holds them all."""
        if type.dtype in (I8, U8):
            half = tile.TileType(*tile.tile_type(value).shape, F16, Space.UB)
            wide = self.broadcast(self.cast(value, half), tile.TileType(*type.shape, F16, Space.UB))
            return self.cast(wide, type)
        rows, columns = (extent > 1 for extent in type.shape)
        valid = self.kernel.extents_of(rows, columns, self.window)
        return self.emit.value(tile.BroadcastOp, value, *valid, type)

    def cast(self, value: SSAValue, type: tile.TileType) -> SSAValue:
        return self.emit.value(tile.ApplyOp, "cast", [value], type, rounding="rint")

    def apply(self, op: TensorOperation) -> Held:
        """An elementwise operation on tiles that all vary as its result does."""
        arguments = op.arguments()
        found = [
            self.fetch(a) if isinstance(a, SSAValue) else Held(a, False, False) for a in arguments
        ]
        tiles = [h for h in found if isinstance(h.value, SSAValue)]
        rows, columns = any(h.rows for h in tiles), any(h.columns for h in tiles)
        numbers = [place for place, h in enumerate(found) if not isinstance(h.value, SSAValue)]
        kept = self.immediate(op, numbers, len(found))
        operands: list[SSAValue] = []
        for place, (argument, value) in enumerate(zip(arguments, found, strict=True)):
            if place == kept:
                continue
            if isinstance(argument, SSAValue):
                operands.append(self.as_tile(argument, rows, columns))
            elif not isinstance(value.value, SSAValue):
                like = op.results[0] if op.row.name == "select" else self.typed(arguments)
                operands.append(self.kernel.full(value.value, like, rows, columns, self.window))
        rounding = op.attribute("round") if op.row.name == "cast" else None
        made = self.emit.value(
            tile.ApplyOp,
            op.row.name,
            operands,
            self.kernel.tile_type(type_of(op.results[0]).dtype, rows, columns),
            scalar=None if kept is None else found[kept].value,
            scalar_left=kept == 0,
            rounding=rounding,
        )
        return Held(made, rows, columns)

    def immediate(self, op: TensorOperation, numbers: list[int], count: int) -> int | None:
        """The place of the number that stays an immediate: the last, or the first of two."""
        if count - 1 in numbers and count > 1:
            return count - 1
        return 0 if count == 2 and 0 in numbers else None

    def typed(self, arguments: tuple[object, ...]) -> SSAValue:
        return next(a for a in arguments if isinstance(a, SSAValue))

    def reduce(self, op: TensorOperation) -> Held:
        kernel = self.kernel
        by_rows = kernel.space.kind is Kind.COLUMN
        source = op.arguments()[0]
        rows, columns = kernel.varies(source)
        if not (rows if by_rows else columns):
            return self.fetch(source)  # one element along the reduced axis
        made = self.emit.value(
            tile.ReduceOp,
            op.attribute("kind"),
            self.as_tile(source, rows, columns),
            0 if by_rows else 1,
        )
        return Held(made, rows and not by_rows, columns and by_rows)

    def iota(self, op: TensorOperation) -> Held:
        kernel, window, emit = self.kernel, self.window, self.emit
        result = op.results[0]
        shape = type_of(result).shape
        axis = op.attribute("dim") + len(kernel.space.domain) - len(shape)
        place = next((i for i, axes in enumerate(kernel.space.axes) if axis in axes), None)
        rows = place is not None and place == kernel.space.rows
        columns = place is not None and place == kernel.space.columns
        outer = dict(zip(kernel.space.outer, window.outer, strict=True))
        start = window.row if rows else window.column if columns else outer.get(place or 0, 0)
        type = kernel.tile_type(type_of(result).dtype, rows, columns)
        valid = kernel.extents_of(rows, columns, window)
        made = emit.value(tile.IotaOp, emit.index(start), int(rows), int(columns), *valid, type)
        return Held(made, rows, columns)
