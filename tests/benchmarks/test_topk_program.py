"""The top-k kernel finds what NumPy finds, and says which shapes it does not take."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.silicon.topk import TOPK, shapes_of, topk_program
from pypto.emulator.run import run
from pypto.errors import CompileError
from pypto.target.one_launch import one_launch


@pytest.mark.parametrize("columns", [128, 256])
def test_largest_of_rows(columns: int) -> None:
    """Lists merged four at a time only, and two at last."""
    s = {"rows": 16, "columns": columns, "pitch": columns + 32, "k": 88, "cores": 2}
    executable = one_launch("ascend910c", [topk_program(s)], 2, shapes_of(s))
    generator = np.random.default_rng(1)
    x = generator.permuted(np.tile(np.arange(columns + 32), (16, 1)), axis=1).astype(np.float32)
    scores, indices = run(executable, [x, np.arange(columns, dtype=np.uint32)]).results
    expected = np.argsort(-x[:, :columns], axis=1)[:, :88]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(scores, np.take_along_axis(x, expected, axis=1))


def test_shapes_that_do_not_divide() -> None:
    with pytest.raises(CompileError, match=r"silicon\.topk: 100 rows of 300 on a core"):
        TOPK.row_of_settings({"columns": "300"})
    with pytest.raises(CompileError, match="a core takes 4 rows a turn"):
        TOPK.row_of_settings({"rows": "96"})


def test_time_grows_with_the_rows() -> None:
    """As on silicon, within 15 %; both are shorter than measured, see the cause in the table."""
    long, short = (TOPK.row(name, {}) for name in ("V18_4800", "V18_2304"))
    assert long.task_us is not None
    assert short.task_us is not None
    assert long.task_us / short.task_us == pytest.approx(324.106 / 161.375, rel=0.15)
