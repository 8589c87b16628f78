"""Every pass keeps every program: kernels, rows of the catalogue, examples, random programs.

`make test` proves one small problem of each kernel per machine and level and a few rows;
`make test-full` all drawn problems, all rows, the large examples and 500 random programs.
"""

from __future__ import annotations

import os
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, StringAttr

from pypto.cli.main import main
from pypto.dialects.constants import ConstantStore
from pypto.dialects.host import SOC
from pypto.errors import CompileError
from pypto.passes.pipelines import PIPELINES
from pypto.runtime.graph import build_graph_module
from pypto.runtime.kernel import Kernel, Options
from pypto.runtime.lazy import LAZY, Graph, Tensor
from pypto.runtime.prove import prove
from pypto.target.dtypes import BF16, F16, F32, I1, I32
from tests.kernels.cases import COUPLED, FAMILIES, LEVELS, SPLIT, Case, drawn_cases
from tests.ops.cases import all_calls, apply, label
from tests.passes.tensor.programs import Program, programs

SEED = int(os.environ.get("PYPTO_SEED", "0"))
MACHINES = (SPLIT, COUPLED)
EXAMPLES = Path(__file__).parents[2] / "examples"
CALLS = sorted(all_calls(), key=label)
USUAL_CALLS = CALLS[::60]
REST_OF_CALLS = [call for index, call in enumerate(CALLS) if index % 60]
# What some machine cannot do is refused by these, never computed wrongly.
REFUSALS = ("UNSUPPORTED", "UNSUPPORTED_ON_SOC", "UNSUPPORTED_CAST")


def drawn() -> list[Case]:
    return [case for soc in MACHINES for f in FAMILIES for case in drawn_cases(f, SEED, soc)]


def usual_cases() -> list[Case]:
    """The smallest problem with more than a hundred elements of each kernel, machine and level."""
    found: dict[tuple[str, str, int], Case] = {}
    for case in sorted(drawn(), key=lambda case: prod(case.problem)):
        if prod(case.problem) > 100:
            found.setdefault((case.family.name, case.soc, case.level), case)
    return list(found.values())


def other_cases() -> list[Case]:
    usual = usual_cases()
    return [case for case in drawn() if case not in usual]


def check(case: Case) -> None:
    options = Options(soc=case.soc, opt_level=case.level, verify_each=True)
    Kernel(case.family.function, options).run(case.inputs(SEED))


def test_every_kernel_is_among_the_usual_cases() -> None:
    assert len(usual_cases()) == len(FAMILIES) * len(MACHINES) * len(LEVELS)


@pytest.mark.parametrize("case", usual_cases(), ids=str)
def test_kernel(case: Case) -> None:
    check(case)


@pytest.mark.full
@pytest.mark.parametrize("case", other_cases(), ids=str)
def test_every_other_kernel(case: Case) -> None:
    check(case)


def check_call(call, soc: str) -> None:
    results = apply(LAZY.apply, *call)
    results = results if isinstance(results, tuple) else (results,)
    for result in results:
        if not result.is_computed:
            check_graph(result, soc)


def check_graph(result: Tensor, soc: str) -> None:
    graph = Graph(result)
    inputs = [leaf.compute() for leaf in graph.leaves]
    for level in LEVELS:
        module, constants = build_graph_module(graph)
        check_module(module, constants, inputs, level, soc)


def check_module(
    module: ModuleOp, constants: ConstantStore, inputs: list[np.ndarray], level: int, soc: str
) -> None:
    """Every pass of a level keeps a module, or one of them refuses it by name."""
    module.attributes[SOC] = StringAttr(soc)
    try:
        prove(module, constants, PIPELINES[f"O{level}"], inputs)
    except CompileError as error:
        if error.code not in REFUSALS:
            raise


@pytest.mark.parametrize("soc", MACHINES)
@pytest.mark.parametrize("call", USUAL_CALLS, ids=label)
def test_a_call_of_a_row(call, soc) -> None:
    check_call(call, soc)


@pytest.mark.full
@pytest.mark.parametrize("soc", MACHINES)
@pytest.mark.parametrize("call", REST_OF_CALLS, ids=label)
def test_every_other_call_of_a_row(call, soc) -> None:
    check_call(call, soc)


def check_example(name: str, level: int, soc: str) -> None:
    options = ["--verify-each", f"-O{level}", "--soc", soc]
    assert main(["run", str(EXAMPLES / name), *options]) == 0


@pytest.mark.parametrize("soc", MACHINES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["softmax.py", "elementwise.py"])
def test_an_example(name, level, soc) -> None:
    check_example(name, level, soc)


@pytest.mark.full
@pytest.mark.parametrize("soc", MACHINES)
@pytest.mark.parametrize("level", LEVELS)
def test_the_feed_forward_block(level, soc) -> None:
    check_example("ffn.py", level, soc)


def check_program(program: Program, level: int, soc: str) -> None:
    check_module(program.module, program.constants, program.inputs, level, soc)


SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
DRAWN = settings(deadline=None, suppress_health_check=SLOW, derandomize=True)
LEVEL, MACHINE = st.sampled_from(LEVELS), st.sampled_from(MACHINES)
ELEMENTS = (F32, F16, I32, I1)


@settings(DRAWN, max_examples=10)
@given(program=programs(dtypes=ELEMENTS), level=LEVEL, soc=MACHINE)
def test_random_programs(program, level, soc) -> None:
    check_program(program, level, soc)


@pytest.mark.full
@settings(DRAWN, max_examples=500)
@given(program=programs(dtypes=(*ELEMENTS, BF16)), level=LEVEL, soc=MACHINE)
def test_more_random_programs(program, level, soc) -> None:
    check_program(program, level, soc)
