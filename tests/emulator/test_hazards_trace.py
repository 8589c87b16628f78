"""The plain interpreter of the scalar unit: arithmetic, and the same dispatches as the engine."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.emulator.hazards_trace import trace
from pypto.emulator.placement import launch_arguments, place
from pypto.emulator.run import run
from pypto.emulator.state import LOG_COLUMNS, LOG_FIELDS
from pypto.target.executable import Executable
from pypto.target.soc import soc
from tests.emulator.hazard_programs import ELEMENTWISE, MATMUL, code, cube, vector

LARGEST = 2**63 - 1
ARITHMETIC = [
    ("add", LARGEST, 1, -(2**63)),
    ("sub", -5, 7, -12),
    ("mul", 2**32, 2**32, 0),
    ("div", -7, 2, -3),
    ("div", 7, 0, 0),
    ("rem", -7, 2, -1),
    ("rem", 7, 0, 0),
    ("min", -7, 2, -7),
    ("max", -7, 2, 2),
    ("shl", 3, 62, -(2**62)),
    ("shr", -1, 60, 15),
    ("and", 12, 10, 8),
    ("or", 12, 10, 14),
    ("slt", -1, 0, 1),
    ("seq", 4, 5, 0),
]


@pytest.mark.parametrize(("name", "a", "b", "result"), ARITHMETIC)
def test_arithmetic(name: str, a: int, b: int, result: int) -> None:
    body = code(f"mov r8, {a}", f"{name} r9, r8, {b}", "set_flag mte2, v, r9")
    (program,) = vector(body).programs
    flag, _ = trace(program, 0, 1, (0, 0, 0))
    assert flag.operands[2] == result


def test_blocks_and_parameters() -> None:
    body = code(*(f"set_flag mte2, v, r{number}" for number in (0, 1, 4)))
    (program,) = vector(body).programs
    *flags, _ = trace(program, 3, 7, (10, 20, 30))
    assert [flag.operands[2] for flag in flags] == [3, 7, 30]


def test_modes_are_taken_at_dispatch() -> None:
    fill = "vector_dup.f16 dst=0, scalar=1.0"
    body = code(fill, "set_mask_count", "set_vector_mask 0, 100", fill, "set_mask_norm", fill)
    (program,) = vector(body).programs
    *fills, _ = trace(program, 0, 1, (0, 0, 0))
    assert [one.operands[-3:] for one in fills] == [(0, -1, -1), (1, 0, 100), (0, 0, 100)]


@pytest.mark.parametrize(
    ("executable", "shapes"),
    [
        (vector(ELEMENTWISE, 4, grid=3), [(4096,)]),
        (cube(MATMUL.format(counter="r14"), 2, 3), [(65536,), (65536,)]),
    ],
    ids=["vector", "cube"],
)
def test_the_engine_dispatches_the_same(
    executable: Executable, shapes: list[tuple[int, ...]]
) -> None:
    inputs = [np.zeros(shape, np.float16) for shape in shapes]
    (log,) = run(executable, inputs, timing_only=True, record=True).log
    rows = log.rows[np.lexsort((log.rows[:, 1], log.rows[:, 0]))].tolist()
    (program,), (step,) = executable.programs, executable.steps
    placement = place(executable, shapes, soc())
    parameters = launch_arguments(step, placement, shapes).tolist()
    expected = [
        (one.core, one.row, one.operands)
        for block in range(step.grid)
        for one in trace(program, block, step.grid, parameters)
        if one.form.queue(one.operands)
    ]
    row = LOG_COLUMNS.index("row")
    found = [
        (entry[0], entry[row], tuple(entry[LOG_FIELDS : LOG_FIELDS + len(operands)]))
        for entry, (_, _, operands) in zip(rows, expected, strict=True)
    ]
    assert found == expected
