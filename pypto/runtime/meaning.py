"""The meaning of a kernel's text, computed where it stands: no IR is made, no compiler imported."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pypto.errors import CompileError, SourceLocation
from pypto.frontend.results import returned
from pypto.frontend.scope import Scope
from pypto.frontend.source import function_source
from pypto.frontend.statements import Statements
from pypto.ops.intervals import Interval, IntervalEvaluator
from pypto.ops.types import TensorType
from pypto.ops.value import Evaluator, Tensor, using


class Computing:
    """The door of the frontend behind which an evaluator computes at once."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    @contextmanager
    def at(self, location: SourceLocation | None) -> Iterator[None]:
        """Operators called inside are computed; errors get ``location``."""
        try:
            with using(self.evaluator):
                yield
        except CompileError as error:
            if error.location is None:
                error.location = location
            raise

    def lift(self, value: Any) -> Tensor:
        """An array as a tensor of the evaluator."""
        own = isinstance(value, Tensor) and value.evaluator is self.evaluator
        return value if own else self.evaluator.lift(value)


def derive_bounds(
    function: Callable[..., Any], types: Sequence[Any], inputs: Sequence[np.ndarray]
) -> tuple[Interval, ...]:
    """For each result its exact value and the interval a correct program stays in.

    ``types`` has one entry per parameter, a TensorType for each of ``inputs`` in their order and
    values for the others. ``ops/intervals.py`` says how the interval is derived.
    """
    function = inspect.unwrap(function)
    door = Computing(IntervalEvaluator())
    source, scope = function_source(function), Scope(function)
    arrays = iter(inputs)
    values = [door.lift(next(arrays)) if isinstance(t, TensorType) else t for t in types]
    scope.locals.update(zip(inspect.signature(function).parameters, values, strict=True))
    results = returned(Statements(door, source, scope), source)
    return tuple(result.interval for result in results)
