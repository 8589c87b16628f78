"""Readable names for kernels, from the operators the user wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xdsl.dialects.builtin import LocationAttr, NameLoc

from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.passes.tensor.units import is_creator

QUIET = ("cast", "broadcast")  # said only when there is nothing else to say
LONGEST = 3


class KernelNames:
    """Gives each kernel a name of its own: ``add_f16_0``, ``fused_add_gelu_0``."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def name(self, ops: Sequence[TensorOperation]) -> str:
        """The name of a kernel of these operations."""
        working = [op for op in ops if not is_creator(op)] or ops
        if len(working) == 1:
            base = f"{working[0].row.name}_{type_of(working[0].results[0]).dtype}"
        else:
            base = "_".join(["fused", *_operators(working)])
        self._used[base] += 1
        return f"{base}_{self._used[base] - 1}"


def _operators(ops: Sequence[TensorOperation]) -> list[str]:
    loud = [op for op in ops if op.row.name not in QUIET] or ops
    names = list(dict.fromkeys(_operator(op) for op in loud))
    if len(names) > LONGEST:
        return [*names[: LONGEST - 1], "to", names[-1]]
    return names


def _operator(op: TensorOperation) -> str:
    """The operator the user wrote, as decomposition left it in the location."""
    if isinstance(op.location, NameLoc):
        return op.location.desc.data
    return op.row.name


def plain_location(location: LocationAttr) -> LocationAttr:
    """A location without the name of an operator around it."""
    while isinstance(location, NameLoc) and isinstance(location.location, LocationAttr):
        location = location.location
    return location
