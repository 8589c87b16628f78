"""Moves as axes with strides: merging keeps every element where it was."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pypto.passes.tile.movement import MoveAxis, merge_axes, parts, row_major_strides


def places(axes):
    """Source and target position of every element."""
    return {
        (
            sum(i * a.source for i, a in zip(index, axes, strict=True)),
            sum(i * a.target for i, a in zip(index, axes, strict=True)),
        )
        for index in itertools.product(*(range(a.extent) for a in axes))
    }


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_merging_a_permutation_moves_the_same_elements(shape, random):
    dims = random.sample(range(len(shape)), len(shape))
    target = [shape[d] for d in dims]
    strides = row_major_strides(shape)
    axes = [
        MoveAxis(e, strides[d], s)
        for e, d, s in zip(target, dims, row_major_strides(target), strict=True)
    ]
    merged = merge_axes(axes)
    assert places(merged) == places(axes)
    assert len(merged) <= len(axes)


def test_a_dense_copy_is_one_axis():
    axes = [MoveAxis(e, s, s) for e, s in zip((2, 3, 4), (12, 4, 1), strict=True)]
    assert merge_axes(axes) == (MoveAxis(24, 1, 1),)


def test_row_major_strides_are_those_of_numpy():
    array = np.zeros((3, 5, 7), np.int8)
    assert row_major_strides(array.shape) == array.strides


@given(st.integers(1, 1000), st.integers(1, 70))
def test_parts_cover_an_axis_once(extent, size):
    covered = [
        part.start + tile * part.size + place
        for part in parts(extent, size)
        for tile in range(part.count)
        for place in range(part.size)
    ]
    assert covered == list(range(extent))
