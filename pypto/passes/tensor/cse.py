"""cse: of two operations that compute the same, the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.common_subexpression_elimination import cse

from pypto.passes.base import Pass


@dataclass(frozen=True)
class CommonSubexpressions(Pass):
    """Uses of an operation become uses of an equal one above it; unused operations vanish."""

    name = "cse"
    exact: ClassVar[bool] = True

    def apply(self, context: Context, module: ModuleOp) -> None:
        cse(module)
