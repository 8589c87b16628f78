"""Programs that use registers, modes and sorting of the vector pipe, run and checked as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.emulator.run import run
from tests.emulator.hazard_programs import vector
from tests.emulator.hazard_verdicts import codes

LOAD = "copy_gm_to_ubuf_align.b16 dst=0, src=r2, length=512"
STORE = "copy_ubuf_to_gm_align.b16 dst=r3, src=4096, length=512"
V_BARRIER = "pipe_barrier v"


def program(*lines: str) -> str:
    """Lines of the vector pipe between the load of x to 0 and the store of 4096 to y."""
    before = (LOAD, "set_flag mte2, v, 0", "wait_flag mte2, v, 0")
    after = ("set_flag v, mte3, 0", "wait_flag v, mte3, 0", STORE)
    return "\n".join((*before, *lines, *after))


def results(body: str, values: np.ndarray) -> np.ndarray:
    """The first 256 halves of the result."""
    executable = vector(body)
    assert codes(executable) == []
    padded = np.zeros(4096, np.float16)
    padded[: values.size] = values
    return run(executable, [padded]).results[0][:256]


def test_a_comparison_selects_through_the_register() -> None:
    values = np.random.default_rng(3).normal(size=256).astype(np.float16)
    body = program(
        "vmuls.f16 dst=2048, src=0, scalar=0.0, repeat=2",
        V_BARRIER,
        "vcmp_gt.f16 src0=0, src1=2048",
        V_BARRIER,
        "vsel_mode0.f16 dst=4096, src0=0, src1=2048, repeat=2",
    )
    expected = np.where(np.tile(values[:128] > 0, 2), values, values * np.float16(0))
    assert np.array_equal(results(body, values), expected)


def test_the_saturation_mode_is_a_register() -> None:
    values = np.array([40000, -60000, 1, np.inf] * 64, np.float16)
    doubled = "vadd.f16 dst=4096, src0=0, src1=0, repeat=2"
    plain = results(program(doubled), values)
    saturated = results(program("set_saturation 1", doubled), values)
    assert plain[:4].tolist() == [np.inf, -np.inf, 2, np.inf]
    assert saturated[:4].tolist() == [65504, -65504, 2, 65504]


UNORDERED = [
    (
        "the comparison may not be over",
        ("vcmp_gt.f16 src0=0, src1=0", "vsel_mode0.f16 dst=4096, src0=0, src1=0, repeat=2"),
        ["RACE_RAW"],
    ),
    (
        "nothing was compared",
        ("vsel_mode0.f16 dst=4096, src0=0, src1=0, repeat=2",),
        ["UNINIT_READ"],
    ),
    (
        "nothing lies where the table of scales should",
        ("set_deqscale_table 8192", "vconv_vdeqs162b8l dst=4096, src=0, repeat=2"),
        ["UNINIT_READ"],
    ),
]


@pytest.mark.parametrize(
    ("lines", "found"), [u[1:] for u in UNORDERED], ids=[u[0] for u in UNORDERED]
)
def test_the_register_is_ordered_and_unset_as_memory_is(
    lines: tuple[str, ...], found: list[str]
) -> None:
    assert codes(vector(program(*lines))) == found
