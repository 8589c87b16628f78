"""What a piece of Python code reads from outside: names, with the attributes read of them."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType

GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
CELLS = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_CLOSURE"}
ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
TRANSPARENT = {"EXTENDED_ARG", "CACHE", "NOP"}  # may stand between a name and its attribute


@lru_cache(maxsize=4096)
def captured_paths(code: CodeType) -> tuple[tuple[str, ...], ...] | None:
    """Every name read from outside, with the attributes read of it at once: ``("np", "float32")``.

    None when the code imports modules, whose names no list would hold.
    """
    found: set[tuple[str, ...]] = set()
    for inner in _codes(code):
        if any(one.opname == "IMPORT_NAME" for one in dis.get_instructions(inner)):
            return None
        found.update(_paths(inner, frozenset(code.co_freevars)))
    return tuple(sorted(found))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _paths(code: CodeType, free: frozenset[str]) -> Iterator[tuple[str, ...]]:
    path: tuple[str, ...] = ()
    for one in dis.get_instructions(code):
        if one.opname in TRANSPARENT:
            continue
        if path and one.opname in ATTRIBUTES:
            path = (*path, one.argval)
            continue
        if path:
            yield path
        starts = one.opname in GLOBALS or (one.opname in CELLS and one.argval in free)
        path = (one.argval,) if starts else ()
