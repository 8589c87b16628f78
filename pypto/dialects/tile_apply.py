"""``tile.apply``: one elementwise primitive of the catalogue on whole tiles."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.text import number_text, number_value, parse_optional_number
from pypto.dialects.tile_base import TileOp, attribute_of, parse_tile_type
from pypto.dialects.tile_types import TileType, tile_type
from pypto.ops import ROWS
from pypto.target.memory import Space


@irdl_op_definition
class ApplyOp(TileOp):
    """result[r, c] = operator(operands[r, c] ...): one elementwise primitive of the catalogue.

    A number may stand for the right operand, or with ``scalar_left`` for the left one.
    """

    name = "tile.apply"

    operator = prop_def(StringAttr)
    arguments = var_operand_def(TileType)
    scalar = opt_prop_def(Attribute)
    scalar_left = opt_prop_def(UnitAttr)
    rounding = opt_prop_def(StringAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    def __init__(
        self,
        operator: str,
        arguments: Sequence[SSAValue],
        result_type: TileType,
        *,
        scalar: int | float | Attribute | None = None,
        scalar_left: bool = False,
        rounding: str | None = None,
    ) -> None:
        super().__init__(
            operands=[arguments],
            result_types=[result_type],
            properties={
                "operator": StringAttr(operator),
                "scalar": None if scalar is None else attribute_of(scalar),
                "scalar_left": UnitAttr() if scalar_left else None,
                "rounding": None if rounding is None else StringAttr(rounding),
            },
        )

    @property
    def number(self) -> int | float | None:
        """The scalar operand as a Python number, None when all operands are tiles."""
        return None if self.scalar is None else number_value(self.scalar)

    @property
    def inputs(self) -> list[SSAValue | int | float]:
        """All operands in order, the number included."""
        values: list[SSAValue | int | float] = list(self.arguments)
        if self.number is not None:
            values.insert(0 if self.scalar_left is not None else len(values), self.number)
        return values

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.operator.data}")
        for position, value in enumerate(self.inputs):
            printer.print_string(", " if position else " ")
            if isinstance(value, SSAValue):
                printer.print_operand(value)
            else:
                printer.print_string(number_text(value))
        if self.rounding is not None:
            printer.print_string(f" rounding {self.rounding.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((v.type for v in self.arguments), printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        operator = parser.parse_identifier(context_msg=" (an elementwise operator)")
        inputs = parser.parse_comma_separated_list(
            Parser.Delimiter.NONE, lambda: _parse_input(parser)
        )
        numbers = [value for value in inputs if not isinstance(value, UnresolvedOperand)]
        if len(numbers) > 1:
            parser.raise_error("at most one operand of tile.apply is a number")
        if numbers and numbers[0] not in (inputs[0], inputs[-1]):
            parser.raise_error("a number stands for the first or for the last operand")
        rounding = None
        if parser.parse_optional_keyword("rounding"):
            rounding = parser.parse_identifier()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
        operands = [value for value in inputs if isinstance(value, UnresolvedOperand)]
        tiles = parser.resolve_operands(operands, types, start)
        parser.parse_punctuation("->")
        op = cls(
            operator,
            tiles,
            parse_tile_type(parser),
            scalar=numbers[0] if numbers else None,
            scalar_left=bool(numbers) and numbers[0] is inputs[0],
            rounding=rounding,
        )
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        if not self.arguments:
            raise VerifyException("tile.apply needs a tile operand; tile.full makes constants")
        for value in (*self.arguments, self.result):
            tile = tile_type(value)
            if tile.shape != self.tile.shape:
                raise VerifyException(
                    f"operands of tile.apply {self.operator.data} have one shape: "
                    f"{tile} is not {self.tile}; use tile.broadcast"
                )
            if tile.space is not Space.UB:
                raise VerifyException(f"tile.apply works in ub, not in {tile.space}")
        self._verify_operator()

    def _verify_operator(self) -> None:
        """The catalogue has the operator, and it takes that many operands."""
        row = ROWS.get(self.operator.data)
        if row is None or not row.is_primitive or not row.elementwise:
            raise VerifyException(f"{self.operator.data} is no elementwise primitive")
        if len(self.inputs) != len(row.operands):
            raise VerifyException(
                f"{row.name} takes {len(row.operands)} operands, {len(self.inputs)} are given"
            )


def _parse_input(parser: Parser) -> UnresolvedOperand | int | float:
    number = parse_optional_number(parser)
    return parser.parse_unresolved_operand() if number is None else number
