"""References that say more than the NumPy function they call."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.ops.references import max_numpy, min_numpy
from pypto.target.dtypes import DTYPES


@pytest.mark.parametrize("dtype", [np.float16, np.float32, DTYPES["bf16"].numpy])
def test_zeros_of_either_sign_come_out_the_same_in_either_order(dtype) -> None:
    """NumPy gives one or the other, by their order and by how many there are."""
    x = np.array([0.0, -0.0, 0.0, -0.0] * 9, np.float32).astype(dtype)
    y = np.array([0.0, 0.0, -0.0, -0.0] * 9, np.float32).astype(dtype)
    for function, negative in ((max_numpy, [0, 0, 0, 1]), (min_numpy, [0, 1, 1, 1])):
        for found in (function(x, y), function(y, x)):
            assert found.dtype == x.dtype
            assert np.signbit(found.astype(np.float32)).tolist() == [bool(n) for n in negative * 9]
