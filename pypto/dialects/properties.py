"""Operator attributes in the IR: Python values as properties, and their text, by kind."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.elements import element_dtype, element_type
from pypto.dialects.text import number_text, parse_number
from pypto.target.dtypes import DType


def encode(value: Any) -> Attribute:
    """A normalised attribute or weak scalar as a property."""
    match value:
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case tuple():
            return DenseArrayBase.from_list(i64, value)
        case DType():
            return element_type(value)
        case _:
            raise TypeError(f"{value!r} has no property form")


def decode(attribute: Attribute) -> Any:
    """The Python value a property holds."""
    match attribute:
        case IntegerAttr():
            number = attribute.value.data
            return bool(number) if attribute.type == i1 else number
        case FloatAttr():
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case DenseArrayBase():
            return tuple(map(int, attribute.iter_values()))  # pyright: ignore[reportAttributeAccessIssue]
        case _:
            return element_dtype(attribute)


def print_value(printer: Printer, value: Any) -> None:
    """``2.0``, ``3``, ``true``, ``"rint"``, ``[1, 2]`` or ``f16``."""
    match value:
        case bool():
            printer.print_string("true" if value else "false")
        case int() | float():
            printer.print_string(number_text(value))
        case tuple():
            printer.print_string(f"[{', '.join(map(str, value))}]")
        case DType():
            printer.print_attribute(element_type(value))
        case _:
            printer.print_string_literal(value)


def parse_value(parser: Parser) -> Any:
    """A value as ``print_value`` writes it."""
    word = parser.parse_optional_str_literal()
    if word is not None:
        return word
    truth = parser.parse_optional_boolean()
    if truth is not None:
        return truth
    if parser.parse_optional_punctuation("["):
        if parser.parse_optional_punctuation("]"):
            return ()
        items = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_integer)
        parser.parse_punctuation("]")
        return tuple(items)
    start = parser.pos
    type_attribute = parser.parse_optional_type()
    if type_attribute is not None:
        try:
            return element_dtype(type_attribute)
        except VerifyException as error:
            parser.raise_error(str(error), start, parser.pos)
    return parse_number(parser)
