"""Which kernel of a program a pass broke."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.symbol_table import SymbolTable

from pypto.codegen import kernels_of
from pypto.dialects.constants import ConstantStore
from pypto.dialects.interpret import derive_bounds
from pypto.dialects.types import type_of
from pypto.ops.types import DYNAMIC
from pypto.runtime.prove_run import execute, is_host_level

# Whether a module gives a result that it must not.
IsWrong = Callable[[ModuleOp], bool]


def culprit(
    before: ModuleOp,
    after: ModuleOp,
    constants: ConstantStore,
    inputs: Sequence[np.ndarray],
    is_wrong: IsWrong,
) -> str | None:
    """The first kernel that is wrong behind a pass; None when no single one is, or no kernels."""
    names = [kernel.sym_name.data for kernel, _ in kernels_of(after)]
    if len(names) == 1:
        return names[0]
    if is_host_level(before):
        return next((name for name in names if is_wrong(exchanged(before, after, name))), None)
    return wrong_launch(before, after, constants, inputs) if is_host_level(after) else None


def exchanged(before: ModuleOp, after: ModuleOp, name: str) -> ModuleOp:
    """The module before a pass with one kernel as it is behind the pass."""
    mixed = before.clone()
    old, new = _function(mixed, name), _function(after, name).clone()
    block = old.parent_block()
    assert block is not None
    block.insert_op_before(new, old)
    old.detach()
    return mixed


def wrong_launch(
    before: ModuleOp, after: ModuleOp, constants: ConstantStore, inputs: Sequence[np.ndarray]
) -> str | None:
    """The first launch whose results are not those of the function on tensors it was made from."""
    found: list[str] = []

    def watch(name: str, arrays: list[np.ndarray]) -> None:
        arguments = _function(before, name).body.block.args
        given = [
            array if DYNAMIC in type_of(argument).shape else array.reshape(type_of(argument).shape)
            for argument, array in zip(arguments, arrays, strict=False)
        ]
        bounds = derive_bounds(before, given, constants, function=name)
        made = arrays[len(given) :]
        for bound, array in zip(bounds, made, strict=True):
            if not bound.contains(array.reshape(bound.value.shape)).all():
                found.append(name)

    execute(after, constants, inputs, watch)
    return found[0] if found else None


def _function(module: ModuleOp, name: str) -> FuncOp:
    function = SymbolTable(module).lookup(name)
    assert isinstance(function, FuncOp)
    return function
