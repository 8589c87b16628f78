"""What a kernel's meaning depends on, as one digest: its code and everything it captured."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

import numpy as np

LIBRARY = ("pypto", "numpy")  # covered by the version of the package


def fingerprint(function: Callable[..., Any]) -> str:
    """A digest that changes when the function, a helper or a captured value changes."""
    digest = hashlib.blake2b(digest_size=16)
    _Reader(digest).function(function)
    return digest.hexdigest()


class _Reader:
    """Feeds values into a digest, each with a tag, each object once."""

    def __init__(self, digest: Any) -> None:
        self.digest = digest
        self.seen: set[int] = set()

    def text(self, tag: str, value: object = "") -> None:
        self.digest.update(f"{tag}:{value};".encode())

    def function(self, function: Any) -> None:
        function = inspect.unwrap(function)
        if id(function) in self.seen:
            self.text("again", function.__qualname__)
            return
        self.seen.add(id(function))
        self.code(function.__code__)
        self.value(function.__defaults__, ())
        names = _names(function.__code__)
        cells = function.__closure__ or ()
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            self.text("free", name)
            self.value(_contents(cell), names)
        for name in sorted(names & function.__globals__.keys()):
            self.text("global", name)
            self.value(function.__globals__[name], names)

    def code(self, code: CodeType) -> None:
        self.text("code", code.co_filename)
        self.text("line", code.co_firstlineno)
        self.digest.update(code.co_code)
        self.text("names", (code.co_names, code.co_varnames, code.co_freevars))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.code(constant)
            else:
                self.text(type(constant).__name__, repr(constant))

    def value(self, value: Any, names: frozenset[str] | tuple[()]) -> None:
        """``names``: the names a function uses; of an object only such attributes count."""
        if isinstance(value, np.ndarray):
            self.text("array", (value.dtype.str, value.shape))
            self.digest.update(np.ascontiguousarray(value).view(np.uint8).data)
        elif isinstance(value, tuple | list):
            self.text(type(value).__name__, len(value))
            for item in value:
                self.value(item, names)
        elif isinstance(value, dict):
            self.text("dict", len(value))
            for key, item in value.items():
                self.text("key", repr(key))
                self.value(item, names)
        elif _module_of(value).split(".")[0] in LIBRARY and not hasattr(value, "__wrapped__"):
            self.text("library", repr(value) if not callable(value) else _qualified(value))
        elif callable(value) and hasattr(inspect.unwrap(value), "__code__"):
            self.function(value)
        elif isinstance(value, bool | int | float | str | bytes | type(None)):
            self.text(type(value).__name__, repr(value))
        elif id(value) not in self.seen:
            self.seen.add(id(value))
            self.text("object", type(value).__qualname__)
            for name in sorted(names):
                if name in getattr(value, "__dict__", {}):
                    self.text("attribute", name)
                    self.value(value.__dict__[name], names)


def _names(code: CodeType) -> frozenset[str]:
    inner = (_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return frozenset(code.co_names).union(*inner)


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # assigned after the kernel was made
        return None


def _module_of(value: Any) -> str:
    if isinstance(value, ModuleType):
        return value.__name__
    return getattr(value, "__module__", None) or type(value).__module__


def _qualified(value: Any) -> str:
    name = getattr(value, "__qualname__", None) or getattr(value, "name", type(value).__name__)
    return f"{_module_of(value)}.{name}"
