"""The IR's text: one context that knows every dialect, one parser, one printer."""

from __future__ import annotations

import io
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from pypto.errors import CompileError, SourceLocation


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


def parse_module(text: str, name: str, context: Context | None = None) -> ModuleOp:
    """The module a text describes; ``name`` is the file errors point into."""
    parser = Parser(context or make_context(), text, name)
    try:
        return parser.parse_module()
    except ParseError as error:
        place = error.span.get_location()
        location = SourceLocation(name, place.line, place.col, place.col + max(1, len(error.span)))
        message = error.msg.splitlines()[0] if error.msg else "the text ends too early"
    except VerifyException as error:
        at = parser.pos
        line = text.count("\n", 0, at) + 1
        location = SourceLocation(name, line, at - text.rfind("\n", 0, at))
        message = str(error).splitlines()[0]
    raise CompileError("IR_SYNTAX", message, location=location)


def print_module(module: ModuleOp) -> str:
    """The text of a module with all source locations; parses back to an equal module."""
    stream = io.StringIO()
    Printer(stream, print_debuginfo=True).print_op(module)
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
