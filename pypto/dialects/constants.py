"""Constants by content: a module names them by hash, a store holds their elements."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pypto.errors import CompileError
from pypto.ops.types import tensor_type_of
from pypto.target.dtypes import BF16

PREFIX = "sha256-"


def resource_key(array: np.ndarray) -> str:
    """The name of an array: the hash of its element type, shape and bytes."""
    tensor = tensor_type_of(array)
    digest = hashlib.sha256(f"{tensor}\n".encode())
    if array.size:
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return PREFIX + digest.hexdigest()


class ConstantStore:
    """Arrays by resource name; equal arrays are kept once and never change."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def add(self, array: np.ndarray) -> str:
        """Keep a copy of an array and give its name."""
        key = resource_key(array)
        if key not in self._arrays:
            kept = np.array(array, order="C")
            kept.flags.writeable = False
            self._arrays[key] = kept
        return key

    def __getitem__(self, key: str) -> np.ndarray:
        if key not in self._arrays:
            raise CompileError(
                "MISSING_RESOURCE",
                f"the constant {key} is not at hand",
                fix="keep the .npy files written beside the dump in the same directory",
            )
        return self._arrays[key]

    def __contains__(self, key: str) -> bool:
        return key in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def save(self, directory: Path) -> None:
        """Write every array as ``<name>.npy``; bfloat16, unknown to NumPy, as its bits."""
        directory.mkdir(parents=True, exist_ok=True)
        for key, array in self._arrays.items():
            path = directory / f"{key}.npy"
            if not path.exists():
                bits = array.view(np.uint16) if array.dtype == BF16.numpy else array
                np.save(path, bits, allow_pickle=False)

    def load(self, directory: Path) -> None:
        """Add every ``sha256-….npy`` of a directory; a file that is not what its name says is
        refused."""
        for path in sorted(directory.glob(f"{PREFIX}*.npy")):
            try:
                array = np.load(path, allow_pickle=False)
            except (ValueError, OSError, EOFError) as error:
                raise CompileError("BAD_RESOURCE", f"{path} cannot be read: {error}") from error
            if array.dtype == np.uint16:
                array = array.view(BF16.numpy)
            if self.add(array) != path.stem:
                raise CompileError(
                    "BAD_RESOURCE",
                    f"{path} is damaged: its contents do not have the hash in its name",
                    fix="write the dump again",
                )
