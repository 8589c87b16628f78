"""An empty cache for the tests that ask for one."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pypto.emulator import cache as files
from pypto.runtime import cache

OWN_ROOT = files.cache_root()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache that shares the emulator's machine code."""
    root = tmp_path / "cache"
    root.mkdir()
    (OWN_ROOT / "emulator").mkdir(parents=True, exist_ok=True)
    (root / "emulator").symlink_to((OWN_ROOT / "emulator").resolve())
    monkeypatch.setenv("PYPTO_CACHE_DIR", str(root))
    monkeypatch.delenv("PYPTO_CACHE_LIMIT", raising=False)
    monkeypatch.setattr(cache, "_written", {})
    monkeypatch.setattr(files, "STARTED", time.time() + 3600)  # edits meanwhile do not matter here
    monkeypatch.setattr(files, "_said", set())
    return root / "executables"
