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

    ``exact`` says that every bit of every result stays, tensors computed by the references of the
    catalogue, tiles by their interpreter and instructions on the emulator; a proof demands it (see
    ``runtime/prove.py``). Other passes, such as all that change the level, stay within the bounds
    of the program. ``requires`` and ``ensures`` are the laws of the level in a sentence each: what
    must hold before, and what holds afterwards.
    """

    exact: ClassVar[bool]
    requires: ClassVar[str] = ""
    ensures: ClassVar[str] = ""

    @abstractmethod
    def apply(self, context: Context, module: ModuleOp) -> None:
        """Rewrite ``module`` in place."""
