"""The tik dialect: a kernel in the machine's own instructions, with loops still as loops.

Local memory is a ``tik.alloc`` with slots; ``tik.slot`` acquires one slot and ``tik.offset``
moves a pointer. Instructions are in ``tik_instructions``: one operation per table row.
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    BlockArgument,
    Dialect,
    Operation,
    OpResult,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    IRDLOperation,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from pypto.dialects.text import parse_enum
from pypto.target.memory import Pipe, Space

I64 = IntegerAttr.constr(type=eq(i64))

# Attributes of a kernel function.
STAGE = "tik.stage"


class Stage(StrEnum):
    """How far a kernel function has come: see ``verify`` for the laws of each stage."""

    VIRTUAL = "virtual"  # buffers have no address, nothing is synchronised
    PLACED = "placed"  # every buffer has an address
    ORDERED = "ordered"  # flags and barriers order all conflicts


class _SpaceText(ParametrizedAttribute):
    """Text of a type whose only parameter is a memory space.

    The parameter is declared by each type itself: equality looks at a class's own parameters.
    """

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(_words(self), printer.print_string)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[StringAttr]:
        with parser.in_angle_brackets():
            return [StringAttr(parse_enum(parser, Space, "a memory space").value)]

    def verify(self) -> None:
        for word in _words(self):
            if word not in list(Space):
                raise VerifyException(f"{word} is no memory space")


def _words(attribute: ParametrizedAttribute) -> list[str]:
    return [p.data for p in attribute.parameters if isinstance(p, StringAttr)]


@irdl_attr_definition
class PointerType(_SpaceText, TypeAttribute):
    """A byte address in a memory space."""

    name = "tik.ptr"

    memory: StringAttr

    def __init__(self, space: Space | StringAttr) -> None:
        super().__init__(space if isinstance(space, StringAttr) else StringAttr(space.value))

    @property
    def space(self) -> Space:
        return Space(self.memory.data)


@irdl_attr_definition
class BufferType(_SpaceText, TypeAttribute):
    """The handle of a local buffer."""

    name = "tik.buffer"

    memory: StringAttr

    def __init__(self, space: Space | StringAttr) -> None:
        super().__init__(space if isinstance(space, StringAttr) else StringAttr(space.value))

    @property
    def space(self) -> Space:
        return Space(self.memory.data)


class Comparison(StrEnum):
    SLT = "slt"  # a < b, signed
    SEQ = "seq"  # a == b


@irdl_attr_definition
class ComparisonAttr(EnumAttribute[Comparison], SpacedOpaqueSyntaxAttribute):
    """A comparison the scalar unit has."""

    name = "tik.comparison"


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A local buffer of ``slots`` slots of ``bytes`` bytes each; stands in the entry block."""

    name = "tik.alloc"

    label = prop_def(StringAttr)
    bytes = prop_def(I64)
    slots = prop_def(I64, default_value=IntegerAttr(1, i64))
    address = opt_prop_def(I64)
    result = result_def(BufferType)

    assembly_format = (
        "$label `bytes` $bytes (`slots` $slots^)? (`address` $address^)? attr-dict "
        "`:` type($result)"
    )
    traits = traits_def(MemoryAllocEffect())

    def __init__(
        self, label: str, space: Space, bytes: int, slots: int = 1, address: int | None = None
    ) -> None:
        super().__init__(
            result_types=[BufferType(space)],
            properties={
                "label": StringAttr(label),
                "bytes": IntegerAttr(bytes, i64),
                "slots": IntegerAttr(slots, i64),
                "address": None if address is None else IntegerAttr(address, i64),
            },
        )

    @property
    def space(self) -> Space:
        return pointer_space(self.result)

    @property
    def slot_bytes(self) -> int:
        """Bytes of one slot."""
        return self.bytes.value.data

    @property
    def slot_count(self) -> int:
        return self.slots.value.data

    @property
    def place(self) -> int | None:
        """The address of slot 0, None while the buffer is virtual."""
        return None if self.address is None else self.address.value.data

    def verify_(self) -> None:
        if self.space is Space.GM:
            raise VerifyException("tik.alloc is for local memory; gm comes as a parameter")
        if self.slot_bytes < 1 or self.slot_count < 1:
            raise VerifyException(f"{self.slot_count} slots of {self.slot_bytes} bytes")
        if self.place is not None and self.place < 0:
            raise VerifyException(f"the address {self.place} is negative")


