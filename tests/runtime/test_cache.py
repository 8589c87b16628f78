"""Executables between processes: found when nothing has changed, never wrong, never in the way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pypto
from pypto.cli.main import main
from pypto.emulator import cache as files
from pypto.errors import PyptoError
from pypto.runtime import cache, lazy
from pypto.runtime.compilation import Compilation
from pypto.runtime.kernel import Kernel
from pypto.target.container import from_bytes
from pypto.target.soc import DIRECTORY, soc
from tests.runtime.caching import X, doubled, made, only_entry, raised, was_hit

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("folder")


def test_the_next_finds_the_same_executable(folder: Path) -> None:
    first, second = made(), made()
    assert not was_hit(first)
    assert was_hit(second)
    assert second.executable == first.executable
    assert only_entry(folder).suffix == cache.SUFFIX


def test_every_ingredient_alone_is_another_entry(tmp_path: Path) -> None:
    edited = tmp_path / "edited.toml"
    text = (DIRECTORY / "ascend910b1.toml").read_text()
    old = f"value = {soc('ascend910b1').clock_mhz}"
    edited.write_text(text.replace(old, "value = 1500", 1))
    assert edited.read_text() != text
    variants: list[Callable[[], Compilation]] = [
        made,
        lambda: made(raised),
        lambda: made(raised, X, 2),
        lambda: made(raised, X, 2.0),
        lambda: made(doubled, X[:2]),
        lambda: made(doubled, X.astype(np.float16)),
        lambda: made(opt_level=0),
        lambda: made(opt_level=1),
        lambda: made(soc="ascend910a"),
        lambda: made(soc=str(edited)),
    ]
    assert not any(was_hit(variant()) for variant in variants)
    assert all(was_hit(variant()) for variant in variants)


def test_package_versions_and_pipeline_count(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [cache.executable_key("m", "ascend910b1", "p")]
    assert cache.executable_key("m", "ASCEND910B1", "p") == keys[0]
    keys.append(cache.executable_key("m", "ascend910b1", "q"))
    keys.append(cache.executable_key("n", "ascend910b1", "p"))
    with monkeypatch.context() as patch:
        patch.setattr(cache, "folder_hash", lambda _: "other")
        keys.append(cache.executable_key("m", "ascend910b1", "p"))
    with monkeypatch.context() as patch:
        patch.setattr(cache, "versions", lambda: ("3.12",))
        keys.append(cache.executable_key("m", "ascend910b1", "p"))
    assert len(set(keys)) == len(keys)


def test_versions_name_the_compiler() -> None:
    from importlib.metadata import version

    assert any(version("xdsl") in text for text in cache.versions())
    assert sys.version in cache.versions()


def test_the_hash_of_the_package_is_of_all_its_sources(tmp_path: Path) -> None:
    def digest() -> str:
        files.folder_hash.cache_clear()
        return files.folder_hash(tmp_path)

    try:
        (tmp_path / "inner" / "__pycache__").mkdir(parents=True)
        (tmp_path / "one.py").write_text("A = 1\n")
        seen = [digest()]
        for path in ("inner/two.py", "inner/grammar.lark", "machine.toml"):
            (tmp_path / path).write_text("x")
            seen.append(digest())
        (tmp_path / "one.py").write_text("A = 2\n")
        seen.append(digest())
        (tmp_path / "inner/two.py").rename(tmp_path / "inner/three.py")
        seen.append(digest())
        assert len(set(seen)) == len(seen)
        (tmp_path / "notes.txt").write_text("x")
        (tmp_path / "inner/__pycache__/two.py").write_text("x")
        os.utime(tmp_path / "one.py", (0, 0))
        assert digest() == seen[-1]
    finally:
        files.folder_hash.cache_clear()


def test_a_machine_counts_by_content_wherever_its_file_lies(tmp_path: Path) -> None:
    paths = [tmp_path / name / "my.toml" for name in ("here", "there")]
    for path in paths:
        path.parent.mkdir()
        shutil.copy(DIRECTORY / "ascend910b1.toml", path)
    made(soc=str(paths[0]))
    paths[0].unlink()
    found = made(soc=str(paths[1]))
    assert was_hit(found)
    assert found.executable.soc == str(paths[1])
    assert made().executable.soc == "ascend910b1"


def test_source_lines_are_named_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    here = made().executable.programs[0].lines
    assert any(line.startswith("tests/runtime/caching.py:") for line in here)
    assert made().executable.programs[0].lines == here
    monkeypatch.chdir(tmp_path)
    found = made()
    assert was_hit(found)
    assert any(line.startswith(str(ROOT)) for line in found.executable.programs[0].lines)


def test_lazy_tensors_are_kept_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for hit in (False, True):
        monkeypatch.setattr(lazy, "_programs", {})
        np.testing.assert_array_equal((pypto.Tensor(X) * 3 - 1).compute(), X * 3 - 1)
        (program,) = lazy._programs.values()
        assert was_hit(program) is hit


def test_what_was_unused_longest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [2, 3, 4]
    for size in sizes:
        made(doubled, np.zeros((size, size), np.float32))
        for path in folder.iterdir():
            os.utime(path, (path.stat().st_mtime - 100,) * 2)
    assert was_hit(made(doubled, np.zeros((2, 2), np.float32)))
    before = [path.stat().st_size for path in folder.iterdir()]
    most = sum(before) + min(before) // 2  # room for three and a half of four
    monkeypatch.setenv("PYPTO_CACHE_LIMIT", str(most))
    monkeypatch.setattr(cache, "_written", {})
    made(doubled, np.zeros((5, 5), np.float32))
    assert sum(path.stat().st_size for path in folder.iterdir()) <= most
    hits = [was_hit(made(doubled, np.zeros((n, n), np.float32))) for n in (5, 4, 2, 3)]
    assert hits == [True, True, True, False]


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("", 2**30), ("0", 0), ("1000", 1000), ("3k", 3072), ("500M", 500 * 2**20), ("2G", 2**31)],
)
def test_the_limit_can_be_chosen(text: str, bytes_: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYPTO_CACHE_LIMIT", text)
    assert cache.limit() == bytes_


@pytest.mark.parametrize("text", ["much", "-1", "1.5G", "1KK", "G"])
def test_a_limit_that_is_none_is_said(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYPTO_CACHE_LIMIT", text)
    assert cache.limit() == 2**30
    assert capsys.readouterr().err == (
        f"warning: PYPTO_CACHE_LIMIT={text} is no size such as 500M or 2G; 1G is taken\n"
    )


def test_nothing_is_kept_with_limit_zero_or_without_the_cache(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(use_cache=False)
    made(verify_each=True)
    monkeypatch.setenv("PYPTO_CACHE_LIMIT", "0")
    made()
    assert not folder.exists()


def test_edits_of_the_package_meanwhile_are_not_stored_under_the_new_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "STARTED", 0.0)
    made()
    assert not folder.exists()


def test_a_value_that_changes_while_compiling_is_not_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = np.ones(6, np.float32)

    def kernel(x):
        return x + weights

    compile_anew = Kernel.compile_anew

    def compile_slowly(self: Kernel, *given: object, **named: object) -> Compilation:
        result = compile_anew(self, *given, **named)  # pyright: ignore[reportArgumentType]
        weights[0] = 5
        return result

    monkeypatch.setattr(Kernel, "compile_anew", compile_slowly)
    made(kernel)
    assert not folder.exists()
    made(kernel)
    assert only_entry(folder)


KERNELS = """\
import numpy as np
import pypto

