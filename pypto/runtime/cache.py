"""Executables of earlier processes, keyed by everything they depend on.

An entry is its key, a line feed, and the contents of a ``.dvbin`` file. An entry that is not as it
was written counts as absent and is written anew. Source lines are kept with absolute paths and
named as seen from the current folder, as the frontend names them.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import ml_dtypes
import numpy as np

from pypto.emulator.cache import (
    DRAFT,
    PACKAGE,
    cache_root,
    folder_hash,
    modified,
    remove_drafts,
    say_damaged,
    say_once,
    sources_changed,
    write_file,
)
from pypto.errors import PyptoError, SourceLocation
from pypto.frontend.source import relative_path
from pypto.target.container import from_bytes, to_bytes
from pypto.target.executable import Executable
from pypto.target.soc import soc as load_soc

SUFFIX = ".entry"
DEFAULT_LIMIT = 2**30
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
# After so large a part of the limit was written, the size of the folder is looked at again.
PART = 16

_written: dict[Path, int] = {}


def executable_key(meaning: object, soc: str, pipeline: str) -> str | None:
    """The name of a compiled function in the cache; None when the package's text is not to be had.

    ``meaning``, by its ``repr``, stands for the function with the types it is compiled for.
    """
    machine = load_soc(soc)
    figures = [(f.name, getattr(machine, f.name)) for f in fields(machine) if f.compare]
    try:
        facts = repr((meaning, figures, pipeline, folder_hash(PACKAGE), versions()))
    except OSError:
        return None
    return hashlib.blake2b(facts.encode(), digest_size=20).hexdigest()


@cache
def versions() -> tuple[str, ...]:
    """Python and the libraries that an Executable could depend on."""
    spec = importlib.util.find_spec("xdsl")
    site = Path(spec.origin).parents[1] if spec is not None and spec.origin else None
    xdsl = [] if site is None else [n for n in os.listdir(site) if n.startswith("xdsl-")]
    return (sys.version, np.__version__, ml_dtypes.__version__, *sorted(xdsl))


def folder() -> Path:
    """Where the entries are."""
    return cache_root() / "executables"


def find(key: str, soc: str) -> Executable | None:
    """The executable stored under a key, for the machine ``soc``; None where there is none."""
    path = folder() / f"{key}{SUFFIX}"
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        say_damaged(path, str(error.strerror))
        return None
    head, _, contents = data.partition(b"\n")
    if head != key.encode():
        say_damaged(path, "it is not what its name says")
        return None
    try:
        executable = from_bytes(contents, path.name, soc=soc)
    except PyptoError as error:
        say_damaged(path, error.message.removeprefix(f"{path.name}: "))
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the least recently used are removed first
    return with_files(executable, relative_path)


def store(key: str, executable: Executable) -> None:
    """Keep an executable; a cache that cannot be written is no error."""
    most = limit()
    data = key.encode() + b"\n" + to_bytes(with_files(executable, os.path.abspath))
    if len(data) > most or sources_changed(PACKAGE):
        return
    here = folder()
    if not write_file(here / f"{key}{SUFFIX}", data):
        return
    if here not in _written:
        remove_drafts(here)
    elif _written[here] + len(data) <= most // PART:
        _written[here] += len(data)
        return
    _written[here] = 0
    evict(here, most)


def evict(here: Path, most: int) -> None:
    """Remove the least recently used entries when all together have more than ``most`` bytes."""
    found = [(modified(path), size_of(path), path) for path in entries(here)]
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= most:
            return
        with contextlib.suppress(OSError):  # another process removes it, too
            path.unlink(missing_ok=True)
        total -= size


def entries(here: Path) -> list[Path]:
    """All files of a folder that are whole; none when it is not there."""
    return [path for path in here.glob("*") if path.suffix != DRAFT]


def size_of(path: Path) -> int:
    """Bytes of a file; 0 when another process has removed it."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def limit() -> int:
    """Bytes that all entries may have together: ``$PYPTO_CACHE_LIMIT``, such as ``500M``."""
    text = os.environ.get("PYPTO_CACHE_LIMIT", "").strip()
    if not text:
        return DEFAULT_LIMIT
    number, unit = text.rstrip("KMGkmg"), text[len(text.rstrip("KMGkmg")) :].upper()
    if not number.isdecimal() or unit not in UNITS:
        say_once(f"PYPTO_CACHE_LIMIT={text} is no size such as 500M or 2G; 1G is taken")
        return DEFAULT_LIMIT
    return int(number) * UNITS[unit]


def with_files(executable: Executable, rename: Callable[[str], str]) -> Executable:
    """The executable with the files of its source lines renamed."""

    def line(text: str) -> str:
        place = SourceLocation.parse(text)
        return text if place is None else str(replace(place, file=rename(place.file)))

    programs = tuple(
        replace(program, lines=tuple(map(line, program.lines))) for program in executable.programs
    )
    return replace(executable, programs=programs)