@irdl_op_definition
class SlotOp(IRDLOperation):
    """result = the address of slot ``index``, held from here to the end of the block."""

    name = "tik.slot"

    buffer = operand_def(BufferType)
    index = operand_def(IndexType)
    result = result_def(PointerType)

    # An allocation: its place says how long the slot is held, so no pass may move or merge it.
    traits = traits_def(MemoryAllocEffect())

    def __init__(self, buffer: SSAValue, index: SSAValue) -> None:
        super().__init__(
            operands=[buffer, index], result_types=[PointerType(pointer_space(buffer))]
        )

    @property
    def allocation(self) -> AllocOp:
        """The buffer whose slot this is."""
        owner = self.buffer.owner
        if not isinstance(owner, AllocOp):
            raise VerifyException("a slot is taken from a tik.alloc of the same function")
        return owner

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.buffer)
        with printer.in_square_brackets():
            printer.print_operand(self.index)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)

    @classmethod
    def parse(cls, parser: Parser) -> SlotOp:
        buffer = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parser.parse_operand(type=IndexType())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        found = parser.parse_type()
        if not isinstance(found, BufferType):
            parser.raise_error("a !tik.buffer type is expected", start, parser.pos)
        op = cls(parser.resolve_operand(buffer, found), index)
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        if pointer_space(self.result) is not pointer_space(self.buffer):
            raise VerifyException(f"a slot of {self.buffer.type} is not a {self.result.type}")
        _ = self.allocation


@irdl_op_definition
class OffsetOp(IRDLOperation):
    """result = pointer + bytes."""

    name = "tik.offset"

    pointer = operand_def(PointerType)
    bytes = operand_def(IndexType)
    result = result_def(PointerType)

    traits = traits_def(Pure())

    def __init__(self, pointer: SSAValue, bytes: SSAValue) -> None:
        super().__init__(operands=[pointer, bytes], result_types=[pointer.type])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list((self.pointer, self.bytes), printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.pointer.type)

    @classmethod
    def parse(cls, parser: Parser) -> OffsetOp:
        pointer = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        count = parser.parse_operand(type=IndexType())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(pointer, parser.parse_type()), count)
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        if self.pointer.type != self.result.type:
            raise VerifyException(f"{self.result.type} is not {self.pointer.type}")


class _BlockFact(IRDLOperation):
    """A fact of the launch, the same for the whole run of one block."""

    result = result_def(IndexType)

    assembly_format = "attr-dict"
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class BlockIndexOp(_BlockFact):
    """result = the number of this block, from 0."""

    name = "tik.block_idx"


@irdl_op_definition
class BlockCountOp(_BlockFact):
    """result = the number of blocks of the launch."""

    name = "tik.block_num"


@irdl_op_definition
class CompareOp(IRDLOperation):
    """result = 1 if ``a`` compares to ``b``, else 0."""

    name = "tik.compare"

    kind = prop_def(ComparisonAttr)
    a = operand_def(IndexType)
    b = operand_def(IndexType)
    result = result_def(IndexType)

    traits = traits_def(Pure())

    def __init__(self, kind: Comparison | str, a: SSAValue, b: SSAValue) -> None:
        super().__init__(
            operands=[a, b],
            result_types=[IndexType()],
            properties={"kind": ComparisonAttr(Comparison(kind))},
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data.value} ")
        printer.print_list((self.a, self.b), printer.print_operand)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> CompareOp:
        kind = parse_enum(parser, Comparison, "a comparison")
        a = parser.parse_operand(type=IndexType())
        parser.parse_punctuation(",")
        op = cls(kind, a, parser.parse_operand(type=IndexType()))
        op.attributes |= parser.parse_optional_attr_dict()
        return op


