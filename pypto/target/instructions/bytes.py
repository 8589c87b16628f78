"""Typed access to memories of bytes, for the meanings of instructions."""

from __future__ import annotations

import numpy as np

from pypto.target.dtypes import DType

Memory = np.ndarray  # one-dimensional, uint8


def read(memory: Memory, addresses: np.ndarray, dtype: DType) -> np.ndarray:
    """The elements at byte addresses, one after the other."""
    return memory[spread(addresses, dtype)].view(dtype.numpy).reshape(np.shape(addresses))


def write(memory: Memory, addresses: np.ndarray, values: np.ndarray, dtype: DType) -> None:
    """Stores elements at byte addresses."""
    data = np.ascontiguousarray(values.astype(dtype.numpy))
    memory[spread(addresses, dtype)] = data.reshape(data.size, 1).view(np.uint8)


def spread(addresses: np.ndarray, dtype: DType) -> np.ndarray:
    """The addresses of all bytes of elements: shape [elements, bytes]."""
    flat = np.asarray(addresses, np.int64).reshape(-1, 1)
    return flat + np.arange(dtype.bytes)


def element(bits: int, dtype: DType) -> np.ndarray:
    """The one element that the low bits of an integer stand for, as an array of one."""
    data = (bits & (2 ** (8 * dtype.bytes) - 1)).to_bytes(dtype.bytes, "little")
    return np.frombuffer(data, dtype.numpy)
