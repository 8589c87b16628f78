"""A module of kernels at the tik level, with ``@main`` in the host dialect, as an Executable."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Protocol

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from pypto.codegen.kernel import build_program
from pypto.dialects import host
from pypto.dialects.locations import source_of
from pypto.dialects.scalars import constant_of
from pypto.dialects.tile import KERNEL
from pypto.errors import CompileError
from pypto.target.dtypes import DType
from pypto.target.executable import (
    Argument,
    Buffer,
    BufferArgument,
    Dim,
    Executable,
    Launch,
    Role,
)
from pypto.target.program import Program
from pypto.target.soc import soc


class Resources(Protocol):
    """Arrays by the names constants give them."""

    def __getitem__(self, key: str, /) -> np.ndarray: ...


def build_executable(module: ModuleOp, resources: Resources) -> Executable:
    """The Executable of a module; ``resources`` holds the arrays its constants name.

    A module without ``@main`` gives its programs and no launches.
    """
    name = soc_name(module)
    programs = [build_program(kernel, dtypes, soc(name)) for kernel, dtypes in kernels_of(module)]
    executable = build_host(module, name, programs, resources)
    executable.validate()
    return executable


def build_host(
    module: ModuleOp, soc: str, programs: list[Program], resources: Resources
) -> Executable:
    """The buffers and launches of ``@main`` around one program per kernel, by their names."""
    return _Host(soc, programs, resources).build(_main_of(module))


def kernels_of(module: ModuleOp) -> list[tuple[FuncOp, Sequence[DType | None]]]:
    """The kernels of a module with the element types of the buffers they are launched with."""
    main = _main_of(module)
    dtypes = {} if main is None else _parameter_dtypes(main)
    return [
        (op, dtypes.get(op.sym_name.data, ()))
        for op in module.ops
        if isinstance(op, FuncOp) and KERNEL in op.attributes
    ]


def _main_of(module: ModuleOp) -> FuncOp | None:
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    return next((f for f in functions if f.sym_name.data == host.MAIN), None)


def soc_name(module: ModuleOp) -> str:
    """The machine a module is compiled for."""
    name = module.attributes.get(host.SOC)
    if not isinstance(name, StringAttr):
        raise CompileError(
            "NO_SOC",
            "the module does not say for which machine it is",
            fix=f'give it the attribute {host.SOC} = "ascend910b1"',
        )
    return name.data


def _equal_extents(main: FuncOp) -> dict[tuple[int, int], tuple[int, int]]:
    """(argument, axis) of an extent known at launch -> the one it must be equal to."""
    pairs = main.attributes.get(host.EQUAL_EXTENTS, ArrayAttr([]))
    assert isinstance(pairs, ArrayAttr)
    equal = {}
    for pair in pairs:
        assert isinstance(pair, DenseArrayBase)
        first, first_axis, second, second_axis = pair.get_values()
        equal[int(second), int(second_axis)] = (int(first), int(first_axis))
    return equal


def _parameter_dtypes(main: FuncOp) -> dict[str, list[DType | None]]:
    """Element types of the buffers each kernel is launched with, by the first launch."""
    found: dict[str, list[DType | None]] = {}
    for op in main.walk():
        if isinstance(op, host.LaunchOp):
            types = [argument.type for argument in op.arguments]
            dtypes = [t.dtype if isinstance(t, host.BufferType) else None for t in types]
            found.setdefault(op.kernel_name, dtypes)
    return found


class _Host:
    """Walks ``@main`` once and collects buffers, constants and launches."""

    def __init__(self, soc: str, programs: list[Program], resources: Resources) -> None:
        self.soc = soc
        self.programs = programs
        self.resources = resources
        self.numbers = {program.name: number for number, program in enumerate(programs)}
        self.buffers: list[Buffer] = []
        self.constants: dict[str, np.ndarray] = {}
        self.steps: list[Launch] = []
        self.results: list[int] = []
        self.indices: dict[SSAValue, int] = {}
        self.extents: dict[SSAValue, int | Dim] = {}

    def build(self, main: FuncOp | None) -> Executable:
        inputs = [] if main is None else self._inputs(main)
        for op in () if main is None else main.body.block.ops:
            self._visit(op)
        return Executable(
            self.soc,
            tuple(self.programs),
            tuple(self.buffers),
            self.constants,
            tuple(self.steps),
            tuple(inputs),
            tuple(self.results),
        )

    def _inputs(self, main: FuncOp) -> list[int]:
        equal = _equal_extents(main)
        for index, argument in enumerate(main.body.block.args):
            tensor = host.buffer_type(argument)
            shape = [
                Dim(*equal.get((index, axis), (index, axis))) if extent == host.DYNAMIC else extent
                for axis, extent in enumerate(tensor.shape)
            ]
            self._add(argument, host.argument_name(main, index), Role.INPUT, tuple(shape))
        return list(range(len(self.buffers)))

    def _add(
        self,
        value: SSAValue,
        name: str,
        role: Role,
        shape: tuple[int | Dim, ...],
        offset: int | None = None,
        constant: str | None = None,
    ) -> None:
        dtype = host.buffer_type(value).dtype
        known = [extent for extent in shape if isinstance(extent, int)]
        size = prod(known) * dtype.bytes if len(known) == len(shape) else None
        self.indices[value] = len(self.buffers)
        self.buffers.append(Buffer(name, role, dtype, shape, size, offset, constant))

    def _visit(self, op: Operation) -> None:
        match op:
            case arith.ConstantOp() if (number := constant_of(op.result)) is not None:
                self.extents[op.result] = number
            case host.DimOp():
                self.extents[op.result] = self._dim(op)
            case host.AllocOp():
                self._alloc(op)
            case host.ConstantOp():
                self._constant(op)
            case host.ViewOp():
                self.indices[op.result] = self.indices[op.source]
            case host.LaunchOp():
                self._launch(op)
            case host.ReturnOp():
                self.results = [self.indices[value] for value in op.results_]
            case _:
                raise CompileError(
                    "NOT_HOST_LEVEL",
                    f"{op.name} cannot stand in @{host.MAIN} of a compiled module",
                    location=source_of(op),
                    fix="run the pass tile-kernels first",
                )

    def _dim(self, op: host.DimOp) -> int | Dim:
        axis = op.axis.value.data
        extent = host.buffer_type(op.buffer).shape[axis]
        if extent != host.DYNAMIC:
            return extent
        if isinstance(op.buffer, OpResult) and isinstance(op.buffer.owner, host.ViewOp):
            raise CompileError(
                "DYNAMIC_VIEW",
                f"the extent of axis {axis} of a reshaped tensor is known at launch only",
                location=source_of(op),
                fix="reshape to static extents, or take the extent of an input",
            )
        return self.buffers[self.indices[op.buffer]].shape[axis]

    def _alloc(self, op: host.AllocOp) -> None:
        dynamic = iter(op.extents)
        shape = [
            self.extents[next(dynamic)] if extent == host.DYNAMIC else extent
            for extent in host.buffer_type(op.result).shape
        ]
        offset = None if op.offset is None else op.offset.value.data
        self._add(op.result, op.label.data, Role(op.role.data), tuple(shape), offset)

    def _constant(self, op: host.ConstantOp) -> None:
        key = op.resource.data
        array = np.ascontiguousarray(self.resources[key])
        self.constants[key] = array.reshape(-1).view(np.uint8)
        shape = host.buffer_type(op.result).shape
        self._add(op.result, op.label.data, Role.CONSTANT, shape, constant=key)

    def _launch(self, op: host.LaunchOp) -> None:
        if op.kernel_name not in self.numbers:
            raise CompileError(
                "NOT_A_KERNEL",
                f"@{op.kernel_name} is launched but is no kernel",
                location=source_of(op),
            )
        arguments = tuple(self._argument(value) for value in op.arguments)
        number = self.numbers[op.kernel_name]
        self.steps.append(Launch(number, op.grid.value.data, arguments))

    def _argument(self, value: SSAValue) -> Argument:
        if value in self.indices:
            return BufferArgument(self.indices[value])
        return self.extents[value]