class FlagOp(IRDLOperation):
    """A set or a wait of one event: pipe ``source`` tells pipe ``target``."""

    source_pipe = prop_def(StringAttr, prop_name="source")
    target_pipe = prop_def(StringAttr, prop_name="target")
    event = opt_operand_def(IndexType)
    event_number = opt_prop_def(I64, prop_name="event")

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, source: Pipe, target: Pipe, event: int | SSAValue) -> None:
        number = IntegerAttr(event, i64) if isinstance(event, int) else None
        super().__init__(
            operands=[event if isinstance(event, SSAValue) else None],
            properties={
                "source": StringAttr(source.value),
                "target": StringAttr(target.value),
                "event": number,
            },
        )

    @property
    def source(self) -> Pipe:
        return Pipe(self.source_pipe.data)

    @property
    def target(self) -> Pipe:
        return Pipe(self.target_pipe.data)

    @property
    def event_id(self) -> int | SSAValue:
        """The event number, a constant or a value."""
        if self.event is not None:
            return self.event
        if self.event_number is None:
            raise VerifyException(f"{self.name} names no event")
        return self.event_number.value.data

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.source.value} -> {self.target.value}, ")
        event = self.event_id
        if isinstance(event, int):
            printer.print_string(str(event))
        else:
            printer.print_operand(event)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> FlagOp:
        source = parse_enum(parser, Pipe, "a pipe")
        parser.parse_punctuation("->")
        target = parse_enum(parser, Pipe, "a pipe")
        parser.parse_punctuation(",")
        event: int | SSAValue | None = parser.parse_optional_integer(allow_boolean=False)
        if event is None:
            event = parser.parse_operand(type=IndexType())
        op = cls(source, target, event)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def verify_(self) -> None:
        if (self.event is None) == (self.event_number is None):
            raise VerifyException(f"{self.name} names one event, a number or a value")
        if Pipe.ALL in (self.source, self.target) or self.source is self.target:
            raise VerifyException(f"no event from {self.source} to {self.target}")


@irdl_op_definition
class SetFlagOp(FlagOp):
    """Sets the event once everything dispatched to ``source`` so far has ended."""

    name = "tik.set_flag"


@irdl_op_definition
class WaitFlagOp(FlagOp):
    """Holds pipe ``target`` until the event is set, then clears it."""

    name = "tik.wait_flag"


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """Everything on the pipe so far ends before anything later on it starts."""

    name = "tik.barrier"

    pipe_name = prop_def(StringAttr, prop_name="pipe")

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, pipe: Pipe) -> None:
        super().__init__(properties={"pipe": StringAttr(pipe.value)})

    @property
    def pipe(self) -> Pipe:
        return Pipe(self.pipe_name.data)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.pipe.value}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> BarrierOp:
        op = cls(parse_enum(parser, Pipe, "a pipe"))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def verify_(self) -> None:
        if self.pipe is Pipe.S:
            raise VerifyException("the scalar unit orders itself; there is no barrier on s")


def pointer_space(value: SSAValue) -> Space:
    """The memory space of a pointer or a buffer."""
    if not isinstance(value.type, PointerType | BufferType):
        raise VerifyException(f"a pointer is expected, got {value.type}")
    return value.type.space


def pointer_root(pointer: SSAValue) -> SSAValue:
    """The slot or the parameter a pointer is an offset from, seen through the loops it crosses."""
    while True:
        owner = pointer.owner
        if isinstance(owner, OffsetOp):
            pointer = owner.pointer
        elif isinstance(owner, scf.ForOp) and isinstance(pointer, OpResult):
            pointer = owner.iter_args[pointer.index]
        elif isinstance(pointer, BlockArgument) and isinstance(
            loop := pointer.block.parent_op(), scf.ForOp
        ):
            pointer = loop.iter_args[pointer.index - 1]
        else:
            return pointer


def slot_of(pointer: SSAValue) -> SlotOp | None:
    """The slot a local pointer points into, None for a parameter in global memory."""
    owner = pointer_root(pointer).owner
    return owner if isinstance(owner, SlotOp) else None


TIK_OPERATIONS: tuple[type[Operation], ...] = (
    AllocOp,
    SlotOp,
    OffsetOp,
    BlockIndexOp,
    BlockCountOp,
    CompareOp,
    SetFlagOp,
    WaitFlagOp,
    BarrierOp,
)

Tik = Dialect("tik", list(TIK_OPERATIONS), [PointerType, BufferType, ComparisonAttr])
