"""The folder in which compiled machine code outlives a process, keyed by all it depends on.

The folder's name is a hash of all sources of ``target`` and ``emulator``, the versions of the
libraries that compile and the host's CPU: whatever changes, old code is never found.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SOURCE_FOLDERS = (PACKAGE / "target", PACKAGE / "emulator")
KEPT_FOLDERS = 8


def cache_root() -> Path:
    """``$PYPTO_CACHE_DIR``, else the user's cache folder for pypto."""
    chosen = os.environ.get("PYPTO_CACHE_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("pypto"))


def source_key() -> str:
    """A hash of the sources, library versions and CPU that compiled code depends on."""
    import llvmlite
    import llvmlite.binding

    digest = hashlib.sha256()
    for folder in SOURCE_FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(PACKAGE)).encode())
            digest.update(path.read_bytes())
    settings = {k: v for k, v in os.environ.items() if k.startswith("NUMBA_")}
    facts = (
        sys.version,
        _numba_version(),
        llvmlite.__version__,
        llvmlite.binding.get_host_cpu_name(),
        llvmlite.binding.get_host_cpu_features().flatten(),
        sorted(settings.items()),
    )
    digest.update(repr(facts).encode())
    return digest.hexdigest()[:16]


def _numba_version() -> str:
    """The text of numba's version file: importing numba would take longer than all the rest."""
    spec = importlib.util.find_spec("numba")
    if spec is None or spec.origin is None:
        return ""
    return (Path(spec.origin).parent / "_version.py").read_text()


@cache
def cache_folder() -> Path:
    """The folder for this state of the sources; made on first use, the oldest others removed."""
    folder = cache_root() / "emulator" / source_key()
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(folder.parent.iterdir(), key=lambda p: p.stat().st_mtime, reverse=True)
        for stale in others[KEPT_FOLDERS:]:
            shutil.rmtree(stale, ignore_errors=True)
    return folder
