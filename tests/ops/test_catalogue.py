"""Every row is complete and consistent, and its three meanings agree."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from pypto.ops import OPERATORS, ROWS, Operator
from pypto.ops.core import TYPES, composite, primitive
from pypto.ops.intervals import IntervalEvaluator
from pypto.ops.numpy_evaluator import NumpyEvaluator
from pypto.ops.value import Tensor
from pypto.target.dtypes import F16, F32, FLOATS
from tests.ops.cases import CASES, all_calls, apply, label

CALLS: dict[str, list[Any]] = {}
for entry in all_calls():
    CALLS.setdefault(entry[0].name, []).append(entry)
ROW_LIST = list(ROWS.values())


def row_name(row: Operator[..., Any]) -> str:
    return row.name


def names_of(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def tuple_of(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def test_every_row_has_a_case() -> None:
    assert CASES.keys() == ROWS.keys()


@pytest.mark.parametrize("row", ROW_LIST, ids=row_name)
def test_columns_name_the_same_parameters(row: Operator[..., Any]) -> None:
    attributes = [p.name for p in row.attributes]
    if row.recipe is not None:
        assert names_of(row.recipe) == [p.name for p in row.parameters]
    if callable(row.gradient):
        operands = len(row.operands)
        assert names_of(row.gradient)[2 + operands :] == attributes
    for column in (row.types, row.reference, row.adjust):
        if column is not None and attributes and not isinstance(column, np.ufunc):
            assert set(attributes) <= set(names_of(column)), row.name


@pytest.mark.parametrize("row", ROW_LIST, ids=row_name)
def test_columns_are_filled(row: Operator[..., Any]) -> None:
    assert row.dtypes
    assert row.body.__doc__
    if row.is_primitive:
        has_recipe = row.recipe is not None
        assert callable(row.gradient) or " " in row.gradient
        assert row.error != "recipe" or has_recipe
        assert isinstance(row.error, float) or callable(row.error) or isinstance(row.error, str)


def test_aliases_lead_to_their_row() -> None:
    for row in ROW_LIST:
        assert all(OPERATORS[alias] is row for alias in row.aliases)
    assert OPERATORS["max"] is ROWS["amax"]
    assert OPERATORS["maximum"] is ROWS["max"]
    assert OPERATORS["where"] is ROWS["select"]


def test_a_row_without_a_column_fails_at_once() -> None:
    def lonely(x: Tensor) -> Tensor:
        """x."""
        return x

    with pytest.raises(TypeError, match="gradient"):
        primitive(types=lambda x: x, reference=np.abs, dtypes=FLOATS, error=0.0)(lonely)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="reference"):
        composite(dtypes=FLOATS)(lonely)  # pyright: ignore[reportCallIssue]


def test_a_row_without_kind_or_docstring_fails_at_once() -> None:
    def strange(x: complex) -> Tensor:
        """x."""
        raise AssertionError

    def silent(x: Tensor) -> Tensor:
        return x

    with pytest.raises(TypeError, match="no kind 'complex'"):
        composite(reference=np.abs, dtypes=FLOATS)(strange)
    with pytest.raises(TypeError, match="needs a docstring"):
        composite(reference=np.abs, dtypes=FLOATS)(silent)


@pytest.mark.parametrize("name", CALLS)
def test_meanings_agree(name: str) -> None:
    """Reference and decomposition lie in the derived interval; all have the inferred types."""
    for entry in CALLS[name]:
        types = tuple_of(apply(on_types, *entry))
        reference = tuple_of(apply(NumpyEvaluator().apply, *entry))
        bounds = tuple_of(apply(IntervalEvaluator().apply, *entry))
        opened = tuple_of(apply(NumpyEvaluator(opens=True).apply, *entry))
        for of_type, one, bound, other in zip(types, reference, bounds, opened, strict=True):
            assert of_type.type == one.type == bound.type == other.type, label(entry)
            assert bound.interval.value.shape == one.type.shape, label(entry)
            assert bound.interval.contains(one.array).all(), label(entry)
            assert bound.interval.contains(other.array).all(), label(entry)


def on_types(row: Operator[..., Any], operands: Any, attributes: Any) -> Any:
    lifted = [NumpyEvaluator()._lifted(operand) for operand in operands]
    return TYPES.apply(row, [_abstract(operand) for operand in lifted], attributes)


def _abstract(operand: Any) -> Any:
    if isinstance(operand, tuple):
        return tuple(map(_abstract, operand))
    return Tensor(TYPES, operand.type) if isinstance(operand, Tensor) else operand


@pytest.mark.parametrize("name", ["tanh", "erf"])
def test_recipes_keep_four_units(name: str) -> None:
    """Measured against double precision over all binades, dense where the branches meet."""
    tiny = np.geomspace(1e-30, 10, 200_001)
    x = np.concatenate([tiny, np.linspace(0.5, 1.2, 200_001), np.linspace(1, 4.5, 100_001)])
    x = np.concatenate([x, -x, [0.0, np.inf, -np.inf]]).astype(np.float32)
    found = NumpyEvaluator(opens=True).apply(ROWS[name], (x,), {}).array
    wanted = ROWS[name].reference(x.astype(np.float64))
    units = np.abs(found - wanted) / np.spacing(np.abs(wanted).astype(np.float32))
    assert units.max() <= 2.0  # the row states 4: room for an exp that is off by a unit
    not_a_number = NumpyEvaluator(opens=True).apply(ROWS[name], (np.array(np.nan, "f4"),), {})
    assert np.isnan(not_a_number.array)


def test_halves_accumulate_in_f32() -> None:
    x = np.full(4096, 1.0, F16.numpy)
    assert NumpyEvaluator().apply(ROWS["sum"], (x,), {}).array == 4096
    large = np.full(1000, 100.0, F16.numpy)
    assert NumpyEvaluator(opens=True).apply(ROWS["mean"], (large,), {}).array == 100
    assert NumpyEvaluator(opens=True).apply(ROWS["rms_norm"], (large, None), {}).dtype == F16


def test_numerics_widen_and_narrow_once() -> None:
    row = ROWS["layer_norm"]
    halves = np.ones((2, 8), F16.numpy), np.ones(8, F16.numpy), None
    assert NumpyEvaluator().apply(row, halves, {}).dtype == F16
    mixed = np.ones((2, 8), F16.numpy), np.ones(8, np.float32), None
    assert NumpyEvaluator().apply(row, mixed, {}).dtype == F32
