"""The IR's text: one context that knows every dialect, one parser, one printer."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Dialect, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from pypto.dialects.locations import to_ir
from pypto.errors import CompileError, SourceLocation

# A comment, a whole string literal, or a quote that begins none.
_STRING_OR_COMMENT = re.compile(
    r'//[^\n]*|"[^"\\\n\v\f]*(?:\\(?:["nt\\]|[0-9A-Fa-f]{2})[^"\\\n\v\f]*)*"|"'
)


class CompilerContext(Context):
    """A context that makes operation classes from table rows when a text first names them."""

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        made = _class_from_row(name)
        return made or super().get_optional_op(name, dialect_stack=dialect_stack)


def _class_from_row(name: str) -> type[Operation] | None:
    dialect, _, rest = name.partition(".")
    if dialect == "tik":
        from pypto.dialects.tik_instructions import instruction_class
        from pypto.target.instructions import BY_MNEMONIC

        return instruction_class(rest) if rest in BY_MNEMONIC else None
    if dialect == "pypto":
        from pypto.dialects.pypto import op_class
        from pypto.ops import ROWS

        return op_class(rest) if rest in ROWS else None
    return None


def make_context() -> Context:
    """A context with all dialects; each is imported when a text first needs it."""
    context = CompilerContext()
    for name, load in _DIALECTS.items():
        context.register_dialect(name, load)
    context.load_registered_dialect("builtin")
    return context


class _Places:
    """Line and column of every position of a text."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.line_starts = [0, *(newline.end() for newline in re.finditer("\n", text))]

    def at(self, position: int) -> SourceLocation:
        line = bisect_right(self.line_starts, position)
        return SourceLocation(self.name, line, position - self.line_starts[line - 1] + 1)


class LocatingParser(Parser):
    """Gives operations the place they stand at, unless their text says ``loc(...)``."""

    def __init__(self, context: Context, text: str, places: _Places) -> None:
        self._places = places
        self._has_location = False
        super().__init__(context, text, places.name)

    def parse_optional_location(self) -> LocationAttr | None:
        location = super().parse_optional_location()
        self._has_location = location is not None
        return location

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        op = super().parse_operation()
        # The last location parsed is the operation's own: it stands behind all it contains.
        if not self._has_location:
            op.location = to_ir(self._places.at(start))
        self._has_location = False
        return op


def parse_module(text: str, name: str, context: Context | None = None) -> ModuleOp:
    """The module a text describes; ``name`` is the file errors point into."""
    places = _Places(text, name)
    lone_quote = next((m.start() for m in _STRING_OR_COMMENT.finditer(text) if m[0] == '"'), None)
    if lone_quote is not None:
        # xdsl's lexer takes time exponential in the rest of the line to find this out.
        message = "this string does not end on its line, or has an unknown escape"
        raise CompileError("IR_SYNTAX", message, location=places.at(lone_quote))
    position = 0
    try:
        parser = LocatingParser(context or make_context(), text, places)
        try:
            return parser.parse_module()
        finally:
            position = parser.pos
    except ParseError as error:
        start = places.at(error.span.start)
        location = replace(start, end_column=start.column + max(1, len(error.span)))
        message = error.msg.splitlines()[0] if error.msg else "the text ends too early"
        if _KNOWN_OPERATION.search(text) is None:
            raise CompileError(
                "NOT_IR",
                f"{name} is no IR: no line begins with an operation of {', '.join(_DIALECTS)}",
                location=replace(start, end_column=None),
                fix="write IR with `pyptoc compile KERNEL.py --emit tensor -o NAME.mlir`",
            ) from error
        if message == "Could not parse entire input!":
            message = "an operation should begin here"
    except VerifyException as error:
        location = places.at(position)
        message = str(error).splitlines()[0]
    raise CompileError("IR_SYNTAX", message, location=location)


def print_module(module: ModuleOp, locations: bool = True) -> str:
    """The text of a module; with all source locations it parses back to an equal module."""
    stream = io.StringIO()
    Printer(stream, print_debuginfo=locations).print_op(module)
    return stream.getvalue() + "\n"


def _builtin() -> Dialect:
    from xdsl.dialects.builtin import Builtin

    return Builtin


def _func() -> Dialect:
    from xdsl.dialects.func import Func

    return Func


def _arith() -> Dialect:
    from xdsl.dialects.arith import Arith

    return Arith


def _scf() -> Dialect:
    from xdsl.dialects.scf import Scf

    return Scf


def _pypto() -> Dialect:
    from pypto.dialects.pypto import Pypto

    return Pypto


def _tile() -> Dialect:
    from pypto.dialects.tile import Tile

    return Tile


def _tik() -> Dialect:
    from pypto.dialects.tik import Tik

    return Tik


def _host() -> Dialect:
    from pypto.dialects.host import Host

    return Host


_DIALECTS = {
    "builtin": _builtin,
    "func": _func,
    "arith": _arith,
    "scf": _scf,
    "pypto": _pypto,
    "tile": _tile,
    "tik": _tik,
    "host": _host,
}
# A line that begins with an operation of ours, behind its results if it has any.
_KNOWN_OPERATION = re.compile(
    rf"^\s*(?:%[^=\n]*=\s*)?\"?(?:module\b|(?:{'|'.join(_DIALECTS)})\.\w)", re.MULTILINE
)
