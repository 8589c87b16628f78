"""From a function to an Executable: frontend, pipeline, codegen, with the IR shown on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pypto.codegen import build_executable
from pypto.dialects import new_context
from pypto.frontend import build_module
from pypto.passes.driver import Step, run_pipeline
from pypto.passes.pipelines import PIPELINES
from pypto.runtime.text import module_text
from pypto.target.executable import Executable

if TYPE_CHECKING:
    from pypto.runtime.lazy import Graph

Resources = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Stage:
    """The module before the first pass, or behind one, with what is needed to go on from here."""

    module: ModuleOp
    step: Step
    resources: Resources


Observer = Callable[[Stage], None]


@dataclass(frozen=True)
class Compilation:
    """An Executable and the seconds it took."""

    executable: Executable
    seconds: float


def compile_function(
    function: Callable[..., Any],
    types: Sequence[Any],
    *,
    name: str,
    soc: str,
    opt_level: int,
    observer: Observer | None = None,
    verify_each: bool = False,
) -> Compilation:
    """Compile a Python function for argument types."""
    start = time.perf_counter()
    module, resources = build_module(function, types, name=name)
    executable = compile_module(
        module,
        resources,
        soc=soc,
        pipeline=PIPELINES[f"O{opt_level}"],
        observer=observer,
        verify_each=verify_each,
    )
    return Compilation(executable, time.perf_counter() - start)


def compile_graph(graph: Graph, *, soc: str, opt_level: int) -> Compilation:
    """Compile a graph of lazy tensors."""
    from pypto.runtime.graph import build_graph_module

    start = time.perf_counter()
    module, resources = build_graph_module(graph)
    pipeline = PIPELINES[f"O{opt_level}"]
    executable = compile_module(module, resources, soc=soc, pipeline=pipeline)
    return Compilation(executable, time.perf_counter() - start)
