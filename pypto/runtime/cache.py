"""Executables of earlier processes, keyed by everything they depend on."""

from __future__ import annotations

import contextlib
import hashlib
import os
from functools import cache
from pathlib import Path

from pypto.emulator.cache import cache_root
from pypto.errors import PyptoError
from pypto.target.container import from_bytes, to_bytes
from pypto.target.executable import Executable
from pypto.target.soc import DIRECTORY as SOC_FOLDER

PACKAGE = Path(__file__).parents[1]
KEPT = 512


@cache
def package_key() -> str:
    """A hash that changes when a source of the package does: its path, size and time."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted((*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.lark"))):
        facts = path.stat()
        digest.update(f"{path}:{facts.st_size}:{facts.st_mtime_ns};".encode())
    return digest.hexdigest()


def soc_key(soc: str) -> str:
    """A hash of the contents of a machine's file."""
    path = Path(soc) if soc.lower().endswith(".toml") else SOC_FOLDER / f"{soc.lower()}.toml"
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def executable_key(fingerprint: str, types: object, soc: str, pipeline: str) -> str:
    """The name of a compiled function in the cache."""
    facts = repr((fingerprint, types, soc, soc_key(soc), pipeline, package_key()))
    return hashlib.blake2b(facts.encode(), digest_size=20).hexdigest()


def _folder() -> Path:
    return cache_root() / "executables"


def find(key: str) -> Executable | None:
    """The executable stored under a key; a file that cannot be read counts as absent."""
    path = _folder() / f"{key}.dvbin"
    try:
        executable = from_bytes(path.read_bytes())
        os.utime(path)  # the least recently used are removed first
    except (OSError, PyptoError):
        return None
    return executable


def store(key: str, executable: Executable) -> None:
    """Keep an executable; a cache that cannot be written is no error."""
    with contextlib.suppress(OSError):
        folder = _folder()
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{key}.{os.getpid()}.draft"
        draft.write_bytes(to_bytes(executable))
        draft.replace(folder / f"{key}.dvbin")
        files = sorted(folder.glob("*.dvbin"), key=lambda p: p.stat().st_mtime, reverse=True)
        for stale in files[KEPT:]:
            stale.unlink()
