"""Tile operations of the vector unit."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.text import number_text, number_value, parse_enum, parse_number
from pypto.dialects.tile_base import (
    I64,
    RootOp,
    TileOp,
    attribute_of,
    parse_tile_type,
    parse_valid,
    verify_same,
)
from pypto.dialects.tile_types import ReduceKind, ReduceKindAttr, TileType, tile_type
from pypto.target.memory import Space


@irdl_op_definition
class FullOp(RootOp):
    """result[r, c] = value."""

    name = "tile.full"

    value = prop_def(Attribute)
    valid_rows = operand_def(IndexType)
    valid_columns = operand_def(IndexType)
    result = result_def(TileType)

    traits = traits_def(Pure())

    def __init__(
        self,
        value: int | float | Attribute,
        valid_rows: SSAValue,
        valid_columns: SSAValue,
        result_type: TileType,
    ) -> None:
        super().__init__(
            operands=[valid_rows, valid_columns],
            result_types=[result_type],
            properties={"value": attribute_of(value)},
        )

    @property
    def number(self) -> int | float:
        """The value as a Python number."""
        return number_value(self.value)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {number_text(self.number)} valid(")
        printer.print_list((self.valid_rows, self.valid_columns), printer.print_operand)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> FullOp:
        value = parse_number(parser)
        rows, columns = parse_valid(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(value, rows, columns, parse_tile_type(parser))
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        self.verify_valid()
        if self.tile.space is not Space.UB:
            raise VerifyException(f"tile.full fills ub, not {self.tile.space}")


@irdl_op_definition
class IotaOp(RootOp):
    """result[r, c] = start + r * row_step + c * column_step."""

    name = "tile.iota"

    start = operand_def(IndexType)
    valid_rows = operand_def(IndexType)
    valid_columns = operand_def(IndexType)
    row_step = prop_def(I64)
    column_step = prop_def(I64)
    result = result_def(TileType)

    assembly_format = (
        "$start `steps` `(` $row_step `,` $column_step `)` `valid` `(` $valid_rows `,` "
        "$valid_columns `)` attr-dict `:` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self,
        start: SSAValue,
        row_step: int,
        column_step: int,
        valid_rows: SSAValue,
        valid_columns: SSAValue,
        result_type: TileType,
    ) -> None:
        super().__init__(
            operands=[start, valid_rows, valid_columns],
            result_types=[result_type],
            properties={
                "row_step": IntegerAttr(row_step, i64),
                "column_step": IntegerAttr(column_step, i64),
            },
        )

    def verify_(self) -> None:
        self.verify_valid()
        if self.tile.space is not Space.UB or self.tile.dtype.name != "i32":
            raise VerifyException(f"tile.iota makes an i32 tile in ub, not {self.tile}")


@irdl_op_definition
class BroadcastOp(RootOp):
    """result[r, c] = source[r or 0, c or 0]: repeats a row, a column or one element."""

    name = "tile.broadcast"

    source = operand_def(TileType)
    valid_rows = operand_def(IndexType)
    valid_columns = operand_def(IndexType)
    result = result_def(TileType)

    assembly_format = (
        "$source `valid` `(` $valid_rows `,` $valid_columns `)` attr-dict "
        "`:` type($source) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        valid_rows: SSAValue,
        valid_columns: SSAValue,
        result_type: TileType,
    ) -> None:
        super().__init__(operands=[source, valid_rows, valid_columns], result_types=[result_type])

    def verify_(self) -> None:
        self.verify_valid()
        source = tile_type(self.source)
        verify_same(source, self.tile, "tile.broadcast")
        for small, large in zip(source.shape, self.tile.shape, strict=True):
            if small not in (1, large):
                raise VerifyException(f"{source} does not broadcast to {self.tile}")


@irdl_op_definition
class ReduceOp(TileOp):
    """Joins the valid elements along one axis: axis 0 leaves 1 x C, axis 1 leaves R x 1."""

    name = "tile.reduce"

    kind = prop_def(ReduceKindAttr)
    source = operand_def(TileType)
    axis = prop_def(I64)
    result = result_def(TileType)

    traits = traits_def(Pure())

    def __init__(
        self,
        kind: ReduceKind | str,
        source: SSAValue,
        axis: int,
        result_type: TileType | None = None,
    ) -> None:
        if result_type is None:
            rows, columns = tile_type(source).shape
            shape = (1, columns) if axis == 0 else (rows, 1)
            result_type = tile_type(source).with_shape(*shape)
        super().__init__(
            operands=[source],
            result_types=[result_type],
            properties={
                "kind": ReduceKindAttr(ReduceKind(kind)),
                "axis": IntegerAttr(axis, i64),
            },
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data.value} ")
        printer.print_operand(self.source)
        printer.print_string(f" axis {self.axis.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> ReduceOp:
        kind = parse_enum(parser, ReduceKind, "a kind of reduction")
        operand = parser.parse_unresolved_operand()
        parser.parse_keyword("axis")
        axis = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.resolve_operand(operand, parse_tile_type(parser))
        parser.parse_punctuation("->")
        op = cls(kind, source, axis, parse_tile_type(parser))
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        source, axis = tile_type(self.source), self.axis.value.data
        verify_same(source, self.tile, "tile.reduce")
        if axis not in (0, 1):
            raise VerifyException(f"a tile has axes 0 and 1, not {axis}")
        wanted = (1, source.shape[1]) if axis == 0 else (source.shape[0], 1)
        if self.tile.shape != wanted:
            raise VerifyException(
                f"reducing axis {axis} of {source} leaves {wanted[0]}x{wanted[1]}, not {self.tile}"
            )


@irdl_op_definition
class GatherOp(TileOp):
    """result[r, c] = the element of source at byte offsets[r, c] of its packed buffer."""

    name = "tile.gather"

    source = operand_def(TileType)
    offsets = operand_def(TileType)
    result = result_def(TileType)

    assembly_format = (
        "$source `[` $offsets `]` attr-dict `:` type($source) `,` type($offsets) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self, source: SSAValue, offsets: SSAValue, result_type: TileType | None = None
    ) -> None:
        if result_type is None:
            result_type = tile_type(source).with_shape(*tile_type(offsets).shape)
        super().__init__(operands=[source, offsets], result_types=[result_type])

    def verify_(self) -> None:
        source, offsets = tile_type(self.source), tile_type(self.offsets)
        verify_same(source, self.tile, "tile.gather")
        if offsets.dtype.name != "i32" or offsets.space is not Space.UB:
            raise VerifyException(f"the byte offsets of a gather are i32 in ub, not {offsets}")
        if offsets.shape != self.tile.shape:
            raise VerifyException(
                f"a gather has the shape of its offsets: {self.tile} is not of {offsets}"
            )


@irdl_op_definition
class TransposeOp(TileOp):
    """result[r, c] = source[c, r]."""

    name = "tile.transpose"

    source = operand_def(TileType)
    result = result_def(TileType)

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, result_type: TileType | None = None) -> None:
        if result_type is None:
            result_type = tile_type(source).with_shape(*tile_type(source).shape[::-1])
        super().__init__(operands=[source], result_types=[result_type])

    def verify_(self) -> None:
        source = tile_type(self.source)
        verify_same(source, self.tile, "tile.transpose")
        rows, columns = source.shape
        if self.tile.shape != (columns, rows):
            raise VerifyException(f"the transpose of {source} is {columns}x{rows}, not {self.tile}")
        if source.dtype.bytes not in (2, 4) or source.dtype.kind == "b":
            raise VerifyException(
                f"tile.transpose moves elements of 2 or 4 bytes, not {source.dtype}"
            )
