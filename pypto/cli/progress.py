"""What a command is doing, on a terminal, once it has taken two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE_SECONDS = 2.0


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """Show ``what`` with a spinner on stderr when it lasts; nothing when that is no terminal.

    Gives a function that changes what is shown.
    """
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    spinner = _Spinner(what)
    watcher = threading.Thread(target=spinner.show_when_late, daemon=True)
    watcher.start()
    try:
        yield spinner.say
    finally:
        spinner.finished.set()
        watcher.join()


class _Spinner:
    """A line of text that appears late and may change."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.finished = threading.Event()
        self.status: Status | None = None

    def say(self, text: str) -> None:
        self.text = text
        if self.status is not None:
            self.status.update(f"{text} …")

    def show_when_late(self) -> None:
        if self.finished.wait(PATIENCE_SECONDS):
            return
        from rich.console import Console

        with Console(stderr=True).status(f"{self.text} …") as self.status:
            self.finished.wait()
