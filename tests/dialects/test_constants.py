"""Constants on disk: named by content, refused when damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pypto.dialects.constants import ConstantStore, resource_key
from pypto.errors import CompileError
from pypto.target.dtypes import DTYPES, DType


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_round_trip(tmp_path: Path, dtype: DType) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype.numpy)
    store = ConstantStore()
    keys = [store.add(a) for a in (array, array[:0], array[0, 0])]
    store.save(tmp_path)
    again = ConstantStore()
    again.load(tmp_path)
    assert set(again) == set(keys)
    for key in keys:
        assert again[key].dtype == dtype.numpy
        assert again[key].shape == store[key].shape
        assert again[key].tobytes() == store[key].tobytes()


def test_names_say_type_shape_and_bytes() -> None:
    zeros = np.zeros(4, np.int32)
    different = [zeros, zeros.reshape(2, 2), zeros.astype(np.float32), zeros + 1]
    assert len({resource_key(array) for array in different}) == 4
    assert resource_key(zeros) == resource_key(np.zeros(8, np.int32)[::2])


def test_arrays_are_kept_as_they_were() -> None:
    store, array = ConstantStore(), np.zeros(3, np.float32)
    key = store.add(array)
    array[0] = 1
    assert store[key][0] == 0
    with pytest.raises(ValueError, match="read-only"):
        store[key][0] = 1


def test_missing_resource() -> None:
    with pytest.raises(CompileError, match="the constant sha256-00 is not at hand"):
        _ = ConstantStore()["sha256-00"]


def test_damaged_files(tmp_path: Path) -> None:
    store = ConstantStore()
    key = store.add(np.arange(3, dtype=np.float32))
    store.save(tmp_path)
    path = tmp_path / f"{key}.npy"
    np.save(path, np.arange(4, dtype=np.float32), allow_pickle=False)
    with pytest.raises(CompileError, match="is damaged"):
        ConstantStore().load(tmp_path)
    path.write_bytes(b"nothing")
    with pytest.raises(CompileError, match="cannot be read"):
        ConstantStore().load(tmp_path)
    np.save(path, np.array([object()]), allow_pickle=True)
    with pytest.raises(CompileError, match="cannot be read"):
        ConstantStore().load(tmp_path)
