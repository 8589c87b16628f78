"""The levels are well-formed strings over known passes, each at least as rich as the one below."""

from __future__ import annotations

import itertools

import pytest

from pypto.passes import PASSES
from pypto.passes.pipelines import PIPELINES, inserted


def names(pipeline: str) -> list[str]:
    return [part.partition("{")[0] for part in pipeline.split(",")]


@pytest.mark.parametrize("level", PIPELINES)
def test_levels_name_known_passes(level: str) -> None:
    known = {entry.name for entry in PASSES}
    assert set(names(PIPELINES[level])) <= known


def test_each_level_contains_the_one_below() -> None:
    levels = [names(PIPELINES[f"O{level}"]) for level in range(4)]
    for lower, higher in itertools.pairwise(levels):
        rest = iter(higher)
        assert all(name in rest for name in lower)


def test_inserted_goes_behind_the_first_pass_of_that_name() -> None:
    assert inserted("a,b,a", "x,y", after="a") == "a,x,y,b,a"


def test_pass_names_are_unique() -> None:
    assert len({entry.name for entry in PASSES}) == len(PASSES)
