"""Random arguments for a module that nobody gave inputs for."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pypto.dialects.host import BufferType
from pypto.dialects.types import abstract_type
from pypto.ops.types import TensorType
from pypto.runtime.prove_run import main_of
from pypto.target.dtypes import DType

SEED = 0
HIGHEST = 99  # the largest integer drawn
# Extents known at launch only, from the last axis on: axes that meet are equally far from it.
AWKWARD = (37, 5, 3, 2)

MADE = f"drawn with seed {SEED}: floats from a normal distribution, integers up to {HIGHEST}"


def random_inputs(module: ModuleOp) -> tuple[np.ndarray, ...]:
    """One array per argument of ``@main``, the same for every call."""
    main = main_of(module)
    generator = np.random.default_rng(SEED)
    arguments = () if main is None else main.body.block.args
    types = [
        TensorType(argument.type.shape, argument.type.dtype)
        if isinstance(argument.type, BufferType)
        else abstract_type(argument.type)
        for argument in arguments
    ]
    return tuple(drawn(known_shape(type.shape), type.dtype, generator) for type in types)


def known_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape with a number for every extent known at launch only."""
    last = len(shape) - 1
    return tuple(
        AWKWARD[min(last - axis, len(AWKWARD) - 1)] if extent < 0 else extent
        for axis, extent in enumerate(shape)
    )


def drawn(shape: tuple[int, ...], dtype: DType, generator: np.random.Generator) -> np.ndarray:
    """Elements that operators of all kinds take without overflow."""
    if dtype.is_float:
        return np.asarray(generator.normal(0, 1, shape)).astype(dtype.numpy)
    if dtype.kind == "b":
        return np.asarray(generator.integers(0, 2, shape)).astype(dtype.numpy)
    low = 0 if dtype.kind == "u" else -HIGHEST
    return np.asarray(generator.integers(low, HIGHEST + 1, shape)).astype(dtype.numpy)
