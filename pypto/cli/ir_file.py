"""Reads a module from a ``.mlir`` file or standard input, with the constants beside it."""

from __future__ import annotations

import sys
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from pypto.dialects.constants import ConstantStore
from pypto.dialects.context import parse_module
from pypto.errors import CompileError


def read_ir(file: str) -> tuple[ModuleOp, ConstantStore]:
    """The module of a file (``-`` is standard input) and its constants."""
    if file == "-":
        text, name, folder = sys.stdin.read(), "<stdin>", Path.cwd()
    else:
        path = Path(file)
        if not path.is_file():
            raise CompileError(
                "FILE_NOT_FOUND", f"there is no file {path}", fix="check the path and the folder"
            )
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise CompileError(
                "IR_SYNTAX", f"{path} is not text: {error}", fix="give a .mlir file"
            ) from error
        name, folder = file, path.parent
    constants = ConstantStore()
    constants.load(folder)
    return parse_module(text, name), constants


def write_text(text: str, output: Path | None) -> None:
    """Text to a file, or to stdout."""
    if output is None:
        sys.stdout.write(text)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
