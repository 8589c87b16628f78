"""The host dialect: what ``@main`` does, buffers in global memory and launches of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    IndexType,
    IntAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsTerminator,
    MemoryAllocEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.elements import element_dtype, element_type, is_element_type
from pypto.dialects.text import parse_word
from pypto.target.dtypes import DType

I64 = IntegerAttr.constr(type=eq(i64))

# Attributes of a module and of the arguments of a function.
SOC = "pypto.soc"
ARGUMENT_NAME = "pypto.name"
# Attribute of @main: pairs of extents of arguments that a launch takes to be one number, each
# ``array<i64: argument, axis, argument, axis>``; the first one counts.
EQUAL_EXTENTS = "host.equal_extents"
MAIN = "main"

DYNAMIC = DYNAMIC_INDEX
ROLES = ("temporary", "result")
CORES = ("vector", "cube", "aicore")


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """A buffer in global memory that holds a dense tensor; ``?`` is an extent known at launch."""

    name = "host.buffer"

    extents: ArrayAttr[IntAttr]
    element: Attribute

    def __init__(
        self, shape: Sequence[int] | ArrayAttr[IntAttr], element: Attribute | DType
    ) -> None:
        super().__init__(
            shape if isinstance(shape, ArrayAttr) else ArrayAttr([IntAttr(e) for e in shape]),
            element_type(element) if isinstance(element, DType) else element,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents; ``DYNAMIC`` where known at launch only."""
        return tuple(extent.data for extent in self.extents)

    @property
    def dtype(self) -> DType:
        return element_dtype(self.element)

    @property
    def dynamic_count(self) -> int:
        """How many extents are known at launch only."""
        return self.shape.count(DYNAMIC)

    def verify(self) -> None:
        element_dtype(self.element)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            if self.shape:
                printer.print_dimension_list(self.shape)
                printer.print_string("x")
            printer.print_attribute(self.element)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            start = parser.pos
            shape, element = parser.parse_ranked_shape()
            if not is_element_type(element):
                parser.raise_error(f"{element} is no element type", start, parser.pos)
        return [ArrayAttr([IntAttr(extent) for extent in shape]), element]


def buffer_type(value: SSAValue) -> BufferType:
    """The type of a buffer value."""
    if not isinstance(value.type, BufferType):
        raise VerifyException(f"a buffer is expected, got {value.type}")
    return value.type


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A fresh buffer; ``extents`` are its dynamic extents, ``offset`` its place in the pool."""

    name = "host.alloc"

    label = prop_def(StringAttr)
    role = prop_def(StringAttr)
    extents = var_operand_def(IndexType)
    offset = opt_prop_def(I64)
    result = result_def(BufferType)

    traits = traits_def(MemoryAllocEffect())

    def __init__(
        self,
        label: str,
        role: str,
        result_type: BufferType,
        extents: Sequence[SSAValue] = (),
        offset: int | None = None,
    ) -> None:
        super().__init__(
            operands=[extents],
            result_types=[result_type],
            properties={
                "label": StringAttr(label),
                "role": StringAttr(role),
                "offset": None if offset is None else IntegerAttr(offset, i64),
            },
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.role.data} ")
        printer.print_string_literal(self.label.data)
        if self.extents:
            with printer.in_parens():
                printer.print_list(self.extents, printer.print_operand)
        if self.offset is not None:
            printer.print_string(f" offset {self.offset.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> AllocOp:
        role = parse_word(parser, ROLES, "a role")
        label = parser.parse_str_literal()
        extents = parser.parse_optional_comma_separated_list(
            Parser.Delimiter.PAREN, lambda: parser.parse_operand(type=IndexType())
        )
        offset = None
        if parser.parse_optional_keyword("offset"):
            offset = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        op = cls(label, role, _parse_buffer_type(parser), extents or (), offset)
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        if self.role.data not in ROLES:
            raise VerifyException(f"the role of a buffer is {' or '.join(ROLES)}")
        wanted = buffer_type(self.result).dynamic_count
        if len(self.extents) != wanted:
            raise VerifyException(
                f"{self.result.type} takes {wanted} extents, {len(self.extents)} are given"
            )
        if self.offset is not None and (self.offset.value.data < 0 or wanted):
            raise VerifyException("a planned offset is at least 0 and of a static buffer")


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A read-only buffer whose bytes are the resource ``resource``."""

    name = "host.constant"

    label = prop_def(StringAttr)
    resource = prop_def(StringAttr)
    result = result_def(BufferType)

    assembly_format = "$label `resource` $resource attr-dict `:` type($result)"
    traits = traits_def(Pure())

    def __init__(self, label: str, resource: str, result_type: BufferType) -> None:
        super().__init__(
            result_types=[result_type],
            properties={"label": StringAttr(label), "resource": StringAttr(resource)},
        )

    def verify_(self) -> None:
        if buffer_type(self.result).dynamic_count:
            raise VerifyException(f"a constant has a static shape, not {self.result.type}")


