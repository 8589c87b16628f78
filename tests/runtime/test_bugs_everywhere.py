"""The planted bugs in twelve kernels, on both kinds of core: blamed is their pass, or nothing."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

from pypto.dialects.host import SOC
from pypto.frontend.module import build_module
from pypto.ops.types import tensor_type_of
from pypto.passes.pipelines import O2
from pypto.runtime.prove import BrokenPass, prove
from pypto.target.dtypes import F16, F32, DType
from tests.kernels.cases import FAMILIES, PRODUCTS, Family
from tests.runtime.bugs import BUGS, Bug

# Of "wrong cast" the twelve kernels, which have no integers made of floats, show nothing.
SEEN = [bug for bug in BUGS if bug.name != "wrong cast"]


def blamed(family: Family, bug: Bug, soc: str, dtype: DType) -> str | None:
    """The pass the proof of a kernel names, None when it is right."""
    generator = np.random.default_rng(3)

    def draw(shape: tuple[int, ...], scale: float) -> np.ndarray:
        return np.asarray(generator.normal(0, scale, shape)).astype(dtype.numpy)

    problem = (19, 37, 201) if family.problems is PRODUCTS else (5, 137)
    inputs = list(family.inputs(draw, problem))
    types = [tensor_type_of(array) for array in inputs]
    module, constants = build_module(family.function, types, name=family.name)
    module.attributes[SOC] = StringAttr(soc)
    with bug.plant():
        try:
            prove(module, constants, O2, inputs)
        except BrokenPass as broken:
            return broken.divergence.pass_name
    return None


@pytest.mark.full
@pytest.mark.parametrize("bug", SEEN, ids=lambda bug: bug.name.replace(" ", "-"))
@pytest.mark.parametrize(
    ("soc", "dtype"), [("ascend910b1", F32), ("ascend910a", F16)], ids=["910b1", "910a"]
)
def test_no_other_pass_is_blamed(bug: Bug, soc: str, dtype: DType) -> None:
    found = [blamed(family, bug, soc, dtype) for family in FAMILIES]
    assert set(found) <= {bug.pass_name, None}, dict(zip(FAMILIES, found, strict=True))
    assert bug.pass_name in found
