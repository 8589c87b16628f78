"""Matrix products as loops over output tiles, packets of K in L1 and steps of K in L0."""

from __future__ import annotations

from math import prod
from typing import Literal

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from pypto.dialects import tile
from pypto.dialects.emitter import Index
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.passes.tile.arithmetic import ceil_div
from pypto.passes.tile.kernel_frame import Frame
from pypto.passes.tile.matmul_schedule import (
    MatmulProblem,
    choose_schedule,
    drains_to_ub,
    loads_blocks,
)
from pypto.target.dtypes import F32
from pypto.target.layouts import EDGE
from pypto.target.memory import Space


class MatmulKernel:
    """Lowers one ``pypto.matmul``: every task is one tile of the result, over all of K."""

    def __init__(self, frame: Frame, op: TensorOperation) -> None:
        self.frame = frame
        self.emit = frame.emitter
        self.op = op
        self.a, self.b = op.operand_or_scalar("a"), op.operand_or_scalar("b")
        self.ta, self.tb = bool(op.attribute("ta")), bool(op.attribute("tb"))
        *batch, m, n = type_of(op.results[0]).shape
        self.batch = tuple(batch)
        self.m, self.n = m, n
        self.k = type_of(self.a).shape[-2 if self.ta else -1]
        self.dtype = type_of(self.a).dtype
        self.widths = {"a": type_of(self.a).shape[-1], "b": type_of(self.b).shape[-1]}
        if loads_blocks(self.dtype.bytes, frame.soc):
            self.take_columns_as_rows()
        self.problem = MatmulProblem(
            batch=prod(batch),
            m=self.m,
            n=self.n,
            k=self.k,
            operand_bytes=self.dtype.bytes,
            result_bytes=type_of(op.results[0]).dtype.bytes,
            ta=self.ta,
            tb=self.tb,
        )
        self.schedule = choose_schedule(self.problem, frame.soc, frame.slots)

    def take_columns_as_rows(self) -> None:
        """Take a matrix of one column as the row it is in memory: rows fill blocks.

        The product of A and a column b is the transpose of that of the rows b and A transposed.
        """
        if self.n == 1:
            self.a, self.b = self.b, self.a
            self.ta, self.tb = not self.tb, not self.ta
            self.m, self.n = 1, self.m
            self.widths = {"a": self.k, "b": self.widths["a"]}
        if self.m == 1 and self.ta:
            self.ta, self.widths["a"] = False, self.k

    def lower(self) -> None:
        """Emit the loops and close the frame."""
        emit, schedule = self.emit, self.schedule
        emit.location = self.op.location
        tiles = [ceil_div(self.m, schedule.m), ceil_div(self.n, schedule.n)]
        with self.frame.tasks([*self.batch, *tiles]) as (*batch, row_tile, column_tile):
            if tiles[1] == 1 and drains_to_ub(self.frame.soc):
                column_tile = 0  # rows are short ones of a known length
            row = emit.mul(row_tile, schedule.m)
            column = emit.mul(column_tile, schedule.n)
            rows = self.frame.valid(self.m, row, schedule.m)
            columns = self.frame.valid(self.n, column, schedule.n)
            total = self.product(batch, row, column, rows, columns)
            result = self.op.results[0]
            self.store(total, *self.place(result, self.n, batch, row, column))
        self.frame.close(
            {
                "m": schedule.m,
                "n": schedule.n,
                "k": schedule.k,
                "k_l1": schedule.k_l1,
                "slots": schedule.slots,
                "result_slots": schedule.result_slots,
            }
        )

    def product(
        self, batch: list[Index], row: Index, column: Index, rows: Index, columns: Index
    ) -> SSAValue:
        """The accumulator of one tile after all of K."""
        emit, schedule = self.emit, self.schedule
        start = emit.value(
            tile.AccumulatorOp,
            emit.index(rows),
            emit.index(columns),
            tile.TileType(schedule.m, schedule.n, F32, Space.L0C),
            slots=schedule.result_slots,
        )
        with emit.for_(0, ceil_div(self.k, schedule.k_l1), [start]) as packets:
            first = emit.mul(packets.index, schedule.k_l1)
            depth = self.frame.valid(self.k, first, schedule.k_l1)
            a = self.load("a", batch, (row, first), (rows, depth))
            b = self.load("b", batch, (first, column), (depth, columns))
            with emit.for_(0, emit.ceil_div(depth, schedule.k), packets.args) as steps:
                inner = emit.mul(steps.index, schedule.k)
                step = self.frame.valid(depth, inner, schedule.k)
                left = self.extract(a, (0, inner), (rows, step), self.ta, Space.L0A)
                right = self.extract(b, (inner, 0), (step, columns), self.tb, Space.L0B)
                is_first = emit.equal(emit.add(first, inner), 0)
                steps.yield_(
                    emit.value(tile.MmaOp, steps.args[0], left, right, emit.index(is_first))
                )
            packets.yield_(*steps.results)
        return packets.results[0]

    def store(self, total: SSAValue, offset: Index, stride: Index) -> None:
        """Bring an accumulator to the result, through UB where there is no other way."""
        frame, schedule = self.frame, self.schedule
        if drains_to_ub(frame.soc):
            frame.function.attributes[tile.GRANULE] = IntegerAttr(EDGE, i64)
            dtype = type_of(self.op.results[0]).dtype
            type = tile.TileType(schedule.m, schedule.n, dtype, Space.UB)
            total = self.emit.value(tile.DrainOp, total, type)
            frame.store(
                total, frame.outputs[0], offset, stride, self.problem.runs, schedule.n, schedule.m
            )
            return
        places = self.emit.index(offset), self.emit.index(stride)
        self.emit.op(tile.StoreOp, total, frame.outputs[0], *places)

    def load(
        self,
        factor: Literal["a", "b"],
        batch: list[Index],
        start: tuple[Index, Index],
        valid: tuple[Index, Index],
    ) -> SSAValue:
        """A packet of an operand in L1, as it lies in memory: transposed ones stay so."""
        emit, schedule = self.emit, self.schedule
        if factor == "a":
            value, shape, transposed = self.a, (schedule.m, schedule.k_l1), self.ta
        else:
            value, shape, transposed = self.b, (schedule.k_l1, schedule.n), self.tb
        if transposed:
            start, valid = (start[1], start[0]), (valid[1], valid[0])
            shape = shape[1], shape[0]
        offset, stride = self.place(value, self.widths[factor], batch, *start)
        return emit.value(
            tile.LoadOp,
            self.frame.inputs[value],
            emit.index(offset),
            emit.index(stride),
            *map(emit.index, valid),
            tile.TileType(*shape, self.dtype, Space.L1),
            slots=schedule.slots,
        )

    def extract(
        self,
        packet: SSAValue,
        start: tuple[Index, Index],
        valid: tuple[Index, Index],
        transposed: bool,
        space: Space,
    ) -> SSAValue:
        """A step of a packet in L0A or L0B, always untransposed there."""
        emit, schedule = self.emit, self.schedule
        shape = (schedule.m, schedule.k) if space is Space.L0A else (schedule.k, schedule.n)
        places = start[::-1] if transposed else start
        return emit.value(
            tile.ExtractOp,
            packet,
            *map(emit.index, places),
            *map(emit.index, valid),
            tile.TileType(*shape, self.dtype, space),
            transpose=transposed,
            slots=schedule.slots,
        )

    def place(
        self, value: SSAValue, width: int, batch: list[Index], row: Index, column: Index
    ) -> tuple[Index, Index]:
        """Offset of an element in a tensor with rows of ``width`` elements, and that width.

        Leading axes of extent 1 are broadcast: their stride is 0.
        """
        emit = self.emit
        rank = len(self.batch) + 2
        *steps, _, _ = self.frame.strides(value, rank)
        offset = emit.add(emit.mul(row, width), column)
        for place, step in zip(batch, steps, strict=True):
            offset = emit.add(offset, emit.mul(place, step))
        return offset, width
