"""What a machine lacks is refused at the line that asks for it, with what to do instead."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from ml_dtypes import bfloat16

import pypto
from pypto.errors import CompileError
from pypto.passes.tensor.element_types import converts_directly
from pypto.passes.tensor.machine_limits import computes_in, multiplies
from pypto.target.dtypes import DTYPES, I1
from pypto.target.instructions import exists
from pypto.target.memory import ARCHITECTURES


def plus(x, y):
    return x + y


def product(a, b):
    return pypto.relu(a @ b)


def narrowed(x):
    return x.astype("float32").astype("int16")


def longer(x):
    return x.astype("int64")


def ones(dtype, *shape):
    return np.ones(shape, dtype)


@pytest.mark.parametrize(
    ("function", "arguments", "line", "message", "fix"),
    [
        (
            plus,
            [ones(bfloat16, 4), ones(bfloat16, 4)],
            "def plus(x, y):",
            "ascend910a has no bfloat16",
            "use float16 or float32, e.g. .astype(np.float16) or compile for another SoC, e.g. "
            "ascend910b1",
        ),
        (
            product,
            [ones(np.float32, 4, 4), ones(np.float32, 4, 4)],
            "    return pypto.relu(a @ b)",
            "ascend910a has no float32 matmul",
            "use float16, e.g. .astype(np.float16) or compile for another SoC, e.g. ascend910b1",
        ),
        (
            narrowed,
            [ones(np.float16, 4)],
            '    return x.astype("float32").astype("int16")',
            "ascend910a has no arithmetic on int16",
            "use int32, e.g. .astype(np.int32) or compile for another SoC, e.g. ascend910b1",
        ),
        (
            longer,
            [ones(np.int32, 4)],
            '    return x.astype("int64")',
            "ascend910a has no arithmetic on int64",
            "use int32, e.g. .astype(np.int32) or compile for another SoC, e.g. ascend910b1",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("level", [0, 2])
def test_what_a_machine_lacks_is_refused(function, arguments, line, message, fix, level) -> None:
    kernel = pypto.kernel(function, soc="ascend910a", opt_level=level)
    with pytest.raises(CompileError) as caught:
        kernel(*arguments)
    assert (caught.value.code, caught.value.message) == ("UNSUPPORTED_ON_SOC", message)
    assert caught.value.fix == fix
    assert caught.value.location is not None
    assert line == caught.value.location.excerpt().splitlines()[0].partition("| ")[2]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_what_is_not_refused_is_converted_by_instructions_there_are(architecture) -> None:
    """Conversions legalize leaves as they are have an instruction on every machine."""
    known = [d for d in DTYPES.values() if d != I1 and computes_in(d, architecture)]
    for source, target in itertools.product(known, repeat=2):
        if source != target and converts_directly(source, target):
            stem = f"vconv_{source}2{target}"
            assert any(exists(f"{stem}{mode}", architecture) for mode in ("", "r"))


def test_machines_multiply_what_their_cube_does() -> None:
    names = {a: [d for d in DTYPES if multiplies(DTYPES[d], a)] for a in ARCHITECTURES}
    assert names == {"2201": ["f16", "bf16", "f32"], "2002": ["f16"], "1001": ["f16"]}
