"""canonicalize: of the ways to write a computation, the cheapest one with the same bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from pypto.passes.base import Pass
from pypto.passes.tensor.arithmetic_patterns import ARITHMETIC
from pypto.passes.tensor.movement_patterns import MOVEMENT
from pypto.passes.tensor.rewriting import Pattern, apply_patterns

PATTERNS: dict[str, tuple[Pattern, ...]] = {
    name: (*ARITHMETIC.get(name, ()), *MOVEMENT.get(name, ()))
    for name in {**ARITHMETIC, **MOVEMENT}
}


@dataclass(frozen=True)
class Canonicalize(Pass):
    """Operations that do nothing vanish, numbers stand inline, steps that undo each other meet."""

    name = "canonicalize"
    exact: ClassVar[bool] = True

    def apply(self, context: Context, module: ModuleOp) -> None:
        apply_patterns(module, PATTERNS)
