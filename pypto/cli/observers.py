"""The options that show IR between passes, as one observer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from pypto.errors import CompileError
from pypto.runtime.compiler import Observer, Stage
from pypto.runtime.dump import IrDump, IrPrinter


def make_observer(
    *observers: Observer,
    dump_ir: Path | None,
    print_after_all: bool,
    print_after: tuple[str, ...],
) -> Observer:
    """One observer for ``--dump-ir``, ``--print-ir-after-all`` and ``--print-ir-after``."""
    chosen = list(observers)
    if dump_ir is not None:
        chosen.append(IrDump(dump_ir))
    if print_after_all or print_after:
        check_pass_names(print_after)
        write = sys.stderr.write
        chosen.append(IrPrinter(write, () if print_after_all else print_after))

    def observe(stage: Stage) -> None:
        for observer in chosen:
            observer(stage)

    return observe


def reporter(say: Callable[[str], None], what: str) -> Observer:
    """An observer that tells on the terminal which pass of ``what`` is being proven."""
    return lambda stage: say(f"proving {what}: {stage.step.name}")


def check_pass_names(names: tuple[str, ...]) -> None:
    """Raise for a name that no pass has."""
    from pypto.passes import PASSES

    known = [entry.name for entry in PASSES]
    for name in names:
        if name not in known:
            raise CompileError(
                "UNKNOWN_PASS",
                f"there is no pass {name!r}",
                fix=f"name one of {', '.join(known)}",
            )
