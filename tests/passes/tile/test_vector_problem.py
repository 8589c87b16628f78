"""What lowering keeps on each machine beside the tiles of a kernel."""

from __future__ import annotations

import numpy as np
import pytest

import pypto
from pypto.passes.tile.vector_problem import LoweringRoom, lowering_room
from pypto.runtime.kernel import Kernel, Options
from pypto.target.soc import soc


def test_a_machine_that_lacks_instructions_needs_more_room() -> None:
    assert lowering_room(soc("ascend910b1")) == LoweringRoom()
    room = lowering_room(soc("ascend910a"))
    assert room == LoweringRoom(element=8, row=128, reduced_row=288, reduction=6144)


def smaller_of(x, y):
    return pypto.where(x < y, x, y * 2)


def normalised(x):
    return x / pypto.sum(x * x, dim=-1, keepdim=True)


@pytest.mark.parametrize("machine", ["ascend910a", "ascend910b1"])
@pytest.mark.parametrize("shape", [(2000, 64), (64, 2000), (3, 9000), (999, 33)])
def test_tiles_chosen_with_that_room_fit(shape: tuple[int, int], machine: str) -> None:
    """Each pair of tiles is as large as the unified buffer allows."""
    random = np.random.default_rng(1)
    x, y = (random.uniform(1, 2, shape).astype(np.float32) for _ in range(2))
    options = Options(soc=machine, use_cache=False)
    np.testing.assert_array_equal(Kernel(smaller_of, options)(x, y), np.where(x < y, x, y * 2))
    wanted = x / (x * x).sum(-1, keepdims=True)
    np.testing.assert_allclose(Kernel(normalised, options)(x), wanted, rtol=1e-5)
