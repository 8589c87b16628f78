"""Reads a module from a ``.mlir`` file or standard input, with the constants beside it."""

from __future__ import annotations

import sys
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from pypto.dialects.constants import ConstantStore
from pypto.dialects.context import parse_module
from pypto.errors import CompileError


def read_text(file: str) -> str:
    """The text of a file; ``-`` is standard input."""
    if file == "-":
        return sys.stdin.read()
    path = Path(file)
    if not path.is_file():
        raise CompileError(
            "FILE_NOT_FOUND", f"there is no file {path}", fix="check the path and the folder"
        )
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CompileError(
            "IR_SYNTAX", f"{path} is not text: {error}", fix="give a .mlir file"
        ) from error


def read_module(text: str, file: str) -> tuple[ModuleOp, ConstantStore]:
    """The module of a text, and the constants stored in the folder of its file."""
    constants = ConstantStore()
    constants.load(Path.cwd() if file == "-" else Path(file).parent)
    return parse_module(text, "<stdin>" if file == "-" else file), constants


def write_text(text: str, output: Path | None) -> None:
    """Text to a file, or to stdout."""
    if output is None:
        sys.stdout.write(text)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