@pypto.kernel
def first(x):
    return pypto.softmax(x, dim=-1)

@pypto.kernel
def second(x):
    return pypto.gelu(x) * 2

def example_inputs():
    return (np.linspace(-3, 3, 96, dtype=np.float32).reshape(4, 24),)
"""
COMMAND = [sys.executable, "-m", "pypto.cli.main"]


def test_processes_may_fill_the_cache_at_once(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(KERNELS)
    together = [
        subprocess.Popen(
            [*COMMAND, "run", str(path), "--json"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    seen: set[str] = set()
    while any(process.poll() is None for process in together):
        for entry in folder.glob(f"*{cache.SUFFIX}"):
            from_bytes(entry.read_bytes()[41:])  # never a part of one
            seen.add(entry.stem)
        time.sleep(0.01)
    for process in together:
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert err == ""
        assert [row["ok"] for row in json.loads(out)] == [True, True]
    assert len(seen) <= 2
    assert {entry.suffix for entry in folder.iterdir()} <= {cache.SUFFIX}


def test_a_hit_imports_no_compiler(capsys: pytest.CaptureFixture[str]) -> None:
    command = [*COMMAND, "run", "examples/softmax.py", "--json"]
    timed = [sys.executable, "-X", "importtime", *command[1:]]
    for words in (command, timed):
        start = time.perf_counter()
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - start
        if words is timed and json.loads(done.stdout)[0]["compile_seconds"] != 0:
            # The sources were edited a moment ago: what was compiled then is not kept.
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[0]["compile_seconds"] == 0
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.split("\n")
    }
    assert "pypto" in imported
    assert not imported & {"xdsl", "lark", "numba"}
    with capsys.disabled():
        print(f"\nwarm pyptoc run with -X importtime: {seconds:.2f} s")


def test_commands_may_leave_the_cache_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.py").write_text(KERNELS)
    assert main(["compile", "k.py:first", "--no-cache", "-o", "a.dvbin"]) == 0
    assert main(["run", "k.py:first", "--no-cache"]) == 0
    assert not folder.exists()
    assert main(["compile", "k.py:first", "-o", "b.dvbin"]) == 0
    assert only_entry(folder)
    assert main(["compile", "k.py:first", "-o", "c.dvbin"]) == 0
    assert Path("a.dvbin").read_bytes() == Path("b.dvbin").read_bytes()
    assert Path("a.dvbin").read_bytes() == Path("c.dvbin").read_bytes()


def test_a_compile_that_shows_ir_runs_its_passes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.py").write_text(KERNELS)
    for words in (["-o", "a.dvbin"], ["--emit", "tik"], ["-o", "b.dvbin", "--dump-ir", "dump"]):
        assert main(["compile", "k.py:first", *words]) == 0
    assert len(list(Path("dump").iterdir())) > 5


def test_the_cache_is_shown_and_cleared(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.parent / "emulator").unlink()  # not the one that other tests need
    made()
    assert main(["cache", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == {
        "folder": str(folder.parent),
        "limit_bytes": 2**30,
        "executables": {"files": 1, "bytes": only_entry(folder).stat().st_size},
        "emulator": {"files": 0, "bytes": 0},
    }
    assert main(["cache", "--clear"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{folder.parent}  (kernels: at most 1.0 GiB)\n")
    assert "compiled kernels                   0   0 bytes\n" in shown
    assert not folder.exists()
    assert not was_hit(made())


def test_entries_are_executables_behind_their_key(folder: Path) -> None:
    executable = made().executable
    path = only_entry(folder)
    key, _, contents = path.read_bytes().partition(b"\n")
    assert key.decode() == path.stem
    assert from_bytes(contents).programs[0].name == executable.programs[0].name
    with pytest.raises(PyptoError):
        from_bytes(path.read_bytes())
