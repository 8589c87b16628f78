"""What a name can hold inside a kernel: a tensor of the IR or a static Python value."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from pypto.ops.value import Tensor


def is_tensor(value: Any) -> TypeGuard[Tensor]:
    """True for a tensor of the IR."""
    return isinstance(value, Tensor)


def is_array(value: Any) -> bool:
    """True for captured data that becomes a constant: an ndarray or a concrete tensor."""
    return hasattr(value, "__array__") and not isinstance(value, np.generic | type)


def is_data(value: Any) -> bool:
    """True for what only the device computes with: tensors and captured arrays."""
    return is_tensor(value) or is_array(value)


def contains_data(value: Any) -> bool:
    """True for data, and for tuples and lists that hold some."""
    if isinstance(value, tuple | list):
        return any(contains_data(item) for item in value)
    return is_data(value)


def describe(value: Any) -> str:
    """A value as messages name it."""
    if is_tensor(value):
        return f"a {value.type}"
    if is_array(value):
        return f"a captured array of shape {np.shape(value)}"
    return f"{type(value).__name__} {value!r}"[:60]
