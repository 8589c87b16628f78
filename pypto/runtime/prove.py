"""Runs a pipeline and proves every pass of it: the first pass that breaks the program is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pypto.dialects.constants import ConstantStore
from pypto.errors import CompileError


@dataclass(frozen=True)
class Divergence:
    """What a pass did to a program.

    ``kind`` is ``bits`` or ``bound`` (a result changed), ``law`` (the module is not valid),
    ``text`` (it does not print and parse back), ``hazard`` (it is a race), or ``crash`` (the pass
    failed, or the program can no longer be executed). ``result``, ``position``, ``before`` and
    ``after`` say where a result changed and how; they are None for the other kinds.
    """

    pass_name: str
    kind: str
    result: int | None = None
    position: tuple[int, ...] | None = None
    before: float | int | None = None
    after: float | int | None = None


class BrokenPass(CompileError):
    """A pass broke the program; ``divergence`` says how."""

    def __init__(self, divergence: Divergence, message: str, **details: Any) -> None:
        super().__init__("PASS_BROKE_PROGRAM", message, **details)
        self.divergence = divergence


def prove(
    module: ModuleOp,
    constants: ConstantStore,
    pipeline: str,
    inputs: Sequence[np.ndarray] | None = None,
    *,
    observer: Callable[..., None] | None = None,
) -> None:
    """Run ``pipeline`` over ``module`` in place and check the program behind every pass."""
    from pypto.runtime.compiler import run_passes

    run_passes(module, constants, pipeline, observer=observer, verify_each=True)
