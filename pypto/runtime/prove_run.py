"""Executes a module at whatever level its kernels are.

Tensors are computed by the catalogue's meaning, kernels of tiles by their interpreter, kernels of
instructions on the emulator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from pypto.codegen import build_host, core_kind, kernels_of
from pypto.dialects import host, tik
from pypto.dialects.constants import ConstantStore
from pypto.dialects.interpret import derive_bounds, interpret
from pypto.emulator.launch import Options
from pypto.emulator.run import Loaded
from pypto.ops.intervals import Interval
from pypto.passes.tile.alignment import copies_whole_blocks
from pypto.runtime.hazards import prove_ordered
from pypto.runtime.prove_serial import enlarged, runnable, stage_of
from pypto.runtime.tile_interpreter import Argument, GlobalTensor, run_kernel
from pypto.runtime.tile_numbers import ExactNumbers, IntervalNumbers
from pypto.target.executable import BufferArgument, Executable, Launch, Role, resolve
from pypto.target.memory import LOCAL_SPACES, Space
from pypto.target.program import Program
from pypto.target.rows import ROW_WIDTH
from pypto.target.soc import DEFAULT_SOC
from pypto.target.soc import soc as load_soc

# What a launch of a kernel left in the buffers it was given: ``watch(kernel, arrays)``.
Watch = Callable[[str, list[np.ndarray]], None]


def main_of(module: ModuleOp) -> FuncOp | None:
    """``@main`` of a module."""
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    return next((f for f in functions if f.sym_name.data == host.MAIN), None)


def is_host_level(module: ModuleOp) -> bool:
    """Whether ``@main`` holds buffers and launches, not tensors."""
    main = main_of(module)
    last = None if main is None else main.body.block.last_op
    return isinstance(last, host.ReturnOp)


def execute(
    module: ModuleOp,
    constants: ConstantStore,
    inputs: Sequence[np.ndarray],
    watch: Watch | None = None,
) -> tuple[np.ndarray, ...]:
    """The results of ``@main`` on fresh memory; ``watch`` sees the arrays behind every launch."""
    if not is_host_level(module):
        return interpret(module, inputs, constants)
    return HostRun(module, constants).run(inputs, watch)


def bounds_of(
    module: ModuleOp, constants: ConstantStore, inputs: Sequence[np.ndarray]
) -> tuple[Interval, ...]:
    """The intervals the results of a module may lie in; those of instructions are points."""
    if not is_host_level(module):
        return derive_bounds(module, inputs, constants)
    return HostRun(module, constants).bounds(inputs)


def check_order(module: ModuleOp, constants: ConstantStore, inputs: Sequence[np.ndarray]) -> None:
    """Raise for the first hazard of a module whose kernels are all ordered."""
    stages = [stage_of(kernel) for kernel, _ in kernels_of(module)]
    if is_host_level(module) and all(stage is tik.Stage.ORDERED for stage in stages):
        executable = HostRun(module, constants).executable
        executable.validate()
        prove_ordered(executable, [array.shape for array in inputs])


class HostRun:
    """A module whose ``@main`` launches kernels of tiles or instructions."""

    def __init__(self, module: ModuleOp, constants: ConstantStore) -> None:
        name = module.attributes.get(host.SOC)
        soc = name.data if isinstance(name, StringAttr) else DEFAULT_SOC
        self.machine = load_soc(soc)
        self.whole_blocks = copies_whole_blocks(self.machine)
        self.kernels = {kernel.sym_name.data: kernel for kernel, _ in kernels_of(module)}
        programs: list[Program] = []
        needed: dict[Space, int] = {}
        for kernel, dtypes in kernels_of(module):
            if stage_of(kernel) is None:
                programs.append(_placeholder(kernel))
                continue
            program, own = runnable(kernel, dtypes, self.machine)
            programs.append(program)
            needed = {space: max(needed.get(space, 0), own.get(space, 0)) for space in LOCAL_SPACES}
        self.machine = enlarged(self.machine, needed)
        self.executable: Executable = build_host(module, soc, programs, constants)

    def run(
        self, inputs: Sequence[np.ndarray], watch: Watch | None = None
    ) -> tuple[np.ndarray, ...]:
        """All launches on one memory, buffers where the module plans them."""
        loaded = Loaded.of(self.executable, inputs, machine=self.machine)
        for step in self.executable.steps:
            program = self.executable.programs[step.program]
            if stage_of(self.kernels[program.name]) is None:
                self.interpret(loaded, step)
            else:
                loaded.launch(step, Options())
            if watch is not None:
                buffers = [a.buffer for a in step.arguments if isinstance(a, BufferArgument)]
                watch(program.name, [loaded.buffer(number) for number in buffers])
        return loaded.results()

    def interpret(self, loaded: Loaded, step: Launch) -> None:
        """Run a kernel of tiles on the buffers in memory."""
        kernel = self.kernels[self.executable.programs[step.program].name]
        arguments: list[Argument] = [
            GlobalTensor(
                (loaded.buffer(argument.buffer).reshape(-1),),
                self.executable.buffers[argument.buffer].dtype,
            )
            if isinstance(argument, BufferArgument)
            else resolve(argument, loaded.shapes)
            for argument in step.arguments
        ]
        run_kernel(kernel, arguments, step.grid, ExactNumbers(), whole_blocks=self.whole_blocks)

    def bounds(self, inputs: Sequence[np.ndarray]) -> tuple[Interval, ...]:
        """The intervals of the results, derived operation by operation of the kernels."""
        numbers = IntervalNumbers()
        loaded = Loaded.of(self.executable, inputs, machine=self.machine)
        tensors = []
        for number, buffer in enumerate(self.executable.buffers):
            array = loaded.buffer(number)
            known = buffer.role in (Role.INPUT, Role.CONSTANT)
            planes = numbers.lift(array) if known else numbers.garbage(array.shape, buffer.dtype)
            tensors.append(GlobalTensor(tuple(p.reshape(-1) for p in planes), buffer.dtype))
        for step in self.executable.steps:
            kernel = self.kernels[self.executable.programs[step.program].name]
            if stage_of(kernel) is not None:
                self.bound_instructions(loaded, step, tensors, numbers)
                continue
            arguments = [
                tensors[argument.buffer]
                if isinstance(argument, BufferArgument)
                else resolve(argument, loaded.shapes)
                for argument in step.arguments
            ]
            run_kernel(kernel, arguments, step.grid, numbers, whole_blocks=self.whole_blocks)
        return tuple(
            Interval(*(plane.reshape(loaded.buffer(n).shape) for plane in tensors[n].planes))
            for n in self.executable.results
        )

    def bound_instructions(
        self,
        loaded: Loaded,
        step: Launch,
        tensors: list[GlobalTensor],
        numbers: IntervalNumbers,
    ) -> None:
        """What instructions make of points are points, and of anything else unknown."""
        program = self.executable.programs[step.program]
        pairs = list(zip(step.arguments, program.parameters, strict=True))
        read, written = (
            {a.buffer for a, p in pairs if isinstance(a, BufferArgument) and p.writes is writes}
            for writes in (False, True)
        )
        is_known = all(np.array_equal(*tensors[n].planes[1:], equal_nan=True) for n in read)
        for number in read if is_known else ():
            array = loaded.buffer(number)
            array[...] = tensors[number].planes[0].reshape(array.shape).astype(array.dtype)
        if is_known:
            loaded.launch(step, Options())
        for number in written:
            array, dtype = loaded.buffer(number), self.executable.buffers[number].dtype
            made = numbers.lift(array) if is_known else numbers.garbage(array.shape, dtype)
            tensors[number] = GlobalTensor(tuple(p.reshape(-1).copy() for p in made), dtype)


def _placeholder(kernel: FuncOp) -> Program:
    """Stands for a kernel of tiles, which has no program yet."""
    return Program(kernel.sym_name.data, core_kind(kernel), np.zeros((0, ROW_WIDTH), np.int64))
