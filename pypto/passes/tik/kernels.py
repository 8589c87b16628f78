"""The kernels of a module and the machine they are for."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr

from pypto.dialects.host import SOC
from pypto.dialects.tik import STAGE, Stage
from pypto.dialects.tile import KERNEL
from pypto.errors import CompileError
from pypto.target.memory import CoreKind
from pypto.target.soc import Soc, soc


def soc_of(module: ModuleOp) -> Soc:
    """The SoC a module is compiled for, the default one when it does not say."""
    name = module.attributes.get(SOC)
    return soc(name.data) if isinstance(name, StringAttr) else soc()


def core_of(kernel: func.FuncOp) -> CoreKind:
    """The kind of core a kernel runs on."""
    kind = kernel.attributes.get(KERNEL)
    if not isinstance(kind, StringAttr) or kind.data not in list(CoreKind):
        raise CompileError("INVALID_IR", f"kernel {kernel.sym_name.data} does not say its core")
    return CoreKind(kind.data)


def kernels_at(module: ModuleOp, stage: Stage | None) -> Iterator[func.FuncOp]:
    """The kernel functions at a stage of tik; None: those that are not at tik yet."""
    for op in module.ops:
        if isinstance(op, func.FuncOp) and KERNEL in op.attributes:
            mark = op.attributes.get(STAGE)
            if mark == (None if stage is None else StringAttr(stage.value)):
                yield op


def mark_stage(kernel: func.FuncOp, stage: Stage) -> None:
    """Say how far a kernel has come."""
    kernel.attributes[STAGE] = StringAttr(stage.value)
