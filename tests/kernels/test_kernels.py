"""Twelve kernels against the meaning of their operators, within the bounds derived for them.

`make test` runs every pair of shape, element type and level, and a worst case of each kernel; the
SoCs of split and of coupled cores take turns. `make test-full` draws three more sets of pairs, and
runs every kernel on every SoC. `PYPTO_SEED` changes what is drawn.
"""

from __future__ import annotations

import os
from dataclasses import replace
from math import prod

import numpy as np
import pytest

from pypto.errors import CompileError
from pypto.runtime.compare import compare
from pypto.runtime.kernel import Kernel, Options
from pypto.runtime.signature import bind
from pypto.target.dtypes import BF16
from pypto.target.soc import SOC_NAMES
from tests.kernels.cases import (
    COUPLED_SOCS,
    FAMILIES,
    LEVELS,
    PRODUCTS,
    SPLIT_SOCS,
    Case,
    drawn_cases,
    is_known,
)

SEED = int(os.environ.get("PYPTO_SEED", "0"))
MORE_SEEDS = 3
# The happens-before checker follows every instruction in Python.
MOST_ELEMENTS_TO_PROVE = 2**18


def worst_cases() -> list[Case]:
    """Tails in every extent, bfloat16 (each operation goes through float32), fused and tiled."""
    return [
        Case(f, (200, 557, 200) if f.problems is PRODUCTS else (37, 741), BF16, 2) for f in FAMILIES
    ]


def pairs(seed: int) -> list[Case]:
    return [
        replace(case, soc=machines[(seed + turn) % len(machines)])
        for machines in (SPLIT_SOCS, COUPLED_SOCS)
        for family in FAMILIES
        for turn, case in enumerate(drawn_cases(family, seed, machines[0]))
    ]


def cases_of_every_machine() -> list[Case]:
    """Each kernel in each type a SoC has, on a problem with tails, at both levels."""
    return [
        Case(f, (34, 33, 65) if f.problems is PRODUCTS else (34, 130), dtype, level, machine)
        for machine in (*SPLIT_SOCS, *COUPLED_SOCS)
        for f in FAMILIES
        for dtype in f.dtypes
        if is_known(f, dtype, machine)
        for level in LEVELS
    ]


def usual_cases() -> list[Case]:
    worst = worst_cases()
    return worst + [case for case in pairs(SEED) if case not in worst]


def more_cases() -> list[Case]:
    seen = set(map(str, usual_cases()))
    drawn = {str(c): c for n in range(1, MORE_SEEDS + 1) for c in pairs(SEED + n)}
    return [case for name, case in drawn.items() if name not in seen]


def check(case: Case) -> None:
    inputs = case.inputs(SEED)
    options = Options(soc=case.soc, opt_level=case.level, use_cache=False)
    kernel = Kernel(case.family.function, options)
    small = prod(case.problem) <= MOST_ELEMENTS_TO_PROVE
    run = kernel.run(inputs, check_hazards=small)
    call = bind(case.family.function, inputs, {})
    accuracy = compare(case.family.function, call.known_types, inputs, run.results, None)
    assert accuracy.ok, f"{accuracy}; seed {SEED}"
    for name, pipe in run.profile.device.pipes().items():
        assert pipe.busy + sum(pipe.stalls.values()) == pipe.cycles, name


@pytest.mark.parametrize("case", usual_cases(), ids=str)
def test_kernel(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    "case",
    [
        Case(f, f.problems[-1], dtype, 2, machine)
        for machine in COUPLED_SOCS
        for f in FAMILIES
        for dtype in f.dtypes
        if not is_known(f, dtype, machine)
    ],
    ids=str,
)
def test_what_coupled_cores_lack_is_refused(case: Case) -> None:
    options = Options(soc=case.soc, opt_level=case.level, use_cache=False)
    lacking = "(bfloat16|float32 matmul)"
    with pytest.raises(CompileError, match=f"{case.soc} has no {lacking}") as caught:
        Kernel(case.family.function, options).run(case.inputs())
    assert caught.value.code == "UNSUPPORTED_ON_SOC"
    assert caught.value.location is not None
    assert caught.value.location.file.endswith("cases.py")


@pytest.mark.full
@pytest.mark.parametrize("case", more_cases(), ids=str)
def test_kernel_drawn_again(case: Case) -> None:
    check(case)


@pytest.mark.full
@pytest.mark.parametrize("case", cases_of_every_machine(), ids=str)
def test_kernel_on_every_machine(case: Case) -> None:
    check(case)


def test_every_machine_takes_its_turn() -> None:
    assert {case.soc for case in pairs(SEED)} == {*SPLIT_SOCS, *COUPLED_SOCS} == set(SOC_NAMES)


def test_the_oracle_is_not_blind() -> None:
    """A few units more in the last place of one element are seen."""
    case = Case(FAMILIES[0], (3, 7), FAMILIES[0].dtypes[0], 2)
    inputs = case.inputs(SEED)
    call = bind(case.family.function, inputs, {})
    right = np.abs(inputs[0] * 2 + inputs[1]) - np.maximum(*inputs)
    function = case.family.function
    assert compare(function, call.known_types, inputs, (right,), None).ok
    wrong = right.copy()
    wrong[2, 3] += 64 * np.spacing(wrong[2, 3])
    assert not compare(function, call.known_types, inputs, (wrong,), None).ok
