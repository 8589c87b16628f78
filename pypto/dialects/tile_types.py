"""Types and enumerations of the tile dialect."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from pypto.dialects.elements import element_dtype, element_type, is_element_type
from pypto.dialects.text import parse_enum
from pypto.target.dtypes import DType
from pypto.target.memory import Space

TILE_SPACES = (Space.UB, Space.L1, Space.L0A, Space.L0B, Space.L0C)
# Elements that transfers may move as others: their bytes, or halves of them.
MOVED_AS = {"i1": "u8", "i64": "i32"}
# Element types a matrix unit takes; its results are f32.
CUBE_DTYPES = ("f16", "bf16", "f32")


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute):
    """A tile of ``rows`` x ``columns`` elements in one memory space of a core."""

    name = "tile.tile"

    rows: IntAttr
    columns: IntAttr
    element: Attribute
    memory: StringAttr

    def __init__(
        self,
        rows: int | IntAttr,
        columns: int | IntAttr,
        element: Attribute | DType,
        space: Space | StringAttr,
    ) -> None:
        super().__init__(
            rows if isinstance(rows, IntAttr) else IntAttr(rows),
            columns if isinstance(columns, IntAttr) else IntAttr(columns),
            element_type(element) if isinstance(element, DType) else element,
            space if isinstance(space, StringAttr) else StringAttr(space.value),
        )

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.data, self.columns.data

    @property
    def space(self) -> Space:
        return Space(self.memory.data)

    @property
    def dtype(self) -> DType:
        return element_dtype(self.element)

    def with_shape(self, rows: int, columns: int) -> TileType:
        """The same element type and space, another shape."""
        return TileType(rows, columns, self.element, self.memory)

    def verify(self) -> None:
        for complaint in _type_complaints(*self.shape, self.element, self.memory.data):
            raise VerifyException(complaint)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.rows.data}x{self.columns.data}x")
            printer.print_attribute(self.element)
            printer.print_string(f", {self.memory.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            start = parser.pos
            shape, element = parser.parse_ranked_shape()
            if len(shape) != 2:
                parser.raise_error(f"a tile has rank 2, not {len(shape)}", start, parser.pos)
            parser.parse_punctuation(",")
            space = parse_enum(parser, Space, "a memory space")
            for complaint in _type_complaints(shape[0], shape[1], element, space.value):
                parser.raise_error(complaint, start, parser.pos)
        return IntAttr(shape[0]), IntAttr(shape[1]), element, StringAttr(space.value)


def _type_complaints(rows: int, columns: int, element: Attribute, space: str) -> list[str]:
    found = []
    if rows < 1 or columns < 1:
        found.append(f"a tile has a static shape of at least 1x1, not {rows}x{columns}")
    if space not in TILE_SPACES:
        found.append(f"tiles live in {', '.join(TILE_SPACES)}, not in {space}")
    if not is_element_type(element):
        found.append(f"{element} is no element type")
    elif space in (Space.L0A, Space.L0B) and element_dtype(element).name not in CUBE_DTYPES:
        found.append(f"{space} holds {', '.join(CUBE_DTYPES)}, not {element}")
    elif space == Space.L0C and element_dtype(element).name != "f32":
        found.append(f"l0c holds f32, not {element}")
    elif space != Space.UB and element_dtype(element).name == "i1":
        found.append(f"bit masks live in ub, not in {space}")
    return found


@irdl_attr_definition
class GlobalType(ParametrizedAttribute, TypeAttribute):
    """A handle on a tensor in global memory: an address whose elements have this type."""

    name = "tile.global"

    element: Attribute

    def __init__(self, element: Attribute | DType) -> None:
        super().__init__(element_type(element) if isinstance(element, DType) else element)

    @property
    def dtype(self) -> DType:
        return element_dtype(self.element)

    def verify(self) -> None:
        element_dtype(self.element)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            start = parser.pos
            element = parser.parse_type()
            if not is_element_type(element):
                parser.raise_error(f"{element} is no element type", start, parser.pos)
        return [element]


def moves(memory: GlobalType, tile: TileType) -> bool:
    """Whether transfers between tensors and tiles of these element types keep all bytes."""
    return tile.element == memory.element or MOVED_AS.get(memory.dtype.name) == tile.dtype.name


class ReduceKind(StrEnum):
    SUM = "sum"
    MAX = "max"
    MIN = "min"


@irdl_attr_definition
class ReduceKindAttr(EnumAttribute[ReduceKind], SpacedOpaqueSyntaxAttribute):
    """How a reduction joins two elements."""

    name = "tile.reduce_kind"


def tile_type(value: SSAValue) -> TileType:
    """The type of a tile value."""
    if not isinstance(value.type, TileType):
        raise VerifyException(f"a tile is expected, got {value.type}")
    return value.type


def is_tile(value: SSAValue) -> bool:
    """Whether a value is a tile."""
    return isinstance(value.type, TileType)
