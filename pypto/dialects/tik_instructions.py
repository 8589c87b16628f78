"""One operation class per row of the instruction table, made on demand: ``tik.vadd.f16``.

All fields stand in the text by name, each a value or an immediate; fields at their default are
hidden. The class holds no data: ``op.row`` looks the row up by the operation's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    eq,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.scalars import wrap
from pypto.dialects.text import number_text, parse_optional_number
from pypto.dialects.tik import PointerType
from pypto.target.instruction import Field, Instruction, Kind
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.limits import LimitError, check_value
from pypto.target.rows import scalar_bits, scalar_value

PREFIX = "tik."


def row_of(kind: type[IRDLOperation]) -> Instruction:
    """The row an instruction class was made from."""
    return BY_MNEMONIC[kind.name.removeprefix(PREFIX)]


class InstructionOp(IRDLOperation):
    """An instruction of the machine; ``arguments`` are the fields that are values, in order."""

    arguments = var_operand_def()
    immediates = prop_def(DenseArrayBase.constr(i64))  # one per field, 0 where a value stands
    value_mask = prop_def(IntegerAttr.constr(type=eq(i64)))  # bit j: field j is a value

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, **fields: int | float | SSAValue) -> None:
        row = row_of(type(self))
        unknown = fields.keys() - {field.name for field in row.fields}
        if unknown:
            raise ValueError(f"{row.mnemonic} has no field {', '.join(sorted(unknown))}")
        arguments: list[SSAValue] = []
        immediates: list[int] = []
        mask = 0
        for position, field in enumerate(row.fields):
            value = fields.get(field.name, field.default)
            if value is None:
                raise ValueError(f"{row.mnemonic} needs field {field.name}")
            if isinstance(value, SSAValue):
                arguments.append(value)
                mask |= 1 << position
                immediates.append(0)
            else:
                immediates.append(_encode(row, field, value))
        super().__init__(
            operands=[arguments],
            properties={
                "immediates": DenseArrayBase.from_list(i64, immediates),
                "value_mask": IntegerAttr(mask, i64),
            },
        )

    @property
    def row(self) -> Instruction:
        """The row of the instruction table."""
        return row_of(type(self))

    def items(self) -> Iterator[tuple[Field, int | SSAValue]]:
        """Every field with its value, in table order; scalars as the bits of their element."""
        arguments = iter(self.arguments)
        mask = self.value_mask.value.data
        for position, (field, immediate) in enumerate(
            zip(self.row.fields, self.immediates.get_values(), strict=True)
        ):
            yield field, next(arguments) if mask >> position & 1 else int(immediate)

    def field(self, name: str) -> int | SSAValue:
        """The value of one field."""
        for field, value in self.items():
            if field.name == name:
                return value
        raise KeyError(f"{self.row.mnemonic} has no field {name}")

    def address_fields(self) -> list[tuple[Field, SSAValue]]:
        """The address fields with their pointers."""
        return [
            (field, value)
            for field, value in self.items()
            if field.kind is Kind.ADDRESS and isinstance(value, SSAValue)
        ]

    def with_fields(self, **changes: int | float | SSAValue) -> InstructionOp:
        """A copy of this instruction, not yet in a block, with some fields changed."""
        fields: dict[str, int | float | SSAValue] = {}
        for field, value in self.items():
            if field.kind is Kind.SCALAR and isinstance(value, int):
                value = scalar_value(value, self.row.source_dtype)
            fields[field.name] = value
        copy = type(self)(**(fields | changes))
        copy.location = self.location
        copy.attributes |= self.attributes
        return copy

    def print(self, printer: Printer) -> None:
        separator = " "
        for field, value in self.items():
            if isinstance(value, int) and value == field.default:
                continue
            printer.print_string(f"{separator}{field.name} = ")
            separator = ", "
            if isinstance(value, SSAValue):
                printer.print_operand(value)
            elif field.kind is Kind.SCALAR:
                printer.print_string(number_text(scalar_value(value, self.row.source_dtype)))
            else:
                printer.print_string(str(value))
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> InstructionOp:
        start = parser.pos
        row = row_of(cls)
        pairs = (
            parser.parse_optional_undelimited_comma_separated_list(
                lambda: _parse_optional_field(parser, row), lambda: _parse_field(parser, row)
            )
            or []
        )
        fields = dict(pairs)
        try:
            if len(fields) < len(pairs):
                raise ValueError("a field is given twice")
            op = cls(**fields)
        except ValueError as error:
            parser.raise_error(str(error), start, parser.pos)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def verify_(self) -> None:
        if len(self.immediates) != len(self.row.fields):
            raise VerifyException(
                f"{self.row.mnemonic} has {len(self.row.fields)} fields, not {len(self.immediates)}"
            )
        if len(self.arguments) != self.value_mask.value.data.bit_count():
            raise VerifyException("value_mask and the number of operands differ")
        for field, value in self.items():
            _verify_field(self.row, field, value)


def _parse_optional_field(
    parser: Parser, row: Instruction
) -> tuple[str, int | float | SSAValue] | None:
    start = parser.pos
    name = parser.parse_optional_identifier()
    if name is None:
        return None
    field = next((field for field in row.fields if field.name == name), None)
    if field is None:
        parser.raise_error(f"{row.mnemonic} has no field {name}", start, parser.pos)
    parser.parse_punctuation("=")
    number = parse_optional_number(parser)
    if number is not None:
        return name, number
    return name, parser.parse_operand(type=operand_type(field))


def _parse_field(parser: Parser, row: Instruction) -> tuple[str, int | float | SSAValue]:
    return parser.expect(lambda: _parse_optional_field(parser, row), "a field is expected")


def operand_type(field: Field) -> PointerType | IndexType:
    """The type of the value a field takes."""
    if field.kind is Kind.ADDRESS and field.space is not None:
        return PointerType(field.space)
    return IndexType()


def _encode(row: Instruction, field: Field, value: int | float) -> int:
    if field.kind is Kind.SCALAR and row.source_dtype.is_float:
        return scalar_bits(value, row.source_dtype)
    if isinstance(value, float):
        raise ValueError(f"{row.mnemonic}: field {field.name} is an integer, not {value}")
    return wrap(value)


def _verify_field(row: Instruction, field: Field, value: int | SSAValue) -> None:
    what = f"{row.mnemonic}: field {field.name}"
    if isinstance(value, SSAValue):
        wanted = operand_type(field)
        if value.type != wanted:
            raise VerifyException(f"{what} is a {wanted}, not a {value.type}")
        return
    if field.kind is Kind.ADDRESS and not field.is_register:
        raise VerifyException(f"{what} is a pointer, so that passes see its buffer, not {value}")
    try:
        check_value(row, field, value)
    except LimitError as error:
        raise VerifyException(error.message) from error


@cache
def instruction_class(mnemonic: str) -> type[InstructionOp]:
    """The operation class of a row, made on first use."""
    row = BY_MNEMONIC[mnemonic]
    name = f"{PREFIX}{mnemonic}"
    members = {"name": name, "__doc__": row.summary, "__module__": __name__}
    return irdl_op_definition(type(f"Instruction_{mnemonic}", (InstructionOp,), members))


def build(mnemonic: str, **fields: int | float | SSAValue) -> InstructionOp:
    """An instruction: integers and values by field name, scalars as plain numbers."""
    if mnemonic not in BY_MNEMONIC:
        raise ValueError(f"there is no instruction {mnemonic}")
    return instruction_class(mnemonic)(**fields)
