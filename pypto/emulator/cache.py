"""The folder in which compiled code outlives a process, and how files in it stay whole.

Machine code lies in a folder named by a hash of all sources of ``target`` and ``emulator``, the
versions of the libraries that compile and the host's CPU: whatever changes, old code is never
found. Files appear in one step, so that processes that fill the cache together never see half of
one. A cache that cannot be used is said once and costs time, never a run.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import sys
import time
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SOURCE_FOLDERS = (PACKAGE / "target", PACKAGE / "emulator")
SOURCE_SUFFIXES = (".py", ".toml", ".lark")
KEPT_FOLDERS = 8
DRAFT = ".draft"
DRAFT_SECONDS = 3600  # older ones were left by a process that was killed

STARTED = time.time()

_said: set[str] = set()


def cache_root() -> Path:
    """``$PYPTO_CACHE_DIR``, else the user's cache folder for pypto."""
    chosen = os.environ.get("PYPTO_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("pypto"))


@cache
def folder_hash(folder: Path) -> str:
    """A hash of the names and contents of all sources below a folder."""
    digest = hashlib.blake2b(digest_size=16)
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.name.endswith(SOURCE_SUFFIXES):
                contents = Path(entry.path).read_bytes()
                digest.update(f"{entry.name}:{len(contents)}:".encode())
                digest.update(contents)
            elif entry.name != "__pycache__" and entry.is_dir():
                digest.update(f"{entry.name}/{folder_hash(Path(entry.path))};".encode())
    return digest.hexdigest()


def sources_changed(*folders: Path) -> bool:
    """Whether sources were edited while this process ran: what it loaded may be older."""
    return any(
        path.suffix in SOURCE_SUFFIXES and modified(path) > STARTED
        for folder in folders
        for path in folder.rglob("*")
    )


def source_key() -> str:
    """A hash of the sources, library versions and CPU that compiled code depends on."""
    import llvmlite
    import llvmlite.binding

    settings = {k: v for k, v in os.environ.items() if k.startswith("NUMBA_")}
    facts = (
        [folder_hash(folder) for folder in SOURCE_FOLDERS],
        sys.version,
        _numba_version(),
        llvmlite.__version__,
        llvmlite.binding.get_host_cpu_name(),
        llvmlite.binding.get_host_cpu_features().flatten(),
        sorted(settings.items()),
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _numba_version() -> str:
    """The text of numba's version file: importing numba would take longer than all the rest."""
    spec = importlib.util.find_spec("numba")
    if spec is None or spec.origin is None:
        return ""
    return (Path(spec.origin).parent / "_version.py").read_text()


@cache
def cache_folder() -> Path:
    """The folder for this state of the sources; the least recently used others are removed."""
    folder = cache_root() / "emulator" / source_key()
    with contextlib.suppress(OSError):
        if folder.is_dir():
            os.utime(folder)
            remove_drafts(folder)
        else:
            folder.mkdir(parents=True)
            others = [path for path in folder.parent.iterdir() if path != folder]
            for stale in sorted(others, key=modified, reverse=True)[KEPT_FOLDERS - 1 :]:
                shutil.rmtree(stale, ignore_errors=True)
    return folder


def modified(path: Path) -> float:
    """When a file was last written or used, in seconds; 0 when another process has removed it."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def write_file(path: Path, data: bytes) -> bool:
    """Put a file in its place in one step, whatever is there; whether it could be written."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{time.monotonic_ns()}{DRAFT}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(data)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        say_once(
            f"the cache in {path.parent} cannot be written ({error.strerror}): "
            "what is compiled is not kept"
        )
        return False
    return True


def remove_drafts(folder: Path) -> None:
    """Remove what processes that were killed while writing have left."""
    oldest = time.time() - DRAFT_SECONDS
    for path in folder.glob(f"*{DRAFT}"):
        if modified(path) < oldest:
            path.unlink(missing_ok=True)


def say_damaged(path: Path, reason: str) -> None:
    """Say that an entry of the cache is made again."""
    say_once(f"the cache entry {path} is damaged ({reason}) and is made again")


def say_once(message: str) -> None:
    """A warning on stderr, the same one once per process."""
    if message not in _said:
        _said.add(message)
        print(f"warning: {message}", file=sys.stderr)
