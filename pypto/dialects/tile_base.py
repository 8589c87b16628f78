"""What tile operations share: their base classes, checks and pieces of text."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, eq, operand_def
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.scalars import constant_of
from pypto.dialects.text import number_attribute
from pypto.dialects.tile_types import TileType, tile_type
from pypto.target.memory import Space

I64 = IntegerAttr.constr(type=eq(i64))
ONE = IntegerAttr(1, i64)


class TileOp(IRDLOperation):
    """What operations that make one tile have in common."""

    @property
    def tile(self) -> TileType:
        """The type of the result."""
        return tile_type(self.results[0])


class RootOp(TileOp):
    """A tile operation that says how much of its result is valid."""

    valid_rows = operand_def(IndexType)
    valid_columns = operand_def(IndexType)

    def verify_valid(self) -> None:
        """A constant valid extent lies within the shape."""
        for extent, limit, word in zip(
            (self.valid_rows, self.valid_columns), self.tile.shape, ("rows", "columns"), strict=True
        ):
            constant = constant_of(extent)
            if constant is not None and not 0 <= constant <= limit:
                raise VerifyException(f"{constant} valid {word} in a tile of {limit}")


def verify_slots(slots: IntegerAttr) -> None:
    """A buffer has at least one slot."""
    if slots.value.data < 1:
        raise VerifyException(f"slots is at least 1, not {slots.value.data}")


def verify_same(source: TileType, result: TileType, name: str) -> None:
    """Source and result are of one element type, and in UB."""
    if source.element != result.element:
        raise VerifyException(f"{name} keeps the element type: {source} is not {result}")
    if source.space is not Space.UB or result.space is not Space.UB:
        raise VerifyException(f"{name} works in ub: {source} -> {result}")


def attribute_of(value: int | float | Attribute) -> Attribute:
    return value if isinstance(value, Attribute) else number_attribute(value)


def parse_valid(parser: Parser) -> tuple[SSAValue, SSAValue]:
    parser.parse_keyword("valid")
    start = parser.pos
    extents = parser.parse_comma_separated_list(
        Parser.Delimiter.PAREN, lambda: parser.parse_operand(type=IndexType())
    )
    if len(extents) != 2:
        parser.raise_error("valid takes rows and columns", start, parser.pos)
    return extents[0], extents[1]


def parse_tile_type(parser: Parser) -> TileType:
    start = parser.pos
    found = parser.parse_type()
    if not isinstance(found, TileType):
        parser.raise_error("a tile type is expected", start, parser.pos)
    return found
