"""Slices, concatenations and permutations as loops over tiles that are moved, not computed with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from pypto.dialects import tile
from pypto.dialects.emitter import Index
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.passes.tik.lowering_interleave import rows_in_group
from pypto.passes.tile.alignment import Runs, Tail, tail_of
from pypto.passes.tile.arithmetic import ceil_div, round_up
from pypto.passes.tile.kernel_frame import Frame
from pypto.passes.tile.movement import MoveAxis, Part, merge_axes, parts, row_major_strides
from pypto.passes.tile.vector_schedule import (
    RESERVE_BYTES,
    Stored,
    VectorProblem,
    VectorSchedule,
    choose_schedule,
)
from pypto.target.dtypes import F16, F32, I1, I32, I64, U8, DType
from pypto.target.instructions import exists
from pypto.target.memory import Space

# Sides of a tile whose elements are put in another order, the best one first.
SHUFFLE_SIDES = (64, 48, 32, 16)
# The most elements along a side of a tile that is transposed in one piece.
TURNED_SIDE = 128
BLOCK_BYTES = 32
# Elements this far apart are moved one by one: reading what lies between costs more.
BURST_STEP = 64

Walk: TypeAlias = list[tuple[MoveAxis, Index]]


def storage(dtype: DType) -> tuple[DType, int]:
    """The type the elements are moved as, and how many of it make one element."""
    if dtype is I1:
        return U8, 1
    return (I32, 2) if dtype is I64 else (dtype, 1)


def turned_sides(rows: int, runs: Runs, dtype: DType) -> tuple[int, int]:
    """Rows and columns of a target tile that is transposed in one piece.

    Of the widths those come first that leave rows nobody has to write back.
    """
    most = min(TURNED_SIDE, runs.length or TURNED_SIDE)
    granule = BLOCK_BYTES // dtype.bytes
    widths = [most, *range(most // granule * granule, granule, -granule)]
    across = next((width for width in widths if tail_of(runs, width) is not Tail.MERGE), most)
    return min(rows, TURNED_SIDE if dtype.bytes < F32.bytes else TURNED_SIDE // 2), across


def whole_sides(rows: int, columns: int, dtype: DType) -> tuple[int, int]:
    """The sides of a tile to transpose: groups of rows, and whole blocks; bytes go as halves."""
    turned = F16 if dtype.bytes == 1 else dtype
    return round_up(rows, rows_in_group(turned)), round_up(columns, BLOCK_BYTES // turned.bytes)


@dataclass(frozen=True)
class Shuffle:
    """How target tiles of ``down`` x ``across`` come from loaded tiles.

    ``loaded``: rows and columns read; ``source_stride``: elements between these rows in memory;
    ``steps``: elements of the loaded tile from one row, and one column, of the target to the next.
    """

    down: Part
    across: Part
    loaded: tuple[int, int]
    source_stride: int
    steps: tuple[int, int]


class MovementKernel:
    """Lowers one slice, concat or permute."""

    def __init__(self, frame: Frame, op: TensorOperation) -> None:
        self.frame = frame
        self.emit = frame.emitter
        self.op = op
        self.dtype, self.factor = storage(type_of(op.results[0]).dtype)
        self.granule = max(1, BLOCK_BYTES // min(self.dtype.bytes, 4))
        self.output = frame.outputs[0]
        self.sides: tuple[int, int] = (0, 0)
        self.gathers = exists("vgather.u16", frame.soc.architecture)

    def lower(self) -> None:
        """Emit the loops and close the frame."""
        self.emit.location = self.op.location
        getattr(self, f"lower_{self.op.row.name}")()
        self.frame.function.attributes[tile.GRANULE] = IntegerAttr(self.granule, i64)
        rows, columns = self.sides
        self.frame.close(
            {"kind": "move", "rows": rows, "columns": columns, "slots": self.frame.slots}
        )

    def lower_slice(self) -> None:
        source = self.op.arguments()[0]
        start, step = self.op.attribute("start"), self.op.attribute("step")
        strides = row_major_strides(type_of(source).shape)
        target = type_of(self.op.results[0]).shape
        axes = [
            MoveAxis(extent, stride * jump, out)
            for extent, stride, jump, out in zip(
                target, strides, step, row_major_strides(target), strict=True
            )
        ]
        base = sum(first * stride for first, stride in zip(start, strides, strict=True))
        self.move(source, axes, base, 0)

    def lower_concat(self) -> None:
        dim = self.op.attribute("dim")
        strides = row_major_strides(type_of(self.op.results[0]).shape)
        place = 0
        for source in self.op.arguments()[0]:
            shape = type_of(source).shape
            axes = map(MoveAxis, shape, row_major_strides(shape), strides)
            self.move(source, list(axes), 0, place * strides[dim])
            place += shape[dim]

    def lower_permute(self) -> None:
        source = self.op.arguments()[0]
        shape = type_of(source).shape
        strides = row_major_strides(shape)
        target = type_of(self.op.results[0]).shape
        order = [strides[axis] for axis in self.op.attribute("dims")]
        self.move(source, list(map(MoveAxis, target, order, row_major_strides(target))), 0, 0)

    def move(
        self, source: SSAValue, axes: Sequence[MoveAxis], source_base: int, target_base: int
    ) -> None:
        """Move all elements; axes are outermost first in the order of the target."""
        if any(axis.extent == 0 for axis in axes):
            return
        scaled = [MoveAxis(a.extent, a.source * self.factor, a.target * self.factor) for a in axes]
        if self.factor > 1:
            scaled.append(MoveAxis(self.factor, 1, 1))
        merged = merge_axes(scaled) or (MoveAxis(1, 1, 1),)
        bases = source_base * self.factor, target_base * self.factor
        if merged[-1].target != 1:
            merged = (*merged, MoveAxis(1, 1, 1))
        inner = next((place for place, axis in enumerate(merged) if axis.source == 1), None)
        if merged[-1].source == 1:
            self.copy(source, merged, bases)
        elif inner is None and not self.gathers:
            self.collect(source, merged, bases)
        elif inner is None and merged[-1].source >= BURST_STEP:
            self.copy(source, (*merged, MoveAxis(1, 1, 1)), bases)
        elif inner is None:
            self.pick(source, merged, bases)
        elif not self.gathers:
            self.turn(source, merged, inner, bases)
        else:
            self.transpose(source, merged, inner, bases)

    def copy(self, source: SSAValue, axes: tuple[MoveAxis, ...], bases: tuple[int, int]) -> None:
        """Runs of neighbouring elements stay runs: tiles go in and out as they are."""
        *outer, rows, columns = (MoveAxis(1, 0, 0), *axes)
        size = self.dtype.bytes
        runs = self.runs(axes, bases[1])
        schedule = self.schedule(
            Stored(runs, "columns"),
            outer=prod(axis.extent for axis in outer),
            rows=rows.extent,
            columns=columns.extent,
            element_bytes=size * self.frame.slots,
            row_bytes=0,
            moved_bytes=2 * size,
        )
        type = self.tile_type(schedule.rows, schedule.columns)
        tasks = [
            *(axis.extent for axis in outer),
            ceil_div(rows.extent, schedule.rows),
            ceil_div(columns.extent, schedule.columns),
        ]
        emit = self.emit
        with self.frame.tasks(tasks) as (*places, row_tile, column_tile):
            row = emit.mul(row_tile, schedule.rows)
            column = emit.mul(column_tile, schedule.columns)
            valid = (
                self.frame.valid(rows.extent, row, schedule.rows),
                self.frame.valid(columns.extent, column, schedule.columns),
            )
            walked = [*zip(outer, places, strict=True), (rows, row), (columns, column)]
            moved = self.load(source, bases[0], walked, rows.source, valid, type)
            held = schedule.columns, schedule.rows
            self.store(moved, bases[1], walked, rows.target, runs, *held)

    def collect(self, source: SSAValue, axes: tuple[MoveAxis, ...], bases: tuple[int, int]) -> None:
        """Elements that are no neighbours become neighbours: columns go in, rows come out."""
        *outer, column = axes
        runs = self.runs(axes, bases[1])
        schedule = self.schedule(
            Stored(runs, "rows"),
            outer=prod(axis.extent for axis in outer),
            rows=column.extent,
            columns=1,
            element_bytes=0,
            row_bytes=(BLOCK_BYTES + self.dtype.bytes) * self.frame.slots,
            moved_bytes=BLOCK_BYTES,
        )
        type = tile.TileType(schedule.rows, 1, self.dtype, Space.UB)
        tasks = [*(axis.extent for axis in outer), ceil_div(column.extent, schedule.rows)]
        with self.frame.tasks(tasks) as (*places, part):
            start = self.emit.mul(part, schedule.rows)
            valid = (self.frame.valid(column.extent, start, schedule.rows), 1)
            walked = [*zip(outer, places, strict=True), (column, start)]
            moved = self.load(source, bases[0], walked, column.source, valid, type)
            self.store(moved, bases[1], walked, column.target, runs, schedule.rows)

    def turn(
        self, source: SSAValue, axes: tuple[MoveAxis, ...], inner: int, bases: tuple[int, int]
    ) -> None:
        """As ``transpose``, every tile by one operation that takes whole groups of rows."""
        *outer, columns = axes
        rows = outer.pop(inner)
        runs = self.runs(axes, bases[1])
        down, across = self.sides = turned_sides(rows.extent, runs, self.dtype)
        type = tile.TileType(*whole_sides(across, down, self.dtype), self.dtype, Space.UB)
        tasks = [
            *(axis.extent for axis in outer),
            ceil_div(rows.extent, down),
            ceil_div(columns.extent, across),
        ]
        with self.frame.tasks(tasks) as (*places, row_tile, column_tile):
            row, column = self.emit.mul(row_tile, down), self.emit.mul(column_tile, across)
            valid = (
                self.frame.valid(columns.extent, column, across),
                self.frame.valid(rows.extent, row, down),
            )
            walked = [*zip(outer, places, strict=True), (rows, row), (columns, column)]
            loaded = self.load(source, bases[0], walked, columns.source, valid, type)
            turned = self.emit.value(tile.TransposeOp, self.as_bits(loaded))
            self.store(self.as_stored(turned), bases[1], walked, rows.target, runs, across)

    def runs(self, axes: Sequence[MoveAxis], base: int) -> Runs:
        """What a move stores, as runs along its last axis."""
        total = prod(type_of(self.op.results[0]).shape) * self.factor
        last = base + sum((axis.extent - 1) * axis.target for axis in axes)
        *outer, rows, columns = (MoveAxis(1, 0, 0), *axes)
        count = prod(axis.extent for axis in (*outer, rows))
        adjacent = rows.extent if rows.target == columns.extent else 1
        ends_tensor = last + 1 == total
        return Runs(self.dtype.bytes, columns.extent, count, ends_tensor, adjacent)

    def schedule(
        self,
        stored: Stored,
        *,
        outer: int,
        rows: int,
        columns: int,
        element_bytes: int,
        row_bytes: int,
        moved_bytes: int,
    ) -> VectorSchedule:
        """The tile of a move without arithmetic."""
        problem = VectorProblem(
            kind="elementwise",
            outer=outer,
            rows=rows,
            columns=columns,
            element_bytes=element_bytes,
            row_bytes=row_bytes,
            column_bytes=0,
            moved_bytes=moved_bytes,
            operations=1,
            granule=self.granule,
            stored=() if self.frame.copies_bytes else (stored,),
        )
        schedule = choose_schedule(problem, self.frame.soc)
        assert schedule is not None  # one element fits
        self.sides = (schedule.rows, schedule.columns)
        return schedule

    def transpose(
        self, source: SSAValue, axes: tuple[MoveAxis, ...], inner: int, bases: tuple[int, int]
    ) -> None:
        """The innermost axis of the source is not that of the target: transpose tile by tile."""
        *outer, columns = axes
        rows = outer.pop(inner)

        def tiles(side: int) -> list[Shuffle]:
            return [
                Shuffle(
                    down,
                    across,
                    (across.size, down.size),
                    columns.source,
                    (1, round_up(down.size, self.granule)),
                )
                for down in parts(rows.extent, side)
                for across in parts(columns.extent, side)
            ]

        for shuffle in self.first_that_fits(map(tiles, SHUFFLE_SIDES)):
            self.shuffle(source, outer, (rows, columns), bases, shuffle)

    def pick(self, source: SSAValue, axes: tuple[MoveAxis, ...], bases: tuple[int, int]) -> None:
        """Elements a few places apart: load the row between them and gather."""
        *outer, rows, columns = (MoveAxis(1, 0, 0), *axes)
        step = columns.source

        def tiles(side: int) -> list[Shuffle]:
            width = max(1, min(columns.extent, side * side // (2 * step)))
            height = max(1, min(rows.extent, side * side // (width * step)))
            found = []
            for down in parts(rows.extent, height):
                for across in parts(columns.extent, width):
                    span = (across.size - 1) * step + 1
                    steps = (round_up(span, self.granule), step)
                    stride = rows.source if rows.extent > 1 else span
                    found.append(Shuffle(down, across, (down.size, span), stride, steps))
            return found

        for shuffle in self.first_that_fits(map(tiles, SHUFFLE_SIDES)):
            self.shuffle(source, outer, (rows, columns), bases, shuffle)

    def first_that_fits(self, choices: Iterable[list[Shuffle]]) -> list[Shuffle]:
        """The first choice whose tiles fit the unified buffer, all loops of the kernel together."""
        room = self.frame.soc.usable[Space.UB] - RESERVE_BYTES
        tried = list(choices)
        return next((one for one in tried if sum(map(self.bytes_of, one)) <= room), tried[-1])

    def bytes_of(self, shuffle: Shuffle) -> int:
        """Bytes of the tiles of one loop: loaded, gathered, byte offsets, and halves of bytes."""
        size, slots = self.dtype.bytes, self.frame.slots
        target_type, loaded_type = self.shuffle_types(shuffle)
        loaded = loaded_type.shape[0] * round_up(loaded_type.shape[1], self.granule)
        target = target_type.shape[0] * round_up(target_type.shape[1], self.granule)
        halves = F16.bytes if size == 1 else 0
        return loaded * (size * slots + halves) + target * (size * slots + halves + 2 * I32.bytes)

    def shuffle_types(self, shuffle: Shuffle) -> tuple[tile.TileType, tile.TileType]:
        """The types of the gathered and of the loaded tile.

        Lanes that only pad a row of the target are gathered too: they must find their elements
        inside the loaded tile.
        """
        down, across = shuffle.down, shuffle.across
        reach = [round_up(side, self.granule) for side in shuffle.loaded]
        last = round_up(across.size, self.granule) * max(shuffle.steps[1], 1)
        loaded = self.tile_type(reach[0], max(reach[1], last if shuffle.steps[0] > 1 else 0))
        return self.tile_type(down.size, across.size), loaded

    def shuffle(
        self,
        source: SSAValue,
        outer: list[MoveAxis],
        inner: tuple[MoveAxis, MoveAxis],
        bases: tuple[int, int],
        shuffle: Shuffle,
    ) -> None:
        """Load tiles, gather their elements in the order of the target, store them."""
        emit = self.emit
        rows, columns = inner
        down, across = shuffle.down, shuffle.across
        self.sides = (max(self.sides[0], down.size), max(self.sides[1], across.size))
        target_type, loaded_type = self.shuffle_types(shuffle)
        offsets = emit.value(
            tile.IotaOp,
            emit.index(0),
            *(step * max(self.dtype.bytes, F16.bytes) for step in shuffle.steps),
            emit.index(down.size),
            emit.index(across.size),
            tile.TileType(*target_type.shape, I32, Space.UB),
        )
        runs = Runs(self.dtype.bytes, across.size * across.count, None, ends_tensor=False)
        tasks = [*(axis.extent for axis in outer), down.count, across.count]
        with self.frame.tasks(tasks) as (*places, row_tile, column_tile):
            row = emit.add(down.start, emit.mul(row_tile, down.size))
            column = emit.add(across.start, emit.mul(column_tile, across.size))
            walked = [*zip(outer, places, strict=True), (rows, row), (columns, column)]
            loaded = self.load(
                source, bases[0], walked, shuffle.source_stride, shuffle.loaded, loaded_type
            )
            moved = emit.value(tile.GatherOp, self.as_bits(loaded), offsets)
            self.store(self.as_stored(moved), bases[1], walked, rows.target, runs, across.size)

    def as_bits(self, loaded: SSAValue) -> SSAValue:
        """A tile the gather takes: bytes become f16, which holds all of them exactly."""
        return self.converted(loaded, F16) if self.dtype.bytes == 1 else loaded

    def as_stored(self, moved: SSAValue) -> SSAValue:
        return self.converted(moved, self.dtype) if self.dtype.bytes == 1 else moved

    def converted(self, value: SSAValue, dtype: DType) -> SSAValue:
        type = tile.TileType(*tile.tile_type(value).shape, dtype, Space.UB)
        return self.emit.value(tile.ApplyOp, "cast", [value], type, rounding="rint")

    def tile_type(self, rows: int, columns: int) -> tile.TileType:
        """A tile whose rows keep the pitch of the granule, also when they hold one element."""
        return tile.TileType(rows, max(columns, 2 if rows > 1 else 1), self.dtype, Space.UB)

    def load(
        self,
        source: SSAValue,
        base: int,
        walked: Walk,
        row_stride: int,
        valid: tuple[Index, Index],
        type: tile.TileType,
    ) -> SSAValue:
        emit = self.emit
        offset: Index = base
        for axis, place in walked:
            offset = emit.add(offset, emit.mul(place, axis.source))
        handle = self.frame.inputs[source]
        operands = (offset, row_stride, *valid)
        return emit.value(
            tile.LoadOp, handle, *map(emit.index, operands), type, slots=self.frame.slots
        )

    def store(
        self,
        value: SSAValue,
        base: int,
        walked: Walk,
        row_stride: int,
        runs: Runs,
        piece: int,
        rows: int = 1,
    ) -> None:
        emit = self.emit
        offset: Index = base
        for axis, place in walked:
            offset = emit.add(offset, emit.mul(place, axis.target))
        self.frame.store(value, self.output, offset, row_stride, runs, piece, rows)
