"""Text to Executable."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn, TypeVar

import numpy as np
from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from pypto.errors import CompileError, SourceLocation
from pypto.target.assembly.disassembler import REGISTER_NAME
from pypto.target.dtypes import DTYPES, DType
from pypto.target.executable import (
    Argument,
    Buffer,
    BufferArgument,
    Dim,
    Executable,
    Launch,
    Part,
    Role,
)
from pypto.target.instructions.availability import NOT_MODELLED
from pypto.target.limits import refusal
from pypto.target.memory import CoreKind, Pipe, Space
from pypto.target.program import LocalBuffer, Program, ProgramBuilder
from pypto.target.rows import Form, Operand, Register, Use, forms, scalar_bits
from pypto.target.soc import Soc
from pypto.target.soc import soc as load_soc

T = TypeVar("T")
# A node of the parse: a Token, or a Tree whose children are nodes (None: an absent option).
Node = Any

TOKEN_WORDS = {
    "NAME": "a name", "INT": "an integer", "FLOAT": "a number", "STRING": "a string",
    "_NL": "the end of the line", "LBRACE": "'{'", "RBRACE": "'}'", "LPAR": "'('", "RPAR": "')'",
    "LSQB": "'['", "RSQB": "']'", "COMMA": "','", "EQUAL": "'='", "COLON": "':'", "PLUS": "'+'",
    "DOLLAR": "'$'", "$END": "the end of the file",
}  # fmt: skip


def assemble(text: str, file: str = "<assembly>") -> Executable:
    """The Executable that a text describes; errors say file, line and column."""
    return _Assembler(file).run(text)


@cache
def _parser() -> Lark:
    return Lark.open("grammar.lark", rel_to=__file__, parser="lalr", propagate_positions=True)


def _word(name: str) -> str:
    """A terminal of the grammar for people."""
    return TOKEN_WORDS.get(name) or f"'.{name.lower().lstrip('_')}'"


class _Assembler:
    machine: Soc

    def __init__(self, file: str) -> None:
        self.file = file
        self.soc = ""
        self.constants: dict[str, np.ndarray] = {}
        self.buffers: list[Buffer] = []
        self.programs: list[Program] = []
        self.later: list[Node] = []
        self.steps: list[Launch] = []
        self.inputs: tuple[int, ...] = ()
        self.results: tuple[int, ...] = ()

    def run(self, text: str) -> Executable:
        for statement in self._parse(text).children:
            getattr(self, f"_{statement.data}")(statement)
        for statement in self.later:
            getattr(self, f"_late_{statement.data}")(statement)
        executable = Executable(
            self.soc,
            tuple(self.programs),
            tuple(self.buffers),
            self.constants,
            tuple(self.steps),
            self.inputs,
            self.results,
        )
        try:
            executable.validate()
        except CompileError as error:
            raise CompileError(
                error.code, f"{self.file}: {error.message}", notes=error.notes, fix=error.fix
            ) from error
        return executable

    def _parse(self, text: str) -> Node:
        try:
            return _parser().parse(text if text.endswith("\n") else text + "\n")
        except UnexpectedInput as error:
            location = SourceLocation(self.file, max(error.line, 1), max(error.column, 1))
            found, expected = "the end of the file", set[str]()
            if isinstance(error, UnexpectedCharacters):
                found, expected = repr(error.char), set(error.allowed or ())
            elif isinstance(error, UnexpectedToken):
                found, expected = _found(error.token), set(error.accepts or error.expected)
            words = sorted({_word(name) for name in expected})
            raise CompileError(
                "ASSEMBLY_SYNTAX",
                f"found {found}, expected {' or '.join(words)}",
                location=location,
            ) from None

    def _fail(self, at: Node, message: str, fix: str | None = None) -> NoReturn:
        place: Any = at if isinstance(at, Token) else at.meta
        location = SourceLocation(self.file, place.line, place.column, place.end_column)
        raise CompileError("ASSEMBLY", message, location=location, fix=fix)

    def _located(self, at: Node, make: Callable[[], T]) -> T:
        """The value of ``make``, its error placed at a token."""
        try:
            return make()
        except CompileError as error:
            self._fail(at, error.message, error.fix)

    # Statements.

    def _soc(self, tree: Node) -> None:
        self.soc = self._name(tree.children[0])
        self.machine = self._located(tree, lambda: load_soc(self.soc))

    def _constant(self, tree: Node) -> None:
        name, encoding, *strings = tree.children
        text = "".join(self._string(string) for string in strings)
        decoders = {"hex": bytes.fromhex, "base64": _base64}
        if encoding not in decoders:
            self._fail(encoding, f"unknown encoding {encoding}, expected hex or base64")
        try:
            data = decoders[encoding](text)
        except ValueError as error:
            self._fail(encoding, f"not {encoding}: {error}")
        key = self._name(name)
        if key in self.constants:
            self._fail(name, f"constant {key} stands twice")
        self.constants[key] = np.frombuffer(data, np.uint8)

    def _buffer(self, tree: Node) -> None:
        name, role, dtype, shape, *attributes = tree.children
        values = self._attributes(attributes, {"bytes": int, "offset": int, "constant": str})
        extents = tuple(self._extent(extent) for extent in shape.children if extent is not None)
        self.buffers.append(
            Buffer(
                self._name(name),
                self._member(role, Role, "role"),
                self._dtype(dtype),
                extents,
                **values,
            )
        )

    def _program(self, tree: Node) -> None:
        name, core, *lines = tree.children
        builder = ProgramBuilder(self._name(name), self._member(core, CoreKind, "core"))
        for line in lines:
            getattr(self, f"_line_{line.data}")(line, builder)
        self.programs.append(self._located(name, builder.build))

    def _launch(self, tree: Node) -> None:
        self.later.append(tree)

    _inputs = _results = _launch

    def _late_launch(self, tree: Node) -> None:
        program, attribute, arguments, other, other_arguments = tree.children
        grid = self._attributes([attribute], {"grid": int})["grid"]
        first = self._part(program, arguments)
        vector = None if other is None else self._part(other, other_arguments)
        self.steps.append(Launch(first.program, grid, first.arguments, vector))

    def _part(self, program: Node, arguments: Node) -> Part:
        number = self._reference(program, [p.name for p in self.programs], "program")
        values = (self._argument(one) for one in arguments.children if one is not None)
        return Part(number, tuple(values))

    def _late_inputs(self, tree: Node) -> None:
        self.inputs += self._buffer_list(tree)

    def _late_results(self, tree: Node) -> None:
        self.results += self._buffer_list(tree)

    def _buffer_list(self, tree: Node) -> tuple[int, ...]:
        return tuple(self._buffer_number(one) for one in tree.children if one is not None)

    # Lines of a program.

    def _line_parameter(self, tree: Node, builder: ProgramBuilder) -> None:
        name, kind, *rest = tree.children
        if kind not in ("buffer", "scalar"):
            self._fail(kind, f"unknown kind {kind} of parameter, expected buffer or scalar")
        writes = bool(rest) and rest[-1] == "writes"
        types = rest[:-1] if writes else rest
        if len(types) > 1:
            self._fail(types[1], f"found {types[1]}, expected writes")
        dtype = self._dtype(types[0]) if types else None
        builder.parameter(self._name(name), str(kind), dtype, writes)

    def _line_local(self, tree: Node, builder: ProgramBuilder) -> None:
        name, space, *attributes = tree.children
        values = {"slots": 1} | self._attributes(
            attributes, {"address": int, "bytes": int, "slots": int}
        )
        for needed in ("address", "bytes"):
            if needed not in values:
                self._fail(tree, f".local needs {needed}=")
        builder.buffers.append(
            LocalBuffer(self._name(name), self._member(space, Space, "memory space"), **values)
        )

    def _line_lines(self, tree: Node, builder: ProgramBuilder) -> None:
        for string in tree.children:
            builder.at(self._string(string))
        builder.at(None)

    def _line_loc(self, tree: Node, builder: ProgramBuilder) -> None:
        (token,) = tree.children
        if token.type == "NAME" and token != "none":
            self._fail(token, f"found {token}, expected a string or none")
        builder.at(None if token == "none" else self._string(token))

    def _line_code(self, tree: Node, builder: ProgramBuilder) -> None:
        for child in tree.children:
            if child.data == "label":
                name = child.children[0]
                self._located(name, lambda name=name: builder.label(str(name)))
            else:
                self._instruction(child, builder)

    def _instruction(self, tree: Node, builder: ProgramBuilder) -> None:
        mnemonic, *operands = tree.children
        form = forms().get(mnemonic)
        if mnemonic in NOT_MODELLED:
            self._fail(mnemonic, f"there is no {mnemonic} here: {NOT_MODELLED[mnemonic]}")
        if form is None:
            self._fail(mnemonic, f"unknown mnemonic {mnemonic}", _similar(mnemonic))
        complaint = refusal(form.mnemonic, self.machine)
        if complaint is not None:
            self._fail(mnemonic, complaint)
        values: dict[str, Any] = {}
        for position, tree_or_none in enumerate(operands):
            if tree_or_none is None:
                continue
            operand, token = self._operand(form, position, tree_or_none)
            if operand.name in values:
                self._fail(token, f"{operand.name} is given twice")
            values[operand.name] = self._value(operand, token, builder)
        self._located(mnemonic, lambda: builder.append(str(mnemonic), **values))

    def _operand(self, form: Form, position: int, tree: Node) -> tuple[Operand, Token]:
        """Which operand stands at a position, and the token of its value."""
        if tree.data == "field":
            name, value = tree.children
            found = form.index(str(name))
            if found is None:
                shown = (one.name for one in form.operands if one.use is not Use.STATE)
                names = ", ".join(shown)
                self._fail(name, f"{form.mnemonic} has no operand {name}, it has {names}")
            return form.operands[found], value.children[0]
        token = tree.children[0]
        if form.row is not None:
            self._fail(token, f"found {token}, expected name=value")
        if position >= len(form.operands):
            self._fail(token, f"{form.mnemonic} takes {len(form.operands)} operands")
        return form.operands[position], token

    def _value(self, operand: Operand, token: Token, builder: ProgramBuilder) -> Any:
        value: Any = None
        if token.type == "NAME" and operand.use is Use.LABEL:
            return str(token)
        if token.type == "NAME" and operand.use is Use.PIPE:
            return self._member(token, Pipe, "pipe")
        if token.type == "INT":
            value = _integer(token)
            if operand.dtype is not None and operand.dtype.is_float and "x" not in token.lower():
                self._fail(
                    token, f"{operand.name} is {operand.dtype}, found the integer {token}",
                    f"write {token}.0, or the bits in hexadecimal",
                )  # fmt: skip
        elif token.type == "FLOAT" and operand.dtype is not None and operand.dtype.is_float:
            value = scalar_bits(float(token), operand.dtype)
        elif REGISTER_NAME.match(token):
            value = Register(int(token[1:]))
        elif operand.use is Use.PARAMETER:
            names = [parameter.name for parameter in builder.parameters]
            value = names.index(token) if token in names else None
        if value is None:
            self._fail(token, f"{operand.name}: found {token}, expected {operand.use}")
        complaint = operand.complaint(value)
        if complaint is not None:
            self._fail(token, complaint)
        return value

    # Pieces.

    def _string(self, token: Token) -> str:
        try:
            return json.loads(token)
        except ValueError:
            self._fail(token, "a string with a broken escape")

    def _name(self, tree: Node) -> str:
        token = tree.children[0]
        return self._string(token) if token.type == "STRING" else str(token)

    def _member(self, token: Token, enum: Callable[[str], T], what: str) -> T:
        try:
            return enum(str(token))
        except ValueError:
            members = ", ".join(enum)  # pyright: ignore[reportArgumentType, reportCallIssue]
            self._fail(token, f"unknown {what} {token}, expected one of {members}")

    def _dtype(self, token: Token) -> DType:
        if token not in DTYPES:
            self._fail(token, f"unknown dtype {token}, expected one of {', '.join(DTYPES)}")
        return DTYPES[token]

    def _attributes(self, trees: list[Node], known: dict[str, type]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for tree in trees:
            name, value = tree.children
            if name not in known:
                self._fail(name, f"unknown attribute {name}, expected one of {', '.join(known)}")
            if isinstance(value, Token) != (known[name] is int):
                self._fail(
                    value, f"{name} takes {'an integer' if known[name] is int else 'a name'}"
                )
            values[str(name)] = _integer(value) if isinstance(value, Token) else self._name(value)
        return values

    def _extent(self, value: Node) -> int | Dim:
        if isinstance(value, Token):
            return _integer(value)
        word, index, axis = value.children
        if word != "dim":
            self._fail(word, f"found {word}, expected dim")
        return Dim(_integer(index), _integer(axis))

    def _argument(self, value: Node) -> Argument:
        if isinstance(value, Token) or value.data == "dim":
            return self._extent(value)
        reference, offset = value.children
        return BufferArgument(self._buffer_number(reference), _integer(offset or "0"))

    def _buffer_number(self, tree: Node) -> int:
        return self._reference(tree, [buffer.name for buffer in self.buffers], "buffer")

    def _reference(self, tree: Node, names: list[str], what: str) -> int:
        child = tree.children[0]
        if isinstance(child, Token):
            number = _integer(child)
            if not 0 <= number < len(names):
                self._fail(child, f"{what} {number} of {len(names)}")
            return number
        name = self._name(child)
        if names.count(name) != 1:
            problem = "unknown" if name not in names else "not the only one of its name"
            self._fail(child, f"{what} {name} is {problem}")
        return names.index(name)


def _integer(text: str) -> int:
    return int(text, 16 if "x" in text.lower() else 10)


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error


def _found(token: Token) -> str:
    if token.type in ("_NL", "$END"):
        return TOKEN_WORDS[token.type]
    return f"'{token}'"


def _similar(mnemonic: str) -> str | None:
    """Mnemonics of the same name with other dtypes."""
    stem = mnemonic.split(".")[0]
    near = [name for name in forms() if name.split(".")[0] == stem]
    return f"write {', '.join(near)}" if near else None
