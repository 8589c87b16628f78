"""Kernel files: which kernels, which inputs, which reference, and the errors of a user's file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pypto.cli.kernel_file import load_cases, split_target
from pypto.errors import CompileError

TWO = """
import numpy as np
import pypto

@pypto.kernel
def first(x):
    return x + 1

@pypto.kernel
def second(x):
    return x * 2

def example_inputs():
    return np.zeros(3, np.float32)

def example_inputs_second():
    return (np.ones(4, np.float16),)

def reference_second(x):
    return x * 2
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "two.py"


def refused(file: Path, text: str, target: str = "") -> str:
    file.write_text(text)
    with pytest.raises(CompileError) as caught:
        load_cases(f"{file}{target}")[0].inputs()
    return str(caught.value)


def test_every_kernel_has_its_own_inputs_and_reference(file: Path) -> None:
    file.write_text(TWO)
    first, second = load_cases(str(file))
    assert (first.name, second.name) == ("first", "second")
    assert first.inputs()[0].shape == (3,)
    assert first.expected(first.inputs()) is None
    (array,) = second.inputs()
    np.testing.assert_array_equal(second.expected((array,)), [2 * array])


def test_one_kernel_is_named_behind_a_colon(file: Path) -> None:
    file.write_text(TWO)
    assert [case.name for case in load_cases(f"{file}:second")] == ["second"]
    assert split_target("a/b.py:k") == (Path("a/b.py"), "k")
    assert split_target("a/b.py") == (Path("a/b.py"), "")


def test_imported_kernels_are_not_the_files_own(tmp_path: Path) -> None:
    (tmp_path / "library_of_kernels.py").write_text(TWO)
    user = tmp_path / "user.py"
    user.write_text(
        "import pypto\nfrom library_of_kernels import first\n"
        "@pypto.kernel\ndef mine(x):\n    return first(x)\n"
    )
    assert [case.name for case in load_cases(str(user))] == ["mine"]


def test_messages(file: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"there is no file .*gone\.py"):
        load_cases(str(tmp_path / "gone.py"))
    assert "defines no kernel" in refused(file, "x = 1\n")
    assert "has no kernel 'third'\nfix: name one of first, second" in refused(file, TWO, ":third")
    inputs = "fix: define example_inputs_first() or example_inputs() in that file"
    assert inputs in refused(file, TWO.replace("example_inputs()", "other()"))
    one_reference = TWO.replace("reference_second", "reference")
    assert "has several kernels and one reference()" in refused(file, one_reference)


def test_a_failing_file_shows_the_users_line(file: Path) -> None:
    message = refused(file, "import numpy as np\nx = np.zeros(3) + missing\n")
    assert f"{file}:2:19: error[KERNEL_FILE_FAILED]: NameError: name 'missing'" in message
    assert "    2 | x = np.zeros(3) + missing" in message
    message = refused(file, "def f(:\n")
    assert f"{file}:1:7: error[SYNTAX_ERROR]: invalid syntax" in message
