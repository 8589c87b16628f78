"""Machine code in the cache folder: found by the next process, never by other sources."""

from __future__ import annotations

import os
import subprocess
import sys
import time
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


def test_a_folder_in_use_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYPTO_CACHE_DIR", str(tmp_path))
    used = tmp_path / "emulator" / cache.source_key()
    used.mkdir(parents=True)
    draft = used / f"killed.1.2{cache.DRAFT}"
    draft.touch()
    for path in (draft, used):
        os.utime(path, (0, 0))
    cache.cache_folder.cache_clear()
    try:
        assert cache.cache_folder() == used
    finally:
        cache.cache_folder.cache_clear()
    assert used.stat().st_mtime > 0
    assert not draft.exists()


def fake_compiler(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """Object files without a compiler; the names of what is compiled."""
    made: list[str] = []

    def compile_(function: str, _: int) -> tuple[str, bytes]:
        made.append(function)
        return "symbol", b"code of " + function.encode()

    monkeypatch.setattr(native, "cache_folder", lambda: folder)
    monkeypatch.setattr(native, "_compiled", compile_)
    monkeypatch.setattr(native, "_load", lambda *parts: parts)
    monkeypatch.setattr(cache, "STARTED", time.time() + 3600)
    monkeypatch.setattr(cache, "_said", set())
    return made


def test_no_damage_reaches_the_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = fake_compiler(monkeypatch, tmp_path)

    def address() -> object:
        return native.function_address("f", lambda: "f", 1)

    wanted = address()
    path = tmp_path / "f.o"
    whole = path.read_bytes()
    assert address() == wanted
    assert made == ["f"]
    damaged = [b"", whole[:-1], whole + b"0", bytes(len(whole))]
    damaged += [whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :] for i in range(len(whole))]
    for data in damaged:
        path.write_bytes(data)
        assert address() == wanted
        assert path.read_bytes() == whole
    assert len(made) == 1 + len(damaged)
    assert len(capsys.readouterr().err.splitlines()) == 1
    path.unlink()
    path.mkdir()
    assert address() == wanted
    assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_costs_time_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    made = fake_compiler(monkeypatch, tmp_path / "file")
    for _ in range(2):
        assert native.function_address("f", lambda: "f", 1) == ("f", "symbol", b"code of f")
    assert made == ["f", "f"]
    assert capsys.readouterr().err == (
        f"warning: the cache in {tmp_path}/file cannot be written (File exists): "
        "what is compiled is not kept\n"
    )


def test_code_of_sources_edited_meanwhile_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = fake_compiler(monkeypatch, tmp_path)
    monkeypatch.setattr(cache, "STARTED", 0.0)
    for _ in range(2):
        native.function_address("f", lambda: "f", 1)
    assert made == ["f", "f"]
    assert list(tmp_path.iterdir()) == []


def test_code_that_is_broken_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(cache, "STARTED", time.time() + 3600)
    file = tmp_path / "broken.o"
    file.write_bytes(b"symbol\nno object file")
    make = partial(prepare._body_function, BY_MNEMONIC["copy_gm_to_cbuf.b32"])
    assert native.function_address("broken", make, prepare.BODY_ARGUMENTS) != 0
    assert "broken.o is damaged" in capsys.readouterr().err
    assert native._stored(file) is not None
    assert capsys.readouterr().err == ""
