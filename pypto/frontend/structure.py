"""Values made of parts: tuples, lists, dictionaries, named tuples and dataclasses."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any


def is_named_tuple(value: Any) -> bool:
    """True for a named tuple, and for a class of them."""
    kind = value if isinstance(value, type) else type(value)
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def is_record(value: Any) -> bool:
    """True for a value whose parts have names: a named tuple or a dataclass."""
    if isinstance(value, type):
        return False
    return is_named_tuple(value) or dataclasses.is_dataclass(value)


def is_record_class(value: Any) -> bool:
    """True for a class of named tuples or a dataclass."""
    return isinstance(value, type) and (dataclasses.is_dataclass(value) or is_named_tuple(value))


def is_structure(value: Any) -> bool:
    return isinstance(value, tuple | list | dict) or is_record(value)


def given_fields(value: Any) -> list[str]:
    """The fields of a dataclass that have a value."""
    return [one.name for one in dataclasses.fields(value) if hasattr(value, one.name)]


def parts(value: Any) -> list[tuple[str, Any]]:
    """The parts of a structure with the way to write each: ``.mean``, ``[0]``, ``['a']``."""
    if is_named_tuple(value):
        return [(f".{name}", part) for name, part in zip(value._fields, value, strict=True)]
    if is_record(value):
        return [(f".{name}", getattr(value, name)) for name in given_fields(value)]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [(f"[{key!r}]", part) for key, part in items]


def rebuilt(value: Any, values: Iterator[Any]) -> Any:
    """The same structure with its parts replaced, in order."""
    if is_named_tuple(value):
        return type(value)._make(next(values) for _ in value)
    if isinstance(value, dict):
        result = copy.copy(value)  # an OrderedDict stays one
        result.update(zip(value, values, strict=True))
        return result
    if isinstance(value, tuple | list):
        return (tuple if isinstance(value, tuple) else list)(next(values) for _ in value)
    result = copy.copy(value)
    for name in given_fields(value):
        object.__setattr__(result, name, next(values))  # also when it is frozen
    return result


def leaves(value: Any) -> Iterator[Any]:
    """What a value is made of in the end, in order."""
    if not is_structure(value):
        yield value
        return
    for _, part in parts(value):
        yield from leaves(part)


def map_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """The same structure with a function applied to every leaf, in order."""
    if not is_structure(value):
        return function(value)
    return rebuilt(value, (map_leaves(part, function) for _, part in parts(value)))
