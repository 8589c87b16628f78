"""Turns the plain integer functions of the instruction table into numba functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from numba import njit


@cache
def jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same source text compiled by numba, and so every plain function it calls."""
    assert isinstance(function, FunctionType)
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(names.get(name), FunctionType):
            names[name] = jitted(names[name])
    rebuilt = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    return njit(error_model="numpy")(rebuilt)
