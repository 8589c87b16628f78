"""Every row of the catalogue on the emulated machines, through lazy tensors, within its bounds.

`make test` takes one call in five, and others in ten on coupled cores; `make test-full` all of
them on both.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from pypto.errors import CompileError
from pypto.ops.intervals import IntervalEvaluator
from pypto.runtime import lazy
from pypto.runtime.kernel import Options
from pypto.runtime.lazy import LAZY
from pypto.target.dtypes import BF16, F32, I16, I64, DType
from tests.kernels.cases import COUPLED
from tests.ops.cases import Array, Case, all_calls, apply, label

CALLS = sorted(all_calls(), key=label)
USUAL = CALLS[::5]
REST = [call for index, call in enumerate(CALLS) if index % 5]
USUAL_ON_COUPLED = CALLS[2::10]
REST_ON_COUPLED = [call for index, call in enumerate(CALLS) if index % 10 != 2]


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


def is_lacking_on_coupled(call) -> bool:
    """Whether a coupled core cannot compute a call: no bfloat16, no float32 product."""
    row, case, dtype, _ = call
    return BF16.name in types_of(case, dtype) or (dtype == F32 and row.name in ("matmul", "linear"))


def types_of(case: Case, dtype: DType) -> set[str]:
    """The names of the element types of what is drawn for a call, and of what it asks for."""
    found: set[str] = set()
    for argument in (*case.arguments, *case.keywords.values()):
        for item in argument if isinstance(argument, list) else [argument]:
            found.add(str((item.dtype or dtype).name if isinstance(item, Array) else item))
    return found


def check(call) -> None:
    if label(call) in REFUSED:
        with pytest.raises(CompileError, match=REFUSED[label(call)]):
            np.asarray(apply(LAZY.apply, *call))
        return
    check_values(call)


def check_on_coupled(call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right, or refused by name where the machine lacks what the call needs."""
    monkeypatch.setattr(lazy, "Options", lambda: Options(soc=COUPLED))
    monkeypatch.setattr(lazy, "_programs", {})
    refusal: CompileError | None = None
    try:
        check_values(call)
    except CompileError as error:
        refusal = error
    _, _, dtype, _ = call
    if refusal is not None:
        # Integers of 16 and 64 bits are moved, but not computed with.
        assert is_lacking_on_coupled(call) or dtype in (I16, I64), refusal
        assert re.match(f".*{COUPLED} (has no|lacks)|.*{WRAPS}", refusal.message), refusal
    else:
        assert not is_lacking_on_coupled(call)


def check_values(call) -> None:
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


@pytest.mark.parametrize("call", USUAL_ON_COUPLED, ids=label)
def test_a_call_of_a_row_on_coupled_cores(call, monkeypatch: pytest.MonkeyPatch) -> None:
    check_on_coupled(call, monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("call", REST_ON_COUPLED, ids=label)
def test_every_other_call_of_a_row_on_coupled_cores(call, monkeypatch: pytest.MonkeyPatch) -> None:
    check_on_coupled(call, monkeypatch)
