"""Derived bounds hold: results of operands anywhere in their intervals stay inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto.ops import ROWS
from pypto.ops.intervals import Interval, IntervalEvaluator, IntervalTensor, rounded
from pypto.ops.numpy_evaluator import NumpyEvaluator, NumpyTensor
from pypto.ops.types import TensorType
from pypto.target.dtypes import BF16, F16, F32, FLOATS, I32, DType

ELEMENTWISE = [
    row.name
    for row in ROWS.values()
    if row.is_primitive and row.elementwise and row.operands and F32 in row.dtypes
]
WHOLE = ["reduce", "matmul", "softmax", "standardize"]
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "cast": {"dtype": I32, "round": "floor"},
    "reduce": {"kind": "sum", "dims": (1,), "keepdim": False},
    "softmax": {"dim": 1},
    "standardize": {"dims": (1,), "eps": 1e-3, "center": True},
    "matmul": {"tb": True},
}
FOUR = TensorType((3, 4), F32)


def tensors(name: str, seed: int) -> tuple[list[Any], list[Any]]:
    """Operands as intervals, and as arrays drawn from them (corners included)."""
    random = np.random.default_rng(seed)
    evaluator, intervals, drawn = IntervalEvaluator(), [], []
    for parameter in ROWS[name].operands:
        value = random.choice([0.0, -0.5, 1.0, 2.75], FOUR.shape) + random.normal(size=FOUR.shape)
        radius = random.choice([0.0, 1e-3, 0.6], FOUR.shape)
        low, high = value - radius, value + radius
        if parameter.name == "condition":
            array = value > 0
            intervals.append(evaluator.lift(array))
            drawn.append(array)
            continue
        place = random.choice([0.0, 0.3, 1.0], FOUR.shape)
        # Drawn in double precision: what the references then compute is exact enough.
        drawn.append(np.where(place == 1.0, high, low + place * (high - low)))
        intervals.append(IntervalTensor(evaluator, FOUR, Interval(value, low, high)))
    return intervals, drawn


@pytest.mark.parametrize("name", [*ELEMENTWISE, *WHOLE])
@given(seed=st.integers(0, 2**32))
def test_enclosures_hold(name: str, seed: int) -> None:
    row = ROWS[name]
    intervals, drawn = tensors(name, seed)
    found = IntervalEvaluator().apply(row, intervals, ATTRIBUTES.get(name, {}))
    found = found if isinstance(found, tuple) else (found,)
    normal = row.normalise((FOUR,) * len(drawn), ATTRIBUTES.get(name, {}))
    with np.errstate(all="ignore"):
        exact = row.reference(*drawn, **normal)
    exact = exact if isinstance(exact, tuple) else (exact,)
    for tensor, array in zip(found, exact, strict=True):
        assert tensor.interval.contains(np.asarray(array)).all()


@pytest.mark.parametrize("dtype", FLOATS)
@given(st.lists(st.floats(-1e38, 1e38), min_size=1, max_size=8))
def test_rounding_stays_in_half_a_unit(dtype: DType, numbers: list[float]) -> None:
    exact = Interval.exact(np.array(numbers))
    with np.errstate(over="ignore"):
        stored = exact.value.astype(np.float32).astype(dtype.numpy)
    assert rounded(rounded(exact, 0.5, F32), 0.5, dtype).contains(stored).all()


def test_scalars_may_stand_rounded_or_not() -> None:
    x = np.ones(3, F16.numpy)
    interval = IntervalEvaluator().apply(ROWS["mul"], (x, 0.1), {}).interval
    assert interval.low.max() <= 0.1 - 2.4e-5
    assert interval.high.min() >= 0.1


def test_not_a_number_is_certain_or_unknown() -> None:
    nan = Interval.exact(np.array([np.nan]))
    assert nan.contains(np.array([np.nan])).all()
    assert not nan.contains(np.array([1.0])).any()
    unknown = Interval.around(np.array([1.0]), np.array([np.nan]))
    assert unknown.contains(np.array([np.nan])).all()
    number = Interval.exact(np.array([1.0]))
    assert not number.contains(np.array([np.nan])).any()


def test_integers_are_exact() -> None:
    x = np.array([2**31 - 1, -5], np.int32)
    interval = IntervalEvaluator().apply(ROWS["add"], (x, 1), {}).interval
    assert interval.is_exact
    assert interval.value.tolist() == [-(2**31), -4]


def test_bounds_are_tight_enough_to_find_a_lost_bit() -> None:
    """A softmax computed in half throughout is outside the bounds of one computed in f32."""
    random = np.random.default_rng(1)
    x = random.normal(size=(4, 300)).astype(F16.numpy)
    interval = IntervalEvaluator().apply(ROWS["softmax"], (x,), {}).interval
    good = NumpyEvaluator(opens=True).apply(ROWS["softmax"], (x,), {})
    assert isinstance(good, NumpyTensor)
    assert interval.contains(good.array).all()
    powers = np.exp(x - x.max(1, keepdims=True))
    poor = powers / np.cumsum(powers, axis=1, dtype=F16.numpy)[:, -1:]
    assert not interval.contains(poor).all()


def test_matmul_of_halves_may_saturate() -> None:
    a = np.full((1, 8), 200.0, BF16.numpy).astype(F16.numpy)
    b = np.full((8, 1), 300.0, F16.numpy)
    reference = NumpyEvaluator().apply(ROWS["matmul"], (a, b), {}).array
    assert reference.item() == 65504.0
    interval = IntervalEvaluator().apply(ROWS["matmul"], (a, b), {}).interval
    assert interval.contains(reference).all()
    assert interval.contains(np.array([[np.inf]])).all()
