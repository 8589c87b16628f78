"""``pyptoc opt``: passes over the IR of any level."""

from __future__ import annotations

from pathlib import Path

from pypto.cli.ir_file import read_module, read_text, write_text
from pypto.cli.observers import make_observer
from pypto.dialects.context import print_module
from pypto.runtime.compiler import run_passes


def opt_command(
    file: str,
    pipeline: str,
    *,
    output: Path | None,
    dump_ir: Path | None,
    print_after_all: bool,
    print_after: tuple[str, ...],
    verify_each: bool,
) -> None:
    """Read a module, run ``pipeline`` over it and write the result.

    Source locations are written when the text that was read has some; else they would only name
    the lines of that text.
    """
    text = read_text(file)
    module, constants = read_module(text, file)
    observer = make_observer(
        dump_ir=dump_ir, print_after_all=print_after_all, print_after=print_after
    )
    run_passes(module, constants, pipeline, observer=observer, verify_each=verify_each)
    write_text(print_module(module, locations="loc(" in text), output)
    if output is not None:
        constants.save(output.parent)
