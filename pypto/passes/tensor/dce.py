"""dce: nothing is computed that nobody reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.dead_code_elimination import region_dce

from pypto.passes.base import Pass


@dataclass(frozen=True)
class DeadCode(Pass):
    """Operations without effect whose results are unused are removed."""

    name = "dce"
    exact: ClassVar[bool] = True

    def apply(self, context: Context, module: ModuleOp) -> None:
        region_dce(module.body)
