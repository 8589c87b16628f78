"""The meaning of a kernel's text, computed where it stands: no IR is made, no compiler imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pypto.frontend.door import Computing
from pypto.frontend.form import evaluate
from pypto.frontend.structure import leaves
from pypto.frontend.values import is_tensor
from pypto.ops.intervals import Interval, IntervalEvaluator


def derive_bounds(
    function: Callable[..., Any], types: Sequence[Any], inputs: Sequence[np.ndarray]
) -> tuple[Interval, ...]:
    """For each result its exact value and the interval a correct program stays in.

    ``types`` has one entry per parameter, a TensorType for each of ``inputs`` in their order and
    values for the others. ``ops/intervals.py`` says how the interval is derived.
    """
    door = Computing(IntervalEvaluator())
    arrays = iter(inputs)
    returned = evaluate(function, types, door, lambda *_: door.lift(next(arrays)))
    return tuple(result.interval for result in leaves(returned) if is_tensor(result))
