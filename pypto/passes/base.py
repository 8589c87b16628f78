"""What a pass is: a named rewrite of a module that says what it needs, leaves and preserves."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Pass(ModulePass):
    """A frozen dataclass whose fields are the options of the pass.

    ``exact`` says that values are preserved bit by bit, so that a test of the pass may demand
    equality and not a bound. ``requires`` and ``ensures`` are the laws of the level in a sentence
    each: what must hold before, and what holds afterwards.
    """

    exact: ClassVar[bool]
    requires: ClassVar[str] = ""
    ensures: ClassVar[str] = ""

    @abstractmethod
    def apply(self, context: Context, module: ModuleOp) -> None:
        """Rewrite ``module`` in place."""
