"""The laws of the IR; a broken law is a CompileError at the line of the operation that breaks it.

Level and stage are facts of each kernel function, so a module may hold kernels of several levels.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto.dialects import host, tik, tile
from pypto.dialects.laws import BrokenLaw
from pypto.dialects.locations import nearest_source
from pypto.dialects.tik_laws import STAGE_LAWS
from pypto.dialects.tile_laws import TILE_LAWS
from pypto.errors import CompileError
from pypto.target.memory import CoreKind
from pypto.target.soc import soc


def verify_module(module: ModuleOp, what: str = "the module") -> None:
    """Raises a CompileError for the first broken law; ``what`` names the module in the message."""
    try:
        every_operation_is_valid(module)
        values_are_defined_before_use(module, set())
        for kernel in kernel_functions(module):
            verify_kernel(module, kernel)
        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
        for launch in module.walk():
            if isinstance(launch, host.LaunchOp):
                launches_pass_what_kernels_take(functions[launch.kernel_name], launch)
            elif isinstance(launch, host.ReturnOp):
                results_are_fresh(launch)
    except BrokenLaw as broken:
        raise CompileError(
            "INVALID_IR",
            f"{what} is not valid: {broken.op.name}: {broken}",
            location=nearest_source(broken.op),
        ) from broken


def every_operation_is_valid(module: ModuleOp) -> None:
    """Each operation keeps the rules of its own class."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            raise BrokenLaw(op, str(error).splitlines()[0]) from error


def values_are_defined_before_use(op: Operation, defined: set[SSAValue]) -> None:
    """An operand is the result of an earlier operation, or an argument of a surrounding block."""
    for region in op.regions:
        for block in region.blocks:
            visible = defined | set(block.args)
            for inner in block.ops:
                for number, operand in enumerate(inner.operands):
                    if operand not in visible:
                        raise BrokenLaw(inner, f"operand {number} is used before it is defined")
                values_are_defined_before_use(inner, visible)
                visible.update(inner.results)


def kernel_functions(module: ModuleOp) -> Iterator[func.FuncOp]:
    """The functions that run on a core."""
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp) and tile.KERNEL in op.attributes:
            yield op


def verify_kernel(module: ModuleOp, kernel: func.FuncOp) -> None:
    """A kernel says what it runs on and keeps the laws of its level and stage."""
    core = kernel.attributes[tile.KERNEL]
    if not isinstance(core, StringAttr) or core.data not in list(CoreKind):
        raise BrokenLaw(kernel, f"a kernel runs on {', '.join(CoreKind)}, not on {core}")
    if len(kernel.body.blocks) != 1:
        raise BrokenLaw(kernel, "a kernel has one block; loops and branches are scf operations")
    for law in TILE_LAWS:
        law(kernel)
    stage = kernel.attributes.get(tik.STAGE)
    if stage is None:
        return
    if not isinstance(stage, StringAttr) or stage.data not in list(tik.Stage):
        raise BrokenLaw(kernel, f"a stage is {', '.join(tik.Stage)}, not {stage}")
    name = module.attributes.get(host.SOC)
    machine = soc(name.data) if isinstance(name, StringAttr) else soc()
    for tik_law in STAGE_LAWS[tik.Stage(stage.data)]:
        tik_law(kernel, machine)


def launches_pass_what_kernels_take(kernel: func.FuncOp, launch: host.LaunchOp) -> None:
    """A launch passes buffers where its kernel takes memory, and extents where it takes indices."""
    for number, (argument, wanted) in enumerate(
        zip(launch.arguments, kernel.function_type.inputs, strict=True)
    ):
        fits = isinstance(argument.type, IndexType) == isinstance(wanted, IndexType)
        if isinstance(wanted, tile.GlobalType) and isinstance(argument.type, host.BufferType):
            fits = wanted.element == argument.type.element
        if not fits:
            raise BrokenLaw(
                launch,
                f"argument {number} of @{launch.kernel_name} is {argument.type}, it takes {wanted}",
            )


def results_are_fresh(returned: host.ReturnOp) -> None:
    """What ``@main`` returns are buffers it allocated as results, each once."""
    roots = [host.source_buffer(value) for value in returned.results_]
    for root in roots:
        owner = root.owner
        if isinstance(owner, Block) or not isinstance(owner, host.AllocOp):
            raise BrokenLaw(returned, "a result is an input or a constant, not a fresh buffer")
        if owner.role.data != "result":
            raise BrokenLaw(returned, f"buffer {owner.label.data} is {owner.role.data}, no result")
    if len(set(roots)) < len(roots):
        raise BrokenLaw(returned, "two results are one buffer")
