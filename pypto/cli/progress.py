"""What a command is doing, on a terminal, once it has taken two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_SECONDS = 2.0


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show ``what`` with a spinner on stderr when it lasts; nothing when that is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    finished = threading.Event()
    watcher = threading.Thread(target=_show_when_late, args=(what, finished), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()


def _show_when_late(what: str, finished: threading.Event) -> None:
    if finished.wait(PATIENCE_SECONDS):
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …"):
        finished.wait()
