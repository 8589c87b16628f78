"""Index arithmetic: one meaning for the IR, the Emitter and the machine."""

from __future__ import annotations

import pytest

from pypto.dialects.scalars import SCALAR_MEANINGS, SCALAR_OPERATIONS, wrap
from pypto.target.instructions import SCALARS, ScalarKind


def test_the_scalar_unit_has_every_operation() -> None:
    machine = {s.mnemonic for s in SCALARS if s.kind is ScalarKind.ALU} - {"mov"}
    assert SCALAR_MEANINGS.keys() == machine
    assert set(SCALAR_OPERATIONS.values()) | {"slt", "seq"} == machine


@pytest.mark.parametrize(
    ("mnemonic", "a", "b", "result"),
    [
        ("add", 2**63 - 1, 1, -(2**63)),
        ("mul", 2**40, 2**40, 0),
        ("div", -7, 2, -3),
        ("div", 7, 0, 0),
        ("rem", -7, 2, -1),
        ("rem", 7, 0, 0),
        ("shl", 1, 63, -(2**63)),
        ("shr", -1, 60, 15),
        ("and", 37, -16, 32),
        ("slt", -1, 0, 1),
        ("seq", 3, 3, 1),
    ],
)
def test_corner_cases(mnemonic: str, a: int, b: int, result: int) -> None:
    assert SCALAR_MEANINGS[mnemonic](a, b) == result


def test_numbers_wrap_at_64_bits() -> None:
    assert wrap(2**64 - 1) == -1
    assert wrap(-(2**63) - 1) == 2**63 - 1
