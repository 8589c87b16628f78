"""NumPy references that are more than one NumPy call."""

from __future__ import annotations

import numpy as np

from pypto.target.dtypes import DType

_ROUNDING = {
    "rint": np.rint,
    "trunc": np.trunc,
    "floor": np.floor,
    "ceil": np.ceil,
    "away": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
}


def cast_numpy(x: np.ndarray, dtype: DType, round: str) -> np.ndarray:
    """Conversion with the machine's rules: floats saturate in integers, NaN gives 0."""
    if dtype.kind not in "iu" or not np.issubdtype(x.dtype, np.floating):
        return x != 0 if dtype.kind == "b" else x.astype(dtype.numpy)
    limits = np.iinfo(dtype.numpy)
    rounded = _ROUNDING[round](x.astype(np.float64))
    above, below = rounded >= float(limits.max), rounded <= float(limits.min)
    inside = np.where(above | below | np.isnan(rounded), 0.0, rounded).astype(dtype.numpy)
    edges = np.where(below, dtype.numpy.type(limits.min), inside)
    return np.where(above, dtype.numpy.type(limits.max), edges)
