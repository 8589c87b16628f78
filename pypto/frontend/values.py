"""What a name can hold inside a kernel: a tensor of the IR or a static Python value."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from pypto.errors import CompileError
from pypto.frontend.structure import leaves
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
    """True for data, and for tuples, lists, dictionaries and records that hold some."""
    return is_data(value) or any(map(is_data, leaves(value)))


def contains_tensors(value: Any) -> bool:
    """True for tensors of the IR, and for what holds some."""
    return any(map(is_tensor, leaves(value)))


def plain_array(value: Any, what: str) -> np.ndarray:
    """An array as the device can take it; ``what`` names it in messages.

    Raises:
        CompileError: ``UNSUPPORTED_ARRAY`` for arrays that mean more than their elements.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise CompileError(
            "UNSUPPORTED_ARRAY",
            f"{what} is a masked array; the device has no masked elements",
            fix="pass .filled(value), and the mask as an array of its own for pypto.where",
        )
    if isinstance(value, np.matrix):
        raise CompileError(
            "UNSUPPORTED_ARRAY",
            f"{what} is a np.matrix, whose '*' is not that of a tensor",
            fix="pass np.asarray(matrix) and multiply with '@'",
        )
    try:
        return np.asarray(value)
    except ValueError as error:
        raise CompileError(
            "UNSUPPORTED_ARRAY",
            f"{what} is no array: {error}",
            fix="pass an array whose rows have one length",
        ) from error


def describe(value: Any) -> str:
    """A value as messages name it."""
    if is_tensor(value):
        return f"a {value.type}"
    if is_array(value):
        return f"a captured array of shape {np.shape(value)}"
    name = getattr(value, "__name__", None)
    if callable(value) and name is not None:
        return f"the {'class' if isinstance(value, type) else 'function'} '{name}'"
    text = " ".join(repr(value).split())
    if " at 0x" in text:  # says nothing to a reader
        return f"a {type(value).__name__}"
    return f"{type(value).__name__} {text}"[:60]
