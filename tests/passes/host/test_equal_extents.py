"""Extents known at launch that a kernel takes to be one number are checked when it is called."""

from __future__ import annotations

import numpy as np
import pytest

import pypto
from pypto.passes.host.lower_host import SharedExtents

Vector = pypto.Tensor[(pypto.DYNAMIC,), pypto.float32]
Matrix = pypto.Tensor[(pypto.DYNAMIC, pypto.DYNAMIC), pypto.float32]


@pypto.kernel
def chain(x: Vector, y: Vector, z: Matrix):
    return x + y, z * x


@pytest.mark.parametrize("shapes", [((3,), (4,), (2, 3)), ((3,), (3,), (2, 4))])
def test_different_extents_are_refused(shapes):
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    with pytest.raises(
        pypto.DeviceError, match=r"the program wants float32(.|\n)*extents .* must be equal"
    ):
        chain(*arrays)


@pytest.mark.parametrize("extent", [0, 1, 7, 741])
def test_equal_extents_are_accepted(extent):
    x = np.arange(extent, dtype=np.float32)
    total, scaled = chain(x, x, np.ones((2, extent), np.float32))
    np.testing.assert_array_equal(total, x + x)
    np.testing.assert_array_equal(scaled, np.broadcast_to(x, (2, extent)))


def test_no_dynamic_extent_gives_no_pairs():
    assert SharedExtents([]).pairs() == []
