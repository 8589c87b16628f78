"""Tensor types in the IR: the one map between ``ops.types`` and builtin tensors."""

from __future__ import annotations

import functools

from xdsl.dialects import builtin
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.elements import element_dtype, element_type
from pypto.ops.types import DYNAMIC, TensorType


@functools.cache
def ir_type(tensor: TensorType) -> builtin.TensorType:
    """The builtin type of a tensor type: ``tensor<4x?xf16>``."""
    shape = [builtin.DYNAMIC_INDEX if extent == DYNAMIC else extent for extent in tensor.shape]
    return builtin.TensorType(element_type(tensor.dtype), shape)


@functools.cache
def abstract_type(attribute: Attribute) -> TensorType:
    """The tensor type a builtin type stands for."""
    if not isinstance(attribute, builtin.TensorType):
        raise VerifyException(f"a tensor is expected, not {attribute}")
    extents = attribute.get_shape()
    shape = tuple(DYNAMIC if extent == builtin.DYNAMIC_INDEX else extent for extent in extents)
    return TensorType(shape, element_dtype(attribute.element_type))


def type_of(value: SSAValue) -> TensorType:
    """The tensor type of an IR value."""
    return abstract_type(value.type)
