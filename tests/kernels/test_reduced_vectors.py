"""A vector against its own full reduction: the rank-0 result is spread over it again."""

from __future__ import annotations

import numpy as np
import pytest

import pypto
from pypto.runtime.kernel import Kernel, Options


def by_maximum(x):
    return x + pypto.amax(x, dim=0)


def by_another(x, y):
    return x + pypto.amax(y, dim=(0, 1))


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend910a"])
@pytest.mark.parametrize("level", [0, 2])
def test_vectors_and_their_reductions(soc, level):
    x, y = np.arange(3, dtype=np.float32), np.arange(5, dtype=np.float32).reshape(5, 1)
    options = Options(soc=soc, opt_level=level, use_cache=False)
    np.testing.assert_array_equal(Kernel(by_maximum, options)(x), x + x.max())
    np.testing.assert_array_equal(Kernel(by_another, options)(x, y), x + y.max())
