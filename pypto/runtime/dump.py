"""Pass-by-pass dumps: one numbered file per pass that changed something, constants beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pypto.dialects.context import print_module
from pypto.runtime.compiler import Stage

REMAINING = "// remaining: "


class IrDump:
    """An observer that writes ``00-input.mlir``, ``03-decompose.mlir`` … into a folder.

    Each file begins with the pipeline that is still to run, so that it replays alone.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[Path] = []
        self._last = ""
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("[0-9][0-9]-*.mlir"):
            old.unlink()

    def __call__(self, stage: Stage) -> None:
        text = print_module(stage.module)
        if text == self._last:
            return
        self._last = text
        path = self.folder / f"{stage.step.index:02}-{stage.step.name}.mlir"
        path.write_text(f"{REMAINING}{stage.step.remaining}\n{text}")
        self.files.append(path)
        stage.constants.save(self.folder)


def remaining_pipeline(text: str) -> str:
    """The pipeline that is still to run after a dump, from its first line."""
    first = text.partition("\n")[0]
    return first.removeprefix(REMAINING) if first.startswith(REMAINING) else ""


class IrPrinter:
    """An observer that prints the module behind all passes, or behind the named ones."""

    def __init__(self, write: Callable[[str], object], passes: tuple[str, ...] = ()) -> None:
        self.write = write
        self.passes = passes

    def __call__(self, stage: Stage) -> None:
        if stage.step.index == 0 or (self.passes and stage.step.name not in self.passes):
            return
        self.write(f"// ----- IR after {stage.step.name} -----\n{print_module(stage.module)}")
