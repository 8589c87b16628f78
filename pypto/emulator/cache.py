"""The folder in which compiled machine code outlives a process, keyed by everything it depends on.

numba checks only the file of a function when it looks for old code, not the files that file
imports. So the folder's name is a hash of all sources of ``target`` and ``emulator``, the library
versions and the host's CPU: whatever changes, old code is never found.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

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
    """A hash of the sources, library versions and CPU that generated code depends on."""
    import llvmlite.binding
    import numba
    import numpy

    digest = hashlib.sha256()
    for folder in SOURCE_FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(PACKAGE)).encode())
            digest.update(path.read_bytes())
    facts = (
        sys.version,
        numba.__version__,
        numpy.__version__,
        numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name(),
        numba.config.CPU_FEATURES or llvmlite.binding.get_host_cpu_features().flatten(),
        numba.config.OPT,
    )
    digest.update(repr(facts).encode())
    return digest.hexdigest()[:16]


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


@contextlib.contextmanager
def compiled_code_in_cache() -> Iterator[None]:
    """Functions that numba decorates inside keep their machine code in ``cache_folder``."""
    import numba

    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder() / "code")
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def generated_module(name: str, text: str) -> ModuleType:
    """Import ``text`` as a module from a real file: numba caches nothing else."""
    folder = cache_folder() / "generated"
    path = folder / f"{name}.py"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{name}.{os.getpid()}.draft"
        draft.write_text(text)
        draft.replace(path)
    full_name = f"pypto_generated.{name}"
    spec = importlib.util.spec_from_file_location(full_name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[full_name] = module
    with compiled_code_in_cache():
        spec.loader.exec_module(module)
    return module
