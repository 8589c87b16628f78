"""A kernel's digest follows its text, its helpers and what it captured."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import pypto
from pypto.runtime.fingerprint import fingerprint

TABLE = np.arange(4.0, dtype=np.float32)
SETTINGS = SimpleNamespace(scale=2, unused=0)


def helper(x):
    return x * SETTINGS.scale


def uses_all(x):
    return helper(x) + TABLE


def make(value):
    def inner(x):
        return pypto.exp(x) + value

    return inner


def test_equal_functions_are_equal() -> None:
    assert fingerprint(make(1)) == fingerprint(make(1))


def test_captured_values_count_with_their_type() -> None:
    values = (1, 1.0, True, None, "1", (1,), [1], np.float32(1), np.ones(1, np.float32))
    assert len({fingerprint(make(value)) for value in values}) == len(values)


def test_arrays_count_by_content() -> None:
    before = fingerprint(uses_all)
    TABLE[2] = 9
    try:
        assert fingerprint(uses_all) != before
    finally:
        TABLE[2] = 2
    assert fingerprint(uses_all) == before


def test_attributes_a_helper_uses_count_and_others_do_not() -> None:
    before = fingerprint(uses_all)
    SETTINGS.unused = 5
    assert fingerprint(uses_all) == before
    SETTINGS.scale = 3
    try:
        assert fingerprint(uses_all) != before
    finally:
        SETTINGS.scale = 2


def test_a_kernel_counts_as_its_function() -> None:
    assert fingerprint(pypto.kernel(uses_all)) == fingerprint(uses_all)


def test_recursion_ends() -> None:
    def loop(x):
        return loop(x)

    assert fingerprint(loop)
