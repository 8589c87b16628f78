"""The one user error renders its place, its line, its notes and its fix."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from pypto.errors import CompileError, DeviceError, PyptoError, SourceLocation


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_text("def f(x):\n\treturn x + missing\n")
    return path


def test_message_alone() -> None:
    assert str(CompileError("SHAPE", "shapes differ")) == "error[SHAPE]: shapes differ"


def test_everything(source: Path) -> None:
    error = CompileError(
        "UNKNOWN_NAME",
        "`missing` is not defined",
        location=SourceLocation(str(source), 2, 13, 20),
        notes=("looked in the function, its closure and its module",),
        fix="import it or pass it as an argument",
    )
    assert str(error) == (
        f"{source}:2:13: error[UNKNOWN_NAME]: `missing` is not defined\n"
        "    2 | \treturn x + missing\n"
        "      | \t           ^~~~~~~\n"
        "note: looked in the function, its closure and its module\n"
        "fix: import it or pass it as an argument"
    )


def test_caret_stays_inside_the_line(source: Path) -> None:
    location = SourceLocation(str(source), 2, 13, 900)
    assert location.excerpt().endswith("^~~~~~~")


def test_a_file_that_is_not_there_has_no_excerpt() -> None:
    error = DeviceError("DEADLOCK", "all pipes wait", location=SourceLocation("gone.py", 3, 1))
    assert str(error) == "gone.py:3:1: error[DEADLOCK]: all pipes wait"


def test_survives_pickling() -> None:
    error = DeviceError("OUT_OF_BOUNDS", "reads past the end", notes=("n",), fix="f")
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, DeviceError)
    assert isinstance(copy, PyptoError)
    assert str(copy) == str(error)


def test_places_read_back() -> None:
    place = SourceLocation("c:/k.py", 3, 9)
    assert SourceLocation.parse(str(place)) == place
    assert SourceLocation.parse("k.py:3") is None
    assert SourceLocation.parse("") is None
