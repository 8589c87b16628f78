"""Runs kernels of the tile level on arrays: every block of the grid, one after another.

A tile holds its whole static shape, and outside of its valid part garbage that floats show as
NaN: a wrong valid shape, a lost tail or an off-by-one reaches the results. Loads read and stores
write exactly the valid part; what lies outside of a tensor is an error. On a machine that copies
whole blocks a store leaves garbage behind each row, unless it says that it does not. Blocks of the
grid have no order on a machine, so two that write the same element are an error, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from pypto.dialects import tik, tile
from pypto.dialects.locations import nearest_source
from pypto.dialects.scalars import SCALAR_MEANINGS, SCALAR_OPERATIONS
from pypto.errors import CompileError, DeviceError
from pypto.ops.types import TensorType
from pypto.runtime.tile_numbers import Numbers, Planes
from pypto.target.dtypes import DType
from pypto.target.layouts import round_up
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES, Space

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    **dict.fromkeys(("slt", "ult"), lambda a, b: a < b),
    **dict.fromkeys(("sle", "ule"), lambda a, b: a <= b),
    **dict.fromkeys(("sgt", "ugt"), lambda a, b: a > b),
    **dict.fromkeys(("sge", "uge"), lambda a, b: a >= b),
}


@dataclass(frozen=True)
class GlobalTensor:
    """A tensor in global memory: flat planes of elements that stores change."""

    planes: Planes
    dtype: DType

    def moved_as(self, dtype: DType) -> Planes:
        """The same bytes as elements that a tile of this type takes."""
        if dtype == self.dtype:
            return self.planes
        return tuple(plane.view(dtype.numpy) for plane in self.planes)


@dataclass(frozen=True)
class TileValue:
    """A tile: planes of its static shape, and how much of them is valid."""

    planes: Planes
    type: tile.TileType
    rows: int
    columns: int

    @property
    def valid(self) -> Planes:
        """The valid part."""
        return self.part(self.rows, self.columns)

    def part(self, rows: int, columns: int) -> Planes:
        """The first rows and columns, valid or not."""
        return tuple(plane[:rows, :columns] for plane in self.planes)


Argument = GlobalTensor | int
# Per tensor the block, counted from 1, that has written each element; 0 where none has.
Writers = dict[SSAValue, np.ndarray]


def run_kernel(
    kernel: func.FuncOp,
    arguments: Sequence[Argument],
    grid: int,
    numbers: Numbers,
    *,
    whole_blocks: bool = False,
) -> None:
    """Run a kernel of tiles on ``grid`` blocks; its stores change the tensors passed.

    ``whole_blocks``: the machine copies whole blocks of 32 bytes only.
    """
    writers: Writers = {}
    with np.errstate(all="ignore"):
        for block in range(grid):
            _Run(kernel, arguments, block, grid, numbers, whole_blocks, writers).run()


class _Run:
    """One block of a launch."""

    def __init__(
        self,
        kernel: func.FuncOp,
        arguments: Sequence[Argument],
        block: int,
        grid: int,
        numbers: Numbers,
        whole_blocks: bool,
        writers: Writers,
    ) -> None:
        self.kernel = kernel
        self.block = block
        self.grid = grid
        self.numbers = numbers
        self.whole_blocks = whole_blocks
        self.writers = writers
        granule = kernel.attributes.get(tile.GRANULE)
        self.granule = granule.value.data if isinstance(granule, IntegerAttr) else 1
        self.values: dict[SSAValue, Any] = dict(zip(kernel.body.block.args, arguments, strict=True))

    def run(self) -> None:
        self.run_block(self.kernel.body.block)

    def run_block(self, block: Block) -> Sequence[Any]:
        """Run the operations of a block; gives what it yields."""
        for op in block.ops:
            if isinstance(op, scf.YieldOp):
                return [self.values[value] for value in op.arguments]
            handler = HANDLERS.get(type(op))
            if handler is None:
                raise self.error(
                    op, "UNKNOWN_TILE_OPERATION", f"{op.name} has no meaning in a tile kernel"
                )
            handler(self, op)
        return ()

    def error(self, op: Operation, code: str, message: str) -> CompileError:
        name = self.kernel.sym_name.data
        return CompileError(
            code,
            f"kernel {name}, block {self.block} of {self.grid}: {message}",
            location=nearest_source(op),
        )

    # Scalars and structure.

    def constant(self, op: arith.ConstantOp) -> None:
        assert isinstance(op.value, IntegerAttr)
        self.values[op.result] = op.value.value.data

    def scalar(self, op: Operation) -> None:
        name = op.kind.data.value if isinstance(op, tik.CompareOp) else SCALAR_OPERATIONS[type(op)]
        a, b = (self.values[operand] for operand in op.operands)
        self.values[op.results[0]] = SCALAR_MEANINGS[name](a, b)

    def compare(self, op: arith.CmpiOp) -> None:
        name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
        self.values[op.result] = COMPARISONS[name](self.values[op.lhs], self.values[op.rhs])

    def block_index(self, op: tik.BlockIndexOp) -> None:
        self.values[op.result] = self.block

    def block_count(self, op: tik.BlockCountOp) -> None:
        self.values[op.result] = self.grid

    def loop(self, op: scf.ForOp) -> None:
        body = op.body.block
        carried = [self.values[value] for value in op.iter_args]
        for turn in range(self.values[op.lb], self.values[op.ub], self.values[op.step]):
            self.values.update(zip(body.args, [turn, *carried], strict=True))
            carried = list(self.run_block(body))
        self.values.update(zip(op.results, carried, strict=True))

    def branch(self, op: scf.IfOp) -> None:
        region = op.true_region if self.values[op.cond] else op.false_region
        yielded = self.run_block(region.block) if region.blocks else ()
        self.values.update(zip(op.results, yielded, strict=True))

    # Tiles.

    def valid(self, op: tile.RootOp) -> tuple[int, int]:
        rows, columns = self.values[op.valid_rows], self.values[op.valid_columns]
        if not (0 <= rows <= op.tile.shape[0] and 0 <= columns <= op.tile.shape[1]):
            raise self.error(
                op, "TILE_VALID_SHAPE", f"{op.name}: {rows}x{columns} valid elements in {op.tile}"
            )
        return rows, columns

    def make(self, result: SSAValue, rows: int, columns: int, valid: Planes) -> None:
        """Give a result: garbage with its valid part in place."""
        kind = tile.tile_type(result)
        planes = self.numbers.garbage(kind.shape, kind.dtype)
        for plane, part in zip(planes, valid, strict=True):
            plane[:rows, :columns] = part
        self.values[result] = TileValue(planes, kind, rows, columns)

    def window(
        self,
        op: tile.LoadOp | tile.StoreOp,
        planes: Planes,
        rows: int,
        columns: int,
    ) -> Planes:
        """The elements of a tensor that a tile is loaded from or stored to."""
        offset, stride = self.values[op.offset], self.values[op.row_stride]
        if rows == 0 or columns == 0:
            return tuple(np.empty((rows, columns), plane.dtype) for plane in planes)
        reach = (rows - 1) * stride
        first, last = offset + min(0, reach), offset + max(0, reach) + columns - 1
        size = planes[0].size
        if first < 0 or last >= size:
            raise self.error(
                op,
                "TILE_OUT_OF_RANGE",
                f"{op.name} touches elements {first} to {last} of a tensor of {size}",
            )
        return tuple(
            np.lib.stride_tricks.as_strided(
                plane[offset:],
                (rows, columns),
                (stride * plane.itemsize, plane.itemsize),
            )
            for plane in planes
        )

    def load(self, op: tile.LoadOp) -> None:
        rows, columns = self.valid(op)
        planes = self.values[op.source].moved_as(op.tile.dtype)
        self.make(op.result, rows, columns, self.window(op, planes, rows, columns))

    def store(self, op: tile.StoreOp) -> None:
        source: TileValue = self.values[op.source]
        target: GlobalTensor = self.values[op.target]
        valid, dtype = source.valid, source.type.dtype
        if source.type.space is Space.L0C:
            dtype = target.dtype
            valid = self.numbers.narrow(valid, dtype, relu=op.relu is not None, saturates=True)
        planes = target.moved_as(dtype)
        places = self.window(op, planes, source.rows, source.columns)
        is_exact = not self.whole_blocks or op.exact is not None
        run = source.rows if self.is_column(op, source) else source.columns
        spill = 0 if is_exact else -run % max(1, BLOCK_BYTES // dtype.bytes)
        if self.grid > 1:
            self.claim(op, planes, source, spill)
        if op.merge is None:
            for behind in self.behind(op, planes, source, spill):
                nothing = self.numbers.garbage(behind[0].shape, dtype)
                for place, plane in zip(behind, nothing, strict=True):
                    place[...] = plane
        for place, plane in zip(places, valid, strict=True):
            place[...] = plane

    def is_column(self, op: tile.StoreOp, source: TileValue) -> bool:
        """Whether a tile of one column is stored as one row."""
        return source.type.shape[1] == 1 and self.values[op.row_stride] == 1

    def behind(
        self, op: tile.StoreOp, planes: Planes, source: TileValue, count: int
    ) -> Iterator[Planes]:
        """``count`` elements behind each row, at most up to the end of the tensor."""
        offset, stride = self.values[op.offset], self.values[op.row_stride]
        first = source.rows - 1 if self.is_column(op, source) else 0
        for row in range(first, source.rows if count else 0):
            start = offset + row * stride + source.columns
            yield tuple(plane[start : start + count] for plane in planes)

    def claim(self, op: tile.StoreOp, planes: Planes, source: TileValue, spill: int) -> None:
        """Raise when another block has written what this one stores, and ``spill`` behind rows."""
        if op.target not in self.writers:
            self.writers[op.target] = np.zeros(planes[0].size, np.int32)
        writers = (self.writers[op.target],)
        places = self.window(op, writers, source.rows, source.columns)
        for (place,) in (places, *self.behind(op, writers, source, spill)):
            others = place[(place != 0) & (place != self.block + 1)]
            if others.size:
                raise DeviceError(
                    "RACE_WAW",
                    f"kernel {self.kernel.sym_name.data}: blocks {others[0] - 1} and {self.block} "
                    f"of {self.grid} store to the same bytes",
                    location=nearest_source(op),
                    fix="give the bytes to one block only, or launch a grid of one block",
                )
            place[...] = self.block + 1

    def full(self, op: tile.FullOp) -> None:
        rows, columns = self.valid(op)
        number = np.asarray(op.number).astype(op.tile.dtype.numpy)
        self.make(op.result, rows, columns, self.numbers.lift(np.full((rows, columns), number)))

    def iota(self, op: tile.IotaOp) -> None:
        rows, columns = self.valid(op)
        row, column = np.indices((rows, columns))
        places = self.values[op.start] + (
            row * op.row_step.value.data + column * op.column_step.value.data
        )
        self.make(op.result, rows, columns, self.numbers.lift(places.astype(np.int32)))

    def apply(self, op: tile.ApplyOp) -> None:
        like: TileValue = self.values[op.arguments[0]]
        rows, columns = like.rows, like.columns
        operands = [
            (self.values[value].part(rows, columns), tile.tile_type(value).dtype)
            if isinstance(value, SSAValue)
            else value
            for value in op.inputs
        ]
        attributes: dict[str, Any] = {}
        if op.operator.data == "cast":
            rounding = "rint" if op.rounding is None else op.rounding.data
            attributes = {"dtype": op.tile.dtype, "round": rounding}
        kind = TensorType((rows, columns), op.tile.dtype)
        made = self.numbers.apply(op.operator.data, operands, attributes, kind)
        self.make(op.result, rows, columns, made)

    def broadcast(self, op: tile.BroadcastOp) -> None:
        rows, columns = self.valid(op)
        source: TileValue = self.values[op.source]
        small = source.part(min(rows, source.type.shape[0]), min(columns, source.type.shape[1]))
        spread = tuple(np.broadcast_to(plane, (rows, columns)) for plane in small)
        self.make(op.result, rows, columns, spread)

    def transpose(self, op: tile.TransposeOp) -> None:
        source: TileValue = self.values[op.source]
        turned = tuple(plane.T for plane in source.valid)
        self.make(op.result, source.columns, source.rows, turned)

    def reduce(self, op: tile.ReduceOp) -> None:
        source: TileValue = self.values[op.source]
        axis = op.axis.value.data
        rows, columns = (1, source.columns) if axis == 0 else (source.rows, 1)
        attributes = {"kind": op.kind.data.value, "dims": (axis,), "keepdim": True}
        dtype = source.type.dtype
        kind = TensorType((rows, columns), dtype)
        made = self.numbers.apply("reduce", [(source.valid, dtype)], attributes, kind)
        self.make(op.result, rows, columns, made)

    def gather(self, op: tile.GatherOp) -> None:
        offsets: TileValue = self.values[op.offsets]
        buffer = self.packed(self.values[op.source])
        size = op.tile.dtype.bytes
        places = offsets.valid[0].astype(np.int64)
        wrong = (places < 0) | (places + size > buffer[0].size * size) | (places % size != 0)
        if wrong.any():
            raise self.error(
                op,
                "TILE_OUT_OF_RANGE",
                f"tile.gather at byte {int(places[wrong][0])} of a buffer of "
                f"{buffer[0].size * size} bytes of {size}-byte elements",
            )
        made = tuple(plane[places // size] for plane in buffer)
        self.make(op.result, offsets.rows, offsets.columns, made)

    def packed(self, source: TileValue) -> Planes:
        """The buffer of a tile in UB: rows of the valid columns in whole granules."""
        rows, columns = source.type.shape
        pitch = 1 if columns == 1 else round_up(source.columns, self.granule)
        size = source.type.dtype.bytes
        most = rows if columns == 1 else rows * round_up(columns, self.granule)
        buffer = self.numbers.garbage(
            (round_up(most * size, REPEAT_BYTES) // size,), source.type.dtype
        )
        for plane, part in zip(buffer, source.valid, strict=True):
            lines = plane[: source.rows * pitch].reshape(source.rows, pitch)
            lines[:, : source.columns] = part
        return buffer

    def extract(self, op: tile.ExtractOp) -> None:
        rows, columns = self.valid(op)
        source: TileValue = self.values[op.source]
        row, column = self.values[op.row], self.values[op.column]
        down, across = (columns, rows) if op.transpose is not None else (rows, columns)
        limit = source.type.shape
        if row < 0 or column < 0 or row + down > limit[0] or column + across > limit[1]:
            raise self.error(
                op,
                "TILE_OUT_OF_RANGE",
                f"tile.extract of {down}x{across} elements at [{row}, {column}] of {source.type}",
            )
        parts = tuple(p[row : row + down, column : column + across] for p in source.planes)
        if op.transpose is not None:
            parts = tuple(part.T for part in parts)
        self.make(op.result, rows, columns, parts)

    def accumulator(self, op: tile.AccumulatorOp) -> None:
        rows, columns = self.valid(op)
        nothing = self.numbers.garbage((rows, columns), op.tile.dtype)
        self.make(op.result, rows, columns, nothing)

    def multiply(self, op: tile.MmaOp) -> None:
        total: TileValue = self.values[op.accumulator]
        a: TileValue = self.values[op.a]
        b: TileValue = self.values[op.b]
        rows, depth, columns = total.rows, a.columns, total.columns
        before = None if self.values[op.init] else total.valid
        factors = a.part(rows, depth), b.part(depth, columns)
        made = self.numbers.multiply(before, *factors, a.type.dtype)
        self.make(op.result, rows, columns, made)

    def drain(self, op: tile.DrainOp) -> None:
        source: TileValue = self.values[op.source]
        relu = op.relu is not None
        made = self.numbers.narrow(source.valid, op.tile.dtype, relu=relu, saturates=False)
        self.make(op.result, source.rows, source.columns, made)


HANDLERS: dict[type[Operation], Callable[[_Run, Any], None]] = {
    **dict.fromkeys((*SCALAR_OPERATIONS, tik.CompareOp), _Run.scalar),
    arith.ConstantOp: _Run.constant,
    arith.CmpiOp: _Run.compare,
    tik.BlockIndexOp: _Run.block_index,
    tik.BlockCountOp: _Run.block_count,
    scf.ForOp: _Run.loop,
    scf.IfOp: _Run.branch,
    func.ReturnOp: lambda run, op: None,
    tile.LoadOp: _Run.load,
    tile.StoreOp: _Run.store,
    tile.FullOp: _Run.full,
    tile.IotaOp: _Run.iota,
    tile.ApplyOp: _Run.apply,
    tile.BroadcastOp: _Run.broadcast,
    tile.ReduceOp: _Run.reduce,
    tile.GatherOp: _Run.gather,
    tile.TransposeOp: _Run.transpose,
    tile.ExtractOp: _Run.extract,
    tile.AccumulatorOp: _Run.accumulator,
    tile.MmaOp: _Run.multiply,
    tile.DrainOp: _Run.drain,
}  # pyright: ignore[reportAssignmentType]
