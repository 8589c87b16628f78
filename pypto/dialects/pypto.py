"""The tensor level: one operation class per row of the catalogue, made on demand.

    %2 = pypto.mul %1, 2.0 : (tensor<4xf16>) -> tensor<4xf16>
    %4 = pypto.layer_norm %0, _, %2, eps = 1.0e-06 : (…) -> tensor<4x8xf16>

Operands stand in the order of the row's parameters, ``_`` where one is absent, a number where a
Python scalar stands, lists in brackets; attributes at their default are hidden.
"""

from __future__ import annotations

import functools
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, TensorType, i32
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.properties import decode, encode, parse_value, print_value
from pypto.dialects.types import abstract_type
from pypto.errors import CompileError
from pypto.ops import ROWS, Operator
from pypto.ops.core import Parameter
from pypto.ops.kinds import Kind

PREFIX = "pypto."


class TensorOperation(IRDLOperation):
    """An operator applied to tensors. The class holds no data: ``op.row`` looks the row up."""

    traits = traits_def(Pure())

    @property
    def row(self) -> Operator[..., Any]:
        """The row of the catalogue."""
        return ROWS[self.name.removeprefix(PREFIX)]

    def operand_or_scalar(self, name: str) -> Any:
        """The operand of a parameter: a value, a Python number, None, or a tuple of values."""
        found = getattr(self, f"{name}_operand")
        if found is None:
            scalar = self.properties.get(name)
            return None if scalar is None else decode(scalar)
        return found if isinstance(found, SSAValue) else tuple(found)

    def arguments(self) -> tuple[Any, ...]:
        """All operands in parameter order, as ``operand_or_scalar`` gives them."""
        return tuple(self.operand_or_scalar(p.name) for p in self.row.operands)

    def attribute(self, name: str) -> Any:
        """The Python value of one attribute, in its normal form."""
        found = self.properties.get(name)
        return None if found is None else decode(found)

    def python_attributes(self) -> dict[str, Any]:
        """The Python values of all attributes, in parameter order."""
        return {p.name: self.attribute(p.name) for p in self.row.attributes}

    def verify_(self) -> None:
        row, operands = self.row, abstract(self.arguments())
        given = self.python_attributes()
        try:
            normal = row.normalise(operands, given)
            expected = row.infer(operands, normal)
        except CompileError as error:
            raise VerifyException(error.message) from error
        for name, value in given.items():
            if encode_optional(value) != encode_optional(normal[name]):
                raise VerifyException(f"{name} = {value} is not in normal form: {normal[name]}")
        found = tuple(abstract_type(t) for t in self.result_types)
        if found != expected:
            raise VerifyException(
                f"the results are {', '.join(map(str, found))}; "
                f"{row.name} gives {', '.join(map(str, expected))}"
            )

    def print(self, printer: Printer) -> None:
        separator = " "
        for argument in self.arguments():
            printer.print_string(separator)
            separator = ", "
            _print_argument(printer, argument)
        for name, value in self._shown_attributes().items():
            printer.print_string(f"{separator}{name} = ")
            separator = ", "
            print_value(printer, value)
        if self.attributes:
            printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    def _shown_attributes(self) -> dict[str, Any]:
        row, operands = self.row, abstract(self.arguments())
        given = {k: v for k, v in self.python_attributes().items() if v is not None}
        shown = {}
        for name, value in given.items():
            rest = {k: v for k, v in given.items() if k != name}
            try:
                hidden = encode(row.normalise(operands, rest)[name]) == encode(value)
            except (CompileError, TypeError):
                hidden = False
            if not hidden:
                shown[name] = value
        return shown

    @classmethod
    def parse(cls, parser: Parser) -> TensorOperation:
        row = ROWS[cls.name.removeprefix(PREFIX)]
        start = parser.pos
        arguments: list[Any] = []
        for index, _ in enumerate(row.operands):
            if index:
                parser.parse_punctuation(",")
            arguments.append(_parse_argument(parser))
        given = _parse_attributes(parser, row, follows=bool(arguments))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types_at = parser.pos
        types = parser.parse_function_type()
        unresolved = [a for argument in arguments for a in _operands_in(argument)]
        values = iter(parser.resolve_operands(unresolved, types.inputs.data, types_at))
        operands = tuple(_resolve(argument, values) for argument in arguments)
        try:
            with row.blame():
                normal = row.normalise(abstract(operands), given)
            op = make(row, operands, normal, types.outputs.data)
        except (CompileError, VerifyException) as error:
            message = error.message if isinstance(error, CompileError) else str(error)
            parser.raise_error(message, start, parser.pos)
        op.attributes |= attributes
        return op


