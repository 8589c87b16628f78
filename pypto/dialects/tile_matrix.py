"""Tile operations that move tiles between memory spaces, and the matrix product."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerAttr, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.tile_base import I64, ONE, RootOp, TileOp, verify_slots
from pypto.dialects.tile_types import CUBE_DTYPES, GlobalType, TileType, moves, tile_type
from pypto.target.memory import Space


@irdl_op_definition
class LoadOp(RootOp):
    """result[r, c] = source[offset + r * row_stride + c]; L1 tiles get the NZ layout.

    Offset and stride count elements of the tile: ``i1`` may be moved as ``ui8``, ``i64`` as pairs
    of ``i32``.
    """

    name = "tile.load"

    source = operand_def(GlobalType)
    offset = operand_def(IndexType)
    row_stride = operand_def(IndexType)
    valid_rows = operand_def(IndexType)
    valid_columns = operand_def(IndexType)
    slots = prop_def(I64, default_value=ONE)
    result = result_def(TileType)

    assembly_format = (
        "$source `[` $offset `]` `stride` $row_stride `valid` `(` $valid_rows `,` $valid_columns "
        "`)` (`slots` $slots^)? attr-dict `:` type($source) `->` type($result)"
    )
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        source: SSAValue,
        offset: SSAValue,
        row_stride: SSAValue,
        valid_rows: SSAValue,
        valid_columns: SSAValue,
        result_type: TileType,
        slots: int = 1,
    ) -> None:
        super().__init__(
            operands=[source, offset, row_stride, valid_rows, valid_columns],
            result_types=[result_type],
            properties={"slots": IntegerAttr(slots, i64)},
        )

    def verify_(self) -> None:
        self.verify_valid()
        verify_slots(self.slots)
        source, tile = self.source.type, self.tile
        if isinstance(source, GlobalType) and not moves(source, tile):
            raise VerifyException(f"a load keeps the element type: {source} is not {tile}")
        if tile.space not in (Space.UB, Space.L1):
            raise VerifyException(f"tile.load fills ub or l1, not {tile.space}")


@irdl_op_definition
class StoreOp(IRDLOperation):
    """target[offset + r * row_stride + c] = tile[r, c] for the valid part of the tile.

    From L0C the values are rounded to the element type of the target, after ``relu`` if present.
    A machine that copies whole 32-byte blocks may write up to 31 bytes behind a row; with
    ``merge`` what lies there is written back as it was read, with ``exact`` it is not touched.
    """

    name = "tile.store"

    source = operand_def(TileType)
    target = operand_def(GlobalType)
    offset = operand_def(IndexType)
    row_stride = operand_def(IndexType)
    relu = opt_prop_def(UnitAttr)
    merge = opt_prop_def(UnitAttr)
    exact = opt_prop_def(UnitAttr)

    assembly_format = (
        "$source `,` $target `[` $offset `]` `stride` $row_stride (`relu` $relu^)? "
        "(`merge` $merge^)? (`exact` $exact^)? attr-dict `:` type($source) `,` type($target)"
    )
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        source: SSAValue,
        target: SSAValue,
        offset: SSAValue,
        row_stride: SSAValue,
        relu: bool = False,
        *,
        merge: bool = False,
        exact: bool = False,
    ) -> None:
        marks = {"relu": relu, "merge": merge, "exact": exact}
        super().__init__(
            operands=[source, target, offset, row_stride],
            properties={name: UnitAttr() if is_set else None for name, is_set in marks.items()},
        )

    def verify_(self) -> None:
        tile, target = tile_type(self.source), self.target.type
        if tile.space not in (Space.UB, Space.L0C):
            raise VerifyException(f"tile.store empties ub or l0c, not {tile.space}")
        if not isinstance(target, GlobalType):
            return
        if tile.space is Space.L0C:
            if target.dtype.name not in CUBE_DTYPES:
                raise VerifyException(f"l0c is stored as {', '.join(CUBE_DTYPES)}, not as {target}")
        elif not moves(target, tile):
            raise VerifyException(f"a store keeps the element type: {tile} is not {target}")
        if self.relu is not None and tile.space is not Space.L0C:
            raise VerifyException("relu on the way out is done from l0c only")
        if self.merge is not None and self.exact is not None:
            raise VerifyException("what lies behind a row is written back or not touched, not both")


@irdl_op_definition
class DrainOp(TileOp):
    """result[r, c] = accumulator[r, c] from L0C in UB, rounded, after ``relu`` if present.

    The way out of a core whose accumulator has no path to global memory of its own.
    """

    name = "tile.drain"

    source = operand_def(TileType)
    relu = opt_prop_def(UnitAttr)
    result = result_def(TileType)

    assembly_format = "$source (`relu` $relu^)? attr-dict `:` type($source) `->` type($result)"
    traits = traits_def(MemoryReadEffect())

    def __init__(self, source: SSAValue, result_type: TileType, relu: bool = False) -> None:
        super().__init__(
            operands=[source],
            result_types=[result_type],
            properties={"relu": UnitAttr() if relu else None},
        )

    def verify_(self) -> None:
        source, tile = tile_type(self.source), self.tile
        if source.space is not Space.L0C or tile.space is not Space.UB:
            raise VerifyException(f"tile.drain goes from l0c to ub: {source} -> {tile}")
        if source.shape != tile.shape:
            raise VerifyException(f"a drain keeps the shape: {source} is not {tile}")
        if tile.dtype.name not in CUBE_DTYPES:
            raise VerifyException(f"l0c is drained as {', '.join(CUBE_DTYPES)}, not as {tile}")


@irdl_op_definition
class ExtractOp(RootOp):
    """result[r, c] = source[row + r, column + c]; transposed: source[row + c, column + r]."""

    name = "tile.extract"

    source = operand_def(TileType)
    row = operand_def(IndexType)
    column = operand_def(IndexType)
    valid_rows = operand_def(IndexType)
    valid_columns = operand_def(IndexType)
    transpose = opt_prop_def(UnitAttr)
    slots = prop_def(I64, default_value=ONE)
    result = result_def(TileType)

    assembly_format = (
        "$source `[` $row `,` $column `]` `valid` `(` $valid_rows `,` $valid_columns `)` "
        "(`transpose` $transpose^)? (`slots` $slots^)? attr-dict "
        "`:` type($source) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        row: SSAValue,
        column: SSAValue,
        valid_rows: SSAValue,
        valid_columns: SSAValue,
        result_type: TileType,
        *,
        transpose: bool = False,
        slots: int = 1,
    ) -> None:
        super().__init__(
            operands=[source, row, column, valid_rows, valid_columns],
            result_types=[result_type],
            properties={
                "transpose": UnitAttr() if transpose else None,
                "slots": IntegerAttr(slots, i64),
            },
        )

    def verify_(self) -> None:
        self.verify_valid()
        verify_slots(self.slots)
        source, tile = tile_type(self.source), self.tile
        if source.space is not Space.L1 or tile.space not in (Space.L0A, Space.L0B):
            raise VerifyException(f"tile.extract goes from l1 to l0a or l0b: {source} -> {tile}")
        if source.element != tile.element:
            raise VerifyException(f"an extract keeps the element type: {source} is not {tile}")


@irdl_op_definition
class AccumulatorOp(RootOp):
    """A fresh accumulator in L0C; its contents are undefined until a mma overwrites them."""

    name = "tile.accumulator"

    valid_rows = operand_def(IndexType)
    valid_columns = operand_def(IndexType)
    slots = prop_def(I64, default_value=ONE)
    result = result_def(TileType)

    assembly_format = (
        "`valid` `(` $valid_rows `,` $valid_columns `)` (`slots` $slots^)? attr-dict "
        "`:` type($result)"
    )
    traits = traits_def(MemoryAllocEffect())

    def __init__(
        self,
        valid_rows: SSAValue,
        valid_columns: SSAValue,
        result_type: TileType,
        slots: int = 1,
    ) -> None:
        super().__init__(
            operands=[valid_rows, valid_columns],
            result_types=[result_type],
            properties={"slots": IntegerAttr(slots, i64)},
        )

    def verify_(self) -> None:
        self.verify_valid()
        verify_slots(self.slots)
        if self.tile.space is not Space.L0C:
            raise VerifyException(f"an accumulator lives in l0c, not in {self.tile.space}")


@irdl_op_definition
class MmaOp(TileOp):
    """accumulator = a @ b when ``init`` is 1, accumulator + a @ b when it is 0; same buffer."""

    name = "tile.mma"

    accumulator = operand_def(TileType)
    a = operand_def(TileType)
    b = operand_def(TileType)
    init = operand_def(IndexType)
    result = result_def(TileType)

    assembly_format = (
        "$accumulator `,` $a `,` $b `init` $init attr-dict "
        "`:` type($accumulator) `,` type($a) `,` type($b) `->` type($result)"
    )
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, accumulator: SSAValue, a: SSAValue, b: SSAValue, init: SSAValue) -> None:
        super().__init__(operands=[accumulator, a, b, init], result_types=[accumulator.type])

    def verify_(self) -> None:
        c, a, b = (tile_type(value) for value in (self.accumulator, self.a, self.b))
        if (c.space, a.space, b.space) != (Space.L0C, Space.L0A, Space.L0B):
            raise VerifyException(
                f"tile.mma takes l0c, l0a, l0b; got {c.space}, {a.space}, {b.space}"
            )
        if c != self.tile:
            raise VerifyException(f"tile.mma yields its accumulator's type {c}, not {self.tile}")
        if a.element != b.element:
            raise VerifyException(f"both factors have one element type: {a} and {b}")
        if a.shape[1] != b.shape[0] or c.shape != (a.shape[0], b.shape[1]):
            raise VerifyException(f"shapes of a product do not fit: {a} @ {b} -> {c}")
