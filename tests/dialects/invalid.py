"""Modules with one mistake, and what the user is told about it."""

from __future__ import annotations

import pytest

from pypto.dialects.context import parse_module
from pypto.dialects.verify import verify_module
from pypto.errors import CompileError


def complaint(text: str) -> CompileError:
    """The error that reading and verifying a module gives; its location is in the text."""
    with pytest.raises(CompileError) as caught:
        verify_module(parse_module(text, "module.mlir"))
    error = caught.value
    assert error.location is not None
    assert error.location.file == "module.mlir"
    return error


def place_of(text: str, part: str) -> tuple[int, int]:
    """Line and column, from 1, of the first occurrence of ``part``."""
    start = text.index(part)
    return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
