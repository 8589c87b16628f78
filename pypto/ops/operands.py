"""Operands of a call: tensors (or their types), numbers, None, tuples of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pypto.ops.types import TensorType
from pypto.ops.value import Tensor


def tensors_of(operands: Sequence[Any]) -> list[Any]:
    """The tensors (or tensor types) among operands, tuples flattened, in order."""
    found: list[Any] = []
    for operand in operands:
        if isinstance(operand, tuple):
            found.extend(operand)
        elif isinstance(operand, (Tensor, TensorType)):
            found.append(operand)
    return found


def map_tensors(operands: Sequence[Any], function: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The operands with a function applied to every tensor (or tensor type)."""
    result: list[Any] = []
    for operand in operands:
        if isinstance(operand, tuple):
            result.append(tuple(map(function, operand)))
        elif isinstance(operand, (Tensor, TensorType)):
            result.append(function(operand))
        else:
            result.append(operand)
    return tuple(result)


def abstract_operands(operands: Sequence[Any]) -> tuple[Any, ...]:
    """The operands with every tensor replaced by its type."""
    return map_tensors(operands, lambda tensor: tensor.type)
