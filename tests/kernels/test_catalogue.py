"""Every row of the catalogue on the emulated machine, through lazy tensors, within its bounds.

`make test` takes one call in five; `make test-full` all of them.
"""

from __future__ import annotations

import numpy as np
import pytest

from pypto.errors import CompileError
from pypto.ops.intervals import IntervalEvaluator
from pypto.runtime.lazy import LAZY
from tests.ops.cases import all_calls, apply, label

CALLS = sorted(all_calls(), key=label)
USUAL = CALLS[::5]
REST = [call for index, call in enumerate(CALLS) if index % 5]


# What the machine has no instructions for yet, refused by name: call -> part of the message.
WRAPS = "would saturate on this machine, not wrap"
REFUSED = {
    "broadcast0-i64-normal": "broadcasting i64 elements",
    "broadcast2-i64-rank0": "broadcasting i64 elements",
    "cast3-i64-normal": WRAPS,
    "cast3-i64-rank0": WRAPS,
    "cast5-i64-normal": WRAPS,
    "cast5-i64-rank0": WRAPS,
}


def check(call) -> None:
    if label(call) in REFUSED:
        with pytest.raises(CompileError, match=REFUSED[label(call)]):
            np.asarray(apply(LAZY.apply, *call))
        return
    results = apply(LAZY.apply, *call)
    expected = apply(IntervalEvaluator().apply, *call)
    results = results if isinstance(results, tuple) else (results,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for result, bounds in zip(results, expected, strict=True):
        array = np.asarray(result)
        inside = np.asarray(bounds.interval.contains(array))
        assert inside.all(), (
            f"{int((~inside).sum())} of {inside.size} elements are outside their bounds, first "
            f"{array[~inside].flat[0]!r}"
        )


@pytest.mark.parametrize("call", USUAL, ids=label)
def test_a_call_of_a_row(call) -> None:
    check(call)


@pytest.mark.full
@pytest.mark.parametrize("call", REST, ids=label)
def test_every_other_call_of_a_row(call) -> None:
    check(call)
