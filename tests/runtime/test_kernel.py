"""The callable behind ``@pypto.kernel``: arrays in, arrays out, compiled once per types."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import pypto
from pypto.errors import CompileError, DeviceError
from pypto.ops.types import TensorType
from pypto.target.dtypes import F16

PACKAGE = Path(pypto.__file__).parent
X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
WEIGHTS = np.arange(6, dtype=np.float32)


@pypto.kernel
def double(x):
    return x * 2


@pypto.kernel(opt_level=0)
def sums(x, y):
    total = x + y
    return total, pypto.sum(total, dim=-1)


@pypto.kernel
def weighted(x):
    return double(x) + WEIGHTS


@pypto.kernel
def scaled(x, by=2.0, *, shift=0):
    return x * by + shift


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int32])
def test_results_have_the_type_of_the_arguments(dtype) -> None:
    x = X.astype(dtype)
    result = double(x)
    assert isinstance(result, np.ndarray)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(result, x * x.dtype.type(2))


def test_several_results_are_a_tuple() -> None:
    total, rows = sums(X, X)
    np.testing.assert_array_equal(total, X + X)
    np.testing.assert_allclose(rows, (X + X).sum(axis=-1), rtol=1e-6, atol=1e-6)


def test_kernels_and_arrays_are_captured_anew_when_they_change() -> None:
    np.testing.assert_array_equal(weighted(X), X * 2 + WEIGHTS)
    WEIGHTS[0] = 100
    try:
        np.testing.assert_array_equal(weighted(X), X * 2 + WEIGHTS)
    finally:
        WEIGHTS[0] = 0


def test_static_arguments_and_keywords() -> None:
    np.testing.assert_array_equal(scaled(X), X * 2)
    np.testing.assert_array_equal(scaled(X, 4.0, shift=1), X * 4 + 1)
    np.testing.assert_array_equal(scaled(X, by=3), X * 3)


def test_one_compilation_per_types() -> None:
    kernel = pypto.kernel(double.function)
    first = kernel.compile(X)
    assert kernel.compile(X + 1) is first
    assert kernel.compile(X[:2]) is not first
    assert kernel.compile(TensorType((4, 6), F16)) is kernel.compile(X.astype(np.float16))


def test_dynamic_extents_share_one_program() -> None:
    vector = pypto.Tensor[(pypto.DYNAMIC,), pypto.float16]

    def increased(x: vector, y: vector):  # pyright: ignore[reportInvalidTypeForm]
        return x + y

    increased.__annotations__ = {"x": vector, "y": vector}
    kernel = pypto.kernel(increased)
    for length in (0, 1, 7, 4097):
        x = np.arange(length, dtype=np.float16)
        np.testing.assert_array_equal(kernel(x, x), x + x)
    assert len(kernel._compiled) == 1


def test_the_profile_of_the_latest_call() -> None:
    kernel = pypto.kernel(double.function)
    assert kernel.last_profile is None
    kernel(X)
    assert kernel.last_profile is not None
    facts = kernel.last_profile.as_json()
    assert facts["kernel"] == "double"
    assert facts["shapes"] == [[4, 6]]
    assert facts["cycles"] > 0
    assert 0 < facts["roofline_fraction"] <= 1


def test_lazy_tensors_go_in_and_come_out() -> None:
    result = double(pypto.Tensor(X) + 1)
    assert isinstance(result, pypto.Tensor)
    np.testing.assert_array_equal(np.asarray(result), (X + 1) * 2)


def test_lazy_tensors_compute_when_asked() -> None:
    product = pypto.matmul(X, X.T)
    np.testing.assert_allclose(product.compute(), X @ X.T, rtol=1e-5, atol=1e-5)
    assert repr(pypto.Tensor(X[:1, :1]) * 2) == "pypto.Tensor([[-4.]], pypto.float32)"
    assert (pypto.sum(pypto.ones((3, 5), pypto.float32)) + 1).item() == 16


def test_levels_are_text() -> None:
    assert "pypto.mul %x, 2.0" in double.lower(X)
    assert "tile.load" in double.lower(X, level="tile")
    assert "tik.vmuls.f32" in double.lower(X, level="tik")


def test_what_is_refused() -> None:
    with pytest.raises(CompileError, match="float64"):
        double(X.astype(np.float64))
    with pytest.raises(CompileError, match="missing a required argument"):
        double()
    with pytest.raises(CompileError, match="declares no shapes"):
        double.compile()
    with pytest.raises(CompileError, match="there is no -O9"):
        pypto.kernel(double.function, opt_level=9)
    with pytest.raises(CompileError, match="no SoC is named 'ascend42'"):
        pypto.kernel(double.function, soc="ascend42")


def test_buffers_that_do_not_fit_together() -> None:
    quarter = np.broadcast_to(np.float16(0), (2**17, 2**17))  # 32 GiB
    with pytest.raises(DeviceError, match=r"the total of all buffers of .* of 96.0 GiB") as caught:
        sums(quarter, quarter)
    assert caught.value.code == "DEVICE_MEMORY_EXHAUSTED"


def test_another_process_finds_the_program_without_a_compiler(tmp_path: Path) -> None:
    path = tmp_path / "once.py"
    path.write_text(
        "import sys\nimport numpy as np\nimport pypto\n\n\n"
        "@pypto.kernel\ndef once(x):\n    return x * 3\n\n\n"
        "print(once(np.ones(4, np.float32)), 'xdsl' in sys.modules)\n"
    )
    shown = [
        subprocess.run(
            [sys.executable, str(path)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        ).stdout
        for _ in range(2)
    ]
    assert shown == ["[3. 3. 3. 3.] True\n", "[3. 3. 3. 3.] False\n"]
