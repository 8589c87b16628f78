"""expand-recipes: primitives that no single instruction computes become ones that it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from pypto.passes.base import Pass
from pypto.passes.tensor.opening import open_operations


@dataclass(frozen=True)
class ExpandRecipes(Pass):
    """Every primitive that has a recipe (softmax, tanh, erf …) is replaced by it."""

    name = "expand-recipes"
    exact: ClassVar[bool] = False
    requires: ClassVar[str] = "all operations of the catalogue are primitives"
    ensures: ClassVar[str] = "no operation of the catalogue has a decomposition"

    def apply(self, context: Context, module: ModuleOp) -> None:
        open_operations(module, lambda row: row.decomposition is not None)
