"""Machine code in the cache folder: found by the next process, never by other sources."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from pypto.emulator import cache, native, prepare
from pypto.target.instructions import BY_MNEMONIC

ROOT = Path(__file__).parents[2]
PROBE = """
import sys
import numpy as np
from pypto.emulator import native
from pypto.emulator.run import run
from tests.emulator.programs import elementwise_executable, matmul_executable

x = np.arange(2048, dtype=np.float32)
assert np.array_equal(run(elementwise_executable(2, 1, 4096), [x, x]).results[0], x + x)
a = np.ones((32, 32), np.float16)
run(matmul_executable(32, 32, 32, (32, 32, 32), 1), [a, a])
print(native.counts["misses"], "numba" in sys.modules)
"""


def probe() -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_second_process_compiles_nothing_and_needs_no_numba() -> None:
    probe()
    assert probe() == "0 False"


def test_the_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYPTO_CACHE_DIR", str(tmp_path))
    assert cache.cache_root() == tmp_path


def fresh_key() -> str:
    """The key as a new process would compute it."""
    cache.folder_hash.cache_clear()
    return cache.source_key()


def test_the_key_changes_with_any_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for folder in ("target", "emulator"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.py").write_text("A = 1\n")
    monkeypatch.setattr(cache, "PACKAGE", tmp_path)
    monkeypatch.setattr(cache, "SOURCE_FOLDERS", (tmp_path / "target", tmp_path / "emulator"))
    keys = [fresh_key(), fresh_key()]
    (tmp_path / "target" / "one.py").write_text("A = 2\n")
    keys.append(fresh_key())
    (tmp_path / "emulator" / "two.py").write_text("")
    keys.append(fresh_key())
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_the_key_changes_with_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.source_key()
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert cache.source_key() != before


def test_old_folders_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYPTO_CACHE_DIR", str(tmp_path))
    old = [tmp_path / "emulator" / f"{i:016x}" for i in range(12)]
    for folder in old:
        folder.mkdir(parents=True)
    cache.cache_folder.cache_clear()
    try:
        made = cache.cache_folder()
        left = list((tmp_path / "emulator").iterdir())
    finally:
        cache.cache_folder.cache_clear()
    assert made in left
    assert len(left) == cache.KEPT_FOLDERS


def test_code_that_is_broken_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native, "cache_folder", lambda: tmp_path)
    file = tmp_path / "broken.o"
    file.write_bytes(b"symbol\nno object file")
    make = partial(prepare._body_function, BY_MNEMONIC["copy_gm_to_cbuf.b32"])
    assert native.function_address("broken", make, prepare.BODY_ARGUMENTS) != 0
    assert "broken.o is damaged" in capsys.readouterr().err
    assert native._stored(file) is not None
    assert capsys.readouterr().err == ""
