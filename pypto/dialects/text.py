"""Pieces of text that several dialects print and parse alike: plain numbers and words."""

from __future__ import annotations

import math
from collections.abc import Collection
from enum import Enum
from typing import TypeVar

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f64, i64
from xdsl.ir import Attribute
from xdsl.parser import AttrParser

EnumType = TypeVar("EnumType", bound=Enum)

_SPECIAL = {"inf": math.inf, "nan": math.nan}


def number_text(value: int | float) -> str:
    """A number as every dialect writes it; a float always has a point, so it reads back as one."""
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    digits, e, exponent = repr(value).partition("e")
    return (digits if "." in digits else digits + ".0") + e + exponent


def parse_optional_number(parser: AttrParser) -> int | float | None:
    """An integer, a float, ``inf``, ``-inf`` or ``nan``; None when there is none of them."""
    negative = parser.parse_optional_punctuation("-") is not None
    word = parser.parse_optional_keyword_in(_SPECIAL)
    if word is not None:
        return -_SPECIAL[word] if negative else _SPECIAL[word]
    number: int | float | None = parser.parse_optional_integer(
        allow_boolean=False, allow_negative=False
    )
    if number is None:
        number = parser.parse_optional_float(allow_negative=False)
    if number is None and negative:
        parser.raise_error("a number is expected after '-'")
    return -number if number is not None and negative else number


def parse_number(parser: AttrParser) -> int | float:
    """An integer or a float, as ``number_text`` writes them."""
    return parser.expect(lambda: parse_optional_number(parser), "a number is expected")


def number_attribute(value: int | float) -> Attribute:
    """A Python number as a property: ``i64`` or ``f64``."""
    if isinstance(value, float):
        return FloatAttr(value, f64)
    return IntegerAttr(int(value), i64)


def number_value(attribute: Attribute) -> int | float:
    """The Python number a property holds."""
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, IntegerAttr):
        return attribute.value.data
    raise TypeError(f"{attribute} is not a number")


def parse_word(parser: AttrParser, words: Collection[str], what: str) -> str:
    """One of ``words``; the error names the alternatives."""
    word = parser.parse_optional_identifier()
    if word is None or word not in words:
        parser.raise_error(f"{what} is expected: one of {', '.join(words)}")
    return word


def parse_enum(parser: AttrParser, kind: type[EnumType], what: str) -> EnumType:
    """One value of a string enumeration."""
    return kind(parse_word(parser, [member.value for member in kind], what))