@irdl_op_definition
class DimOp(IRDLOperation):
    """result = the extent of one axis of a buffer."""

    name = "host.dim"

    buffer = operand_def(BufferType)
    axis = prop_def(I64)
    result = result_def(IndexType)

    assembly_format = "$buffer `axis` $axis attr-dict `:` type($buffer)"
    traits = traits_def(Pure())

    def __init__(self, buffer: SSAValue, axis: int) -> None:
        super().__init__(
            operands=[buffer],
            result_types=[IndexType()],
            properties={"axis": IntegerAttr(axis, i64)},
        )

    def verify_(self) -> None:
        rank = len(buffer_type(self.buffer).shape)
        if not 0 <= self.axis.value.data < rank:
            raise VerifyException(f"{self.buffer.type} has no axis {self.axis.value.data}")


@irdl_op_definition
class ViewOp(IRDLOperation):
    """The same bytes under another shape."""

    name = "host.view"

    source = operand_def(BufferType)
    result = result_def(BufferType)

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, result_type: BufferType) -> None:
        super().__init__(operands=[source], result_types=[result_type])

    def verify_(self) -> None:
        source, result = buffer_type(self.source), buffer_type(self.result)
        if source.element != result.element:
            raise VerifyException(f"a view keeps the element type: {source} is not {result}")
        if not source.dynamic_count and not result.dynamic_count:
            counts = [prod(shape.shape) for shape in (source, result)]
            if counts[0] != counts[1]:
                raise VerifyException(f"{source} holds {counts[0]} elements, {result} {counts[1]}")


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Runs a kernel on ``grid`` blocks; arguments are buffers, constants and extents."""

    name = "host.launch"

    kernel = prop_def(FlatSymbolRefAttrConstr)
    grid = prop_def(I64)
    core = prop_def(StringAttr)
    arguments = var_operand_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, kernel: str, arguments: Sequence[SSAValue], grid: int, core: str) -> None:
        super().__init__(
            operands=[arguments],
            properties={
                "kernel": SymbolRefAttr(kernel),
                "grid": IntegerAttr(grid, i64),
                "core": StringAttr(core),
            },
        )

    @property
    def kernel_name(self) -> str:
        return self.kernel.string_value()

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.kernel_name)
        with printer.in_parens():
            printer.print_list(self.arguments, printer.print_operand)
        printer.print_string(f" grid {self.grid.value.data} core {self.core.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((v.type for v in self.arguments), printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> LaunchOp:
        kernel = parser.parse_symbol_name().data
        operands = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        parser.parse_keyword("grid")
        grid = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("core")
        core = parse_word(parser, CORES, "a kind of core")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        types = (
            parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_type, parser.parse_type
            )
            or []
        )
        op = cls(kernel, parser.resolve_operands(operands, types, start), grid, core)
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        if self.grid.value.data < 1:
            raise VerifyException(f"a grid has at least one block, not {self.grid.value.data}")
        if self.core.data not in CORES:
            raise VerifyException(f"a kernel runs on {', '.join(CORES)}, not on {self.core.data}")
        for argument in self.arguments:
            if not isinstance(argument.type, BufferType | IndexType):
                raise VerifyException(f"{argument.type} is not an argument of a launch")
        kernel = SymbolTable.lookup_symbol(self, self.kernel)
        if not isinstance(kernel, FuncOp):
            raise VerifyException(f"there is no kernel @{self.kernel_name}")
        wanted = len(kernel.function_type.inputs)
        if wanted != len(self.arguments):
            raise VerifyException(
                f"@{self.kernel_name} takes {wanted} arguments, {len(self.arguments)} are given"
            )


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The results of ``@main``."""

    name = "host.return"

    results_ = var_operand_def(BufferType)

    assembly_format = "($results_^ `:` type($results_))? attr-dict"
    traits = traits_def(IsTerminator(), HasParent(FuncOp), MemoryReadEffect())

    def __init__(self, results: Sequence[SSAValue] = ()) -> None:
        super().__init__(operands=[results])

    def verify_(self) -> None:
        function = self.parent_op()
        if isinstance(function, FuncOp):
            wanted = tuple(function.function_type.outputs)
            given = tuple(value.type for value in self.results_)
            if wanted != given:
                raise VerifyException(
                    f"@{function.sym_name.data} returns ({', '.join(map(str, wanted))}), "
                    f"not ({', '.join(map(str, given))})"
                )


def argument_name(function: FuncOp, index: int) -> str:
    """The name of an argument: its attribute, else its number."""
    if function.arg_attrs is not None:
        name = function.arg_attrs.data[index].data.get(ARGUMENT_NAME)
        if isinstance(name, StringAttr):
            return name.data
    return f"argument{index}"


def source_buffer(value: SSAValue) -> SSAValue:
    """The buffer a view is a view of, seen through chains of views."""
    while isinstance(value.owner, ViewOp):
        value = value.owner.source
    return value


def _parse_buffer_type(parser: Parser) -> BufferType:
    parser.parse_punctuation(":")
    start = parser.pos
    found = parser.parse_type()
    if not isinstance(found, BufferType):
        parser.raise_error("a !host.buffer type is expected", start, parser.pos)
    return found


HOST_OPERATIONS: tuple[type[Operation], ...] = (
    AllocOp,
    ConstantOp,
    DimOp,
    ViewOp,
    LaunchOp,
    ReturnOp,
)

Host = Dialect("host", list(HOST_OPERATIONS), [BufferType])
