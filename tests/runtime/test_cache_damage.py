"""A cache that is damaged, forbidden, full or left half written never stops a run."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pypto.emulator import cache as files
from pypto.runtime import cache
from tests.runtime.caching import made, only_entry, raised, was_hit

pytestmark = pytest.mark.usefixtures("folder")


def flipped(data: bytes, position: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 16]) + data[position + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "garbage": lambda data: os.urandom(len(data)),
    "zeros": lambda data: bytes(len(data)),
    "longer": lambda data: data + b"\0",
    "shorter by one": lambda data: data[:-1],
    "key only": lambda data: data[:40],
    "preamble only": lambda data: data[:60],
    "half": lambda data: data[: len(data) // 2],
    "other version": lambda data: flipped(data, 41 + 8),
    "other key": lambda data: b"0" * 40 + data[40:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_entries_are_made_again(
    damage: Callable[[bytes], bytes], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = made()
    path = only_entry(folder)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    again = made()
    assert not was_hit(again)
    assert again.executable == first.executable
    assert path.read_bytes() == whole
    assert was_hit(made())
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"warning: the cache entry {path} is damaged (")
    assert line.endswith(") and is made again")


def test_no_flipped_bit_goes_unseen(folder: Path) -> None:
    made()
    path = only_entry(folder)
    whole = path.read_bytes()
    for position in {*range(120), *range(120, len(whole), 97)}:
        path.write_bytes(flipped(whole, position))
        assert cache.find(path.stem, "ascend910b1") is None, position
    path.write_bytes(whole)
    assert cache.find(path.stem, "ascend910b1") is not None


def in_its_place_a_folder(path: Path) -> None:
    path.mkdir()
    (path / "inner").write_text("x")


def in_its_place_a_ring(path: Path) -> None:
    path.symlink_to(path.name)


def in_its_place_a_link_to_a_folder(path: Path) -> None:
    path.symlink_to(path.parent)


@pytest.mark.parametrize(
    "put", [in_its_place_a_folder, in_its_place_a_ring, in_its_place_a_link_to_a_folder]
)
def test_what_is_no_file_gives_way(
    put: Callable[[Path], None], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made()
    path = only_entry(folder)
    path.unlink()
    put(path)
    assert not was_hit(made())
    assert was_hit(made())
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_entry_without_permission_is_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", failing(errno.EACCES))
        assert cache.find(only_entry(folder).stem, "ascend910b1") is None
    assert "(Permission denied)" in capsys.readouterr().err
    assert was_hit(made())


def failing(code: int) -> Callable[..., bytes]:
    def fail(*_: object) -> bytes:
        raise OSError(code, os.strerror(code))

    return fail


def test_a_folder_that_cannot_be_made_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("PYPTO_CACHE_DIR", str(file))
    assert not was_hit(made())
    assert not was_hit(made(raised))
    assert capsys.readouterr().err == (
        f"warning: the cache in {file}/executables cannot be written (Not a directory): "
        "what is compiled is not kept\n"
    )


def test_a_full_disk_is_said_once_and_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write_half(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_half)
        made()
        made(raised)
    assert list(folder.iterdir()) == []
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_interrupt_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(path: Path, data: bytes) -> int:
        path.touch()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", interrupt)
        with pytest.raises(KeyboardInterrupt):
            made()
    assert list(folder.iterdir()) == []
    assert not was_hit(made())


def test_drafts_of_killed_processes_are_removed(folder: Path) -> None:
    folder.mkdir()
    old, new = (folder / f"{name}{files.DRAFT}" for name in ("old", "new"))
    old.write_text("x")
    new.write_text("x")
    os.utime(old, (0, 0))
    made()
    assert not old.exists()
    assert new.exists()
