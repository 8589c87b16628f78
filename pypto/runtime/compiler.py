"""From a function to an Executable: frontend, pipeline, codegen, with the IR shown on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType

from pypto.codegen import build_executable
from pypto.dialects.constants import ConstantStore
from pypto.dialects.context import make_context, print_module
from pypto.dialects.host import SOC
from pypto.dialects.locations import source_of
from pypto.dialects.types import abstract_type
from pypto.frontend.module import build_module
from pypto.passes.driver import Guard, Step, run_pipeline
from pypto.passes.pipelines import PIPELINES
from pypto.runtime.annotations import describe
from pypto.runtime.compilation import Compilation
from pypto.runtime.kernel import Options
from pypto.runtime.memory import check_fits
from pypto.runtime.signature import least_bytes
from pypto.target.executable import Executable

if TYPE_CHECKING:
    from pypto.runtime.lazy import Graph

LEVELS = ("tensor", "tile", "tik")


@dataclass(frozen=True)
class Stage:
    """The module before the first pass, or behind one, with what is needed to go on from here."""

    module: ModuleOp
    step: Step
    constants: ConstantStore


Observer = Callable[[Stage], None]


def compile_function(
    function: Callable[..., Any],
    types: Sequence[Any],
    *,
    name: str,
    options: Options,
    observer: Observer | None = None,
    inputs: Sequence[np.ndarray] | None = None,
) -> Compilation:
    """Compile a Python function for argument types; ``inputs`` are what to prove passes on."""
    start = time.perf_counter()
    module, constants = build_module(function, types, name=name)
    executable = compile_module(
        module,
        constants,
        soc=options.soc,
        pipeline=PIPELINES[f"O{options.opt_level}"],
        observer=observer,
        verify_each=options.verify_each,
        inputs=inputs,
    )
    return Compilation(executable, time.perf_counter() - start)


def compile_graph(graph: Graph, options: Options) -> Compilation:
    """Compile a graph of lazy tensors."""
    from pypto.runtime.graph import build_graph_module

    start = time.perf_counter()
    module, constants = build_graph_module(graph)
    pipeline = PIPELINES[f"O{options.opt_level}"]
    executable = compile_module(module, constants, soc=options.soc, pipeline=pipeline)
    return Compilation(executable, time.perf_counter() - start)


def compile_module(
    module: ModuleOp,
    constants: ConstantStore,
    *,
    soc: str,
    pipeline: str,
    observer: Observer | None = None,
    verify_each: bool = False,
    inputs: Sequence[np.ndarray] | None = None,
) -> Executable:
    """Run a pipeline over a module and freeze the result.

    ``verify_each`` proves every pass on ``inputs``, drawn when None.
    """
    module.attributes[SOC] = StringAttr(soc)
    check_tensors(module, soc)
    guard = None
    if verify_each:
        from pypto.runtime.prove import Prover

        guard = Prover(constants, inputs)
    run_passes(module, constants, pipeline, observer=observer, guard=guard)
    return build_executable(module, constants)


def check_tensors(module: ModuleOp, soc: str) -> None:
    """Raise DEVICE_MEMORY_EXHAUSTED at the first tensor that alone is larger than the memory."""
    for op in module.walk():
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*arguments, *op.results):
            if isinstance(value.type, TensorType):
                kind = abstract_type(value.type)
                size = least_bytes(kind)
                check_fits(soc, [size], f"a {describe(kind)} tensor", source_of(value))


def run_passes(
    module: ModuleOp,
    constants: ConstantStore,
    pipeline: str,
    *,
    observer: Observer | None = None,
    guard: Guard | None = None,
) -> None:
    """Run a pipeline over a module in place; ``guard`` judges it."""

    def after_pass(changed: ModuleOp, step: Step) -> None:
        if observer is not None:
            observer(Stage(changed, step, constants))

    run_pipeline(module, pipeline, make_context(), after_pass=after_pass, guard=guard)


def level_of(module: ModuleOp) -> str:
    """The level of a module's kernels: ``tik`` once no operation on tiles is left."""
    dialects = {op.name.partition(".")[0] for op in module.walk()}
    return next((level for level in ("tile", "tik") if level in dialects), "tensor")


class LevelRecorder:
    """Keeps the text of the module as it enters the tensor level and as it leaves the others."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self.constants = ConstantStore()

    def __call__(self, stage: Stage) -> None:
        self.constants = stage.constants
        level = level_of(stage.module)
        if level != "tensor" or level not in self._texts:
            self._texts[level] = print_module(stage.module)

    def text(self, level: str) -> str:
        """The text of a level; the level above where a kernel never reaches it."""
        reached = LEVELS[: LEVELS.index(level) + 1]
        return next(self._texts[one] for one in reversed(reached) if one in self._texts)