def abstract(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands with every IR value replaced by its tensor type."""
    result = []
    for operand in operands:
        if isinstance(operand, SSAValue):
            result.append(abstract_type(operand.type))
        elif isinstance(operand, tuple):
            result.append(tuple(abstract_type(item.type) for item in operand))
        else:
            result.append(operand)
    return tuple(result)


def encode_optional(value: Any) -> Attribute | None:
    """A property, or None for an absent value."""
    return None if value is None else encode(value)


def make(
    row: Operator[..., Any],
    operands: tuple[Any, ...],
    attributes: dict[str, Any],
    result_types: Any,
) -> TensorOperation:
    """The operation of a row; operands are values, numbers, None or tuples of values."""
    properties = {name: encode(value) for name, value in attributes.items() if value is not None}
    values: list[SSAValue] = []
    sizes: list[int] = []
    for parameter, operand in zip(row.operands, operands, strict=True):
        if isinstance(operand, SSAValue):
            group: tuple[SSAValue, ...] = (operand,)
        elif isinstance(operand, tuple):
            group = operand
        else:
            group = ()
            if operand is not None:
                properties[parameter.name] = encode(operand)
        values.extend(group)
        sizes.append(len(group))
    if _has_segments(row):
        properties[AttrSizedOperandSegments.attribute_name] = _segments(tuple(sizes))
    return op_class(row.name).create(
        operands=values, properties=properties, result_types=list(result_types)
    )


def _has_segments(row: Operator[..., Any]) -> bool:
    """Whether the number of operands does not say which parameter has how many."""
    return sum(p.kind is not Kind.TENSOR for p in row.operands) > 1


@functools.cache
def _segments(sizes: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, sizes)


@functools.cache
def op_class(name: str) -> type[TensorOperation]:
    """The operation class of a row."""
    row = ROWS[name]
    fields: dict[str, Any] = {"name": PREFIX + name, "__doc__": row.__doc__}
    for p in row.operands:
        fields[f"{p.name}_operand"] = _operand_definition(p)
        if p.kind.takes_numbers:
            fields[f"{p.name}_scalar"] = opt_prop_def(Attribute, prop_name=p.name)
    if _has_segments(row):
        fields["irdl_options"] = (AttrSizedOperandSegments(as_property=True),)
    for p in row.attributes:
        define = opt_prop_def if p.kind.is_optional else prop_def
        fields[f"{p.name}_property"] = define(Attribute, prop_name=p.name)
    if row.is_single:
        fields["result"] = result_def(TensorType)
    else:
        fields["outputs"] = var_result_def(TensorType)
    return irdl_op_definition(type(f"{name.title()}Op", (TensorOperation,), fields))


def _operand_definition(parameter: Parameter) -> Any:
    match parameter.kind:
        case Kind.TENSOR:
            return operand_def(TensorType)
        case Kind.TENSORS:
            return var_operand_def(TensorType)
        case _:
            return opt_operand_def(TensorType)


def _print_argument(printer: Printer, argument: Any) -> None:
    if isinstance(argument, SSAValue):
        printer.print_operand(argument)
    elif isinstance(argument, tuple):
        with printer.in_square_brackets():
            printer.print_list(argument, printer.print_operand)
    elif argument is None:
        printer.print_string("_")
    else:
        print_value(printer, argument)


def _parse_argument(parser: Parser) -> Any:
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        return operand
    if parser.parse_optional_keyword("_") is not None:
        return None
    if parser.parse_optional_punctuation("["):
        if parser.parse_optional_punctuation("]"):
            return ()
        items = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation("]")
        return tuple(items)
    return parse_value(parser)


def _parse_attributes(parser: Parser, row: Operator[..., Any], *, follows: bool) -> dict[str, Any]:
    given: dict[str, Any] = {}
    names = [p.name for p in row.attributes]
    while True:
        if (follows or given) and parser.parse_optional_punctuation(",") is None:
            return given
        name = parser.parse_optional_identifier()
        if name is None and not follows and not given:
            return given
        if name not in names or name in given:
            parser.raise_error(f"an attribute is expected, once: one of {', '.join(names)}")
        parser.parse_punctuation("=")
        given[name] = parse_value(parser)


def _operands_in(argument: Any) -> tuple[UnresolvedOperand, ...]:
    if isinstance(argument, UnresolvedOperand):
        return (argument,)
    return argument if isinstance(argument, tuple) else ()


def _resolve(argument: Any, values: Any) -> Any:
    if isinstance(argument, UnresolvedOperand):
        return next(values)
    return tuple(next(values) for _ in argument) if isinstance(argument, tuple) else argument


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A tensor whose bytes are the resource of that name, kept beside the module."""

    name = "pypto.constant"

    resource = prop_def(StringAttr)
    result = result_def(TensorType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, resource: str, result_type: TensorType) -> None:
        super().__init__(properties={"resource": StringAttr(resource)}, result_types=[result_type])


Pypto = Dialect("pypto", [ConstantOp])
