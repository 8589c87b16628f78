"""``pyptoc opt``: passes over the IR of any level."""

from __future__ import annotations

import sys
from pathlib import Path

from pypto.cli.ir_file import read_module, read_text, write_text
from pypto.cli.observers import make_observer, reporter
from pypto.cli.progress import progress
from pypto.dialects.context import print_module
from pypto.runtime.compiler import run_passes
from pypto.runtime.prove import Prover


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
    guard = None
    if verify_each:
        guard = Prover(constants)
        reason = guard.obstacle(module)
        if reason is not None:
            print(f"note: the module is not executed: {reason}", file=sys.stderr)
    with progress(f"running {pipeline or 'no passes'}") as say:
        observer = make_observer(
            *([reporter(say, file)] if verify_each else []),
            dump_ir=dump_ir,
            print_after_all=print_after_all,
            print_after=print_after,
        )
        run_passes(module, constants, pipeline, observer=observer, guard=guard)
    write_text(print_module(module, locations="loc(" in text), output)
    if output is not None:
        constants.save(output.parent)
