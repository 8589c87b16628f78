"""decompose: composite operators become primitives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from pypto.passes.base import Pass
from pypto.passes.tensor.opening import open_operations


@dataclass(frozen=True)
class Decompose(Pass):
    """Every composite operator is replaced by its body, down to primitives.

    Operators whose numerics are f32 compute in f32 inside and round once at the end.
    """

    name = "decompose"
    exact: ClassVar[bool] = False
    ensures: ClassVar[str] = "all operations of the catalogue are primitives"

    def apply(self, context: Context, module: ModuleOp) -> None:
        open_operations(module, lambda row: not row.is_primitive)
