"""Binding of calls: a row's parameters, the keywords they answer to, arguments to parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.kinds import AXIS_KINDS, AXIS_WORDS, DTYPE_KINDS, Kind

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter of an operator and the keywords it answers to.

    ``collects`` says that it takes all integers that follow by position: ``zeros(2, 3)``.
    """

    name: str
    kind: Kind
    default: Any
    words: tuple[str, ...]
    collects: bool


def parameters_of(name: str, signature: inspect.Signature) -> tuple[Parameter, ...]:
    """The parameters of a row; the text of an annotation is the kind."""
    listed = list(signature.parameters.values())
    kinds = [_kind(name, p) for p in listed]
    one_axis = sum(kind in AXIS_KINDS for kind in kinds) == 1
    return tuple(
        Parameter(
            p.name,
            kind,
            p.default,
            (p.name, *_other_words(p.name, kind, index, one_axis)),
            kind in (Kind.INTS, Kind.ORDER) and all(k in DTYPE_KINDS for k in kinds[index + 1 :]),
        )
        for index, (p, kind) in enumerate(zip(listed, kinds, strict=True))
    )


def _kind(name: str, parameter: inspect.Parameter) -> Kind:
    try:
        return Kind(parameter.annotation)
    except ValueError:
        raise TypeError(f"{name}: {parameter.name} has no kind {parameter.annotation!r}") from None


def _other_words(name: str, kind: Kind, index: int, one_axis: bool) -> tuple[str, ...]:
    if kind in AXIS_KINDS and one_axis:
        return AXIS_WORDS
    if kind.is_operand:
        return (("input", "a", "self", "x"), ("other", "y"), ())[min(index, 2)]
    return {"keepdim": ("keepdims",), "shape": ("size",)}.get(name, ())


def bind_arguments(
    parameters: Sequence[Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments given, by parameter name; defaults are not filled in."""
    bound: dict[str, Any] = {}
    rest = list(args)
    for p in parameters:
        if not rest:
            break
        if p.collects and all(isinstance(item, (int, np.integer)) for item in rest):
            bound[p.name], rest = tuple(rest), []
        else:
            bound[p.name] = rest.pop(0)
    if rest:
        raise _refusal(f"takes {len(parameters)} arguments, {len(args)} are given")
    words = {word: p.name for p in reversed(parameters) for word in p.words}
    words |= {p.name: p.name for p in parameters}
    for word, value in kwargs.items():
        name = words.get(word)
        if name is None:
            raise _refusal(f"has no argument {word!r}")
        if name in bound:
            raise _refusal(f"gets {name!r} twice")
        bound[name] = value
    for p in parameters:
        if p.name not in bound and p.default is REQUIRED:
            raise _refusal(f"needs the argument {p.name!r}")
    return bound


def _refusal(message: str) -> CompileError:
    return CompileError("BAD_ARGUMENT", message)
