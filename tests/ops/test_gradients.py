"""Gradients of primitives agree with finite differences of their references."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pypto.ops import ROWS
from pypto.ops.intervals import Interval, IntervalEvaluator, IntervalTensor
from pypto.ops.types import TensorType
from pypto.ops.value import Tensor, using
from pypto.target.dtypes import F32, I1
from tests.ops.cases import CASES

STEP = 1e-6
SMOOTH = [
    (row.name, number)
    for row in ROWS.values()
    if callable(row.gradient) and row.name != "cast"  # its reference rounds
    for number in range(len(CASES[row.name]))
    if "normal" in CASES[row.name][number].sizes
]


def exact(evaluator: IntervalEvaluator, array: np.ndarray) -> Any:
    """An array as a tensor of exact values; the element type is only a label."""
    dtype = I1 if array.dtype == bool else F32
    return IntervalTensor(evaluator, TensorType(array.shape, dtype), Interval.exact(array))


@pytest.mark.parametrize(("name", "number"), SMOOTH)
def test_gradient(name: str, number: int) -> None:
    row, case = ROWS[name], CASES[name][number]
    random = np.random.default_rng(7)
    operands, given = row.bind(*case.draw(F32, "normal", random))
    arrays = [o.astype(np.float64) if _is_float(o) else o for o in operands]
    evaluator = IntervalEvaluator()
    tensors = [exact(evaluator, a) if isinstance(a, np.ndarray) else a for a in arrays]
    types = tuple(t.type if isinstance(t, Tensor) else t for t in tensors)
    attributes = row.normalise(types, given)
    result = evaluator.apply(row, tensors, attributes)
    first = result[0] if isinstance(result, tuple) else result
    weights = random.normal(size=first.shape)
    with using(evaluator), np.errstate(all="ignore"):
        gradients = row.gradient(exact(evaluator, weights), result, *tensors, **attributes)  # pyright: ignore[reportCallIssue]

    def loss(*changed: Any) -> float:
        with np.errstate(all="ignore"):
            found = row.reference(*map(np.asarray, changed), **attributes)
        return float(np.nansum(weights * (found[0] if isinstance(found, tuple) else found)))

    for place, (operand, gradient) in enumerate(zip(arrays, gradients, strict=True)):
        if not _is_float(operand):
            continue
        direction = random.normal(size=operand.shape)
        ends = [
            [*arrays[:place], operand + s * STEP * direction, *arrays[place + 1 :]] for s in (1, -1)
        ]
        expected = (loss(*ends[0]) - loss(*ends[1])) / (2 * STEP)
        # The caller sums over axes that an operand was broadcast along.
        spread = np.broadcast_to(direction, gradient.shape) if row.elementwise else direction
        found = float(np.nansum(spread * gradient.interval.value))
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-4), place


def _is_float(operand: Any) -> bool:
    return isinstance(operand, np.ndarray) and operand.dtype.kind == "f"
