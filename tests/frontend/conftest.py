"""A kernel that must be refused, and the user's text its error points at."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest

import pypto
from pypto.errors import CompileError


class Refusal:
    """Calls a function as a kernel; ``text`` is the line the error points into, from its place."""

    text = ""

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> CompileError:
        with pytest.raises(CompileError) as caught:
            pypto.kernel(function)(*arguments)
        error = caught.value
        assert error.location is not None
        assert error.location.file.startswith("tests/frontend/")
        line = linecache.getline(error.location.file, error.location.line)
        self.text = line[error.location.column - 1 :].rstrip("\n")
        assert f"{line.rstrip()}\n" in str(error)
        assert "^" in str(error)
        for leak in ("IrTensor", "UnknownExtent", "object at 0x", "<class"):
            assert leak not in str(error)
        return error


@pytest.fixture
def refusal() -> Refusal:
    return Refusal()
