"""Executable: frozen programs, buffers, constants and the launches that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import prod

import numpy as np

from pypto.errors import CompileError
from pypto.target.dtypes import DType
from pypto.target.groups import GROUP_VECTORS
from pypto.target.memory import BLOCK_BYTES, CoreKind
from pypto.target.program import Parameter, Program
from pypto.target.soc import Soc
from pypto.target.soc import soc as load_soc


class Role(StrEnum):
    """Who fills a buffer: the caller, a launch (for the caller), the file, or a launch."""

    INPUT = "input"
    RESULT = "result"
    CONSTANT = "constant"
    TEMPORARY = "temporary"


@dataclass(frozen=True)
class Dim:
    """An extent known at launch: axis ``axis`` of the argument for ``inputs[input]``."""

    input: int
    axis: int

    def resolve(self, input_shapes: Sequence[Sequence[int]]) -> int:
        """The extent, given the shapes of the arguments in the order of ``inputs``."""
        return int(input_shapes[self.input][self.axis])


def resolve(extent: int | Dim, input_shapes: Sequence[Sequence[int]]) -> int:
    """The integer an extent stands for, given the shapes of the arguments."""
    return extent.resolve(input_shapes) if isinstance(extent, Dim) else extent


@dataclass(frozen=True)
class Buffer:
    """A buffer in global memory.

    ``bytes`` is None when an extent is known at launch only; ``offset`` is the place in the
    pool of temporaries, None when the runtime places the buffer; ``constant`` is the key of its
    contents in ``Executable.constants``.
    """

    name: str
    role: Role
    dtype: DType
    shape: tuple[int | Dim, ...]
    bytes: int | None = None
    offset: int | None = None
    constant: str | None = None

    def resolved_shape(self, input_shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """The shape, given the shapes of the arguments."""
        return tuple(resolve(extent, input_shapes) for extent in self.shape)

    def byte_count(self, input_shapes: Sequence[Sequence[int]]) -> int:
        """Bytes the buffer needs, given the shapes of the arguments."""
        if self.bytes is not None:
            return self.bytes
        return prod(self.resolved_shape(input_shapes)) * self.dtype.bytes


def allocated_bytes(size: int) -> int:
    """Bytes of global memory that a buffer of ``size`` bytes gets: whole blocks and one more.

    What lies behind its values holds nothing, but whole blocks may be read and written there
    [V aclrtMalloc].
    """
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES + BLOCK_BYTES


@dataclass(frozen=True)
class BufferArgument:
    """The address ``byte_offset`` bytes into buffer number ``buffer``."""

    buffer: int
    byte_offset: int = 0


Argument = BufferArgument | Dim | int


@dataclass(frozen=True)
class Part:
    """What one kind of core runs in a launch: a program and its arguments."""

    program: int
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class Launch:
    """One run of a program on ``grid`` blocks.

    With ``vector`` it runs on ``grid`` groups of cores: the program on the cube core of each
    group, ``vector`` on its vector cores.
    """

    program: int
    grid: int
    arguments: tuple[Argument, ...] = ()
    vector: Part | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """What it runs, cube cores first."""
        first = Part(self.program, self.arguments)
        return (first,) if self.vector is None else (first, self.vector)

    @property
    def all_arguments(self) -> tuple[Argument, ...]:
        """The arguments of all parts, one after another."""
        return tuple(argument for part in self.parts for argument in part.arguments)


Step = Launch


@dataclass(frozen=True, eq=False)
class Executable:
    """Everything a device needs to run a compiled function.

    ``constants`` maps a key to one-dimensional ``uint8`` arrays; ``inputs`` and ``results`` are
    buffer numbers in the order of the caller's arguments and results.
    """

    soc: str
    programs: tuple[Program, ...]
    buffers: tuple[Buffer, ...] = ()
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    inputs: tuple[int, ...] = ()
    results: tuple[int, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Executable):
            return NotImplemented
        return (
            self._plain() == other._plain()
            and self.constants.keys() == other.constants.keys()
            and all(np.array_equal(v, other.constants[k]) for k, v in self.constants.items())
        )

    def __hash__(self) -> int:
        return hash(self._plain())

    def _plain(self) -> tuple[object, ...]:
        return (self.soc, self.programs, self.buffers, self.steps, self.inputs, self.results)

    def validate(self) -> None:
        """Raise a CompileError unless every index, count and size is consistent."""
        machine = load_soc(self.soc)
        for program in self.programs:
            program.validate(machine)
        self._validate_constants()
        for role, numbers in ((Role.INPUT, self.inputs), (Role.RESULT, self.results)):
            for number in numbers:
                self._require_buffer(number, f"{role} list")
                if self.buffers[number].role is not role:
                    buffer = self.buffers[number]
                    raise _invalid(
                        f"{role} list names buffer {number} ({buffer.name}) of role {buffer.role}"
                    )
        for number, buffer in enumerate(self.buffers):
            self._validate_buffer(f"buffer {number} ({buffer.name})", buffer)
        for number, step in enumerate(self.steps):
            self._validate_step(f"step {number}", step, machine)

    def _validate_constants(self) -> None:
        for key, value in self.constants.items():
            if value.dtype != np.uint8 or value.ndim != 1:
                raise _invalid(
                    f"constant {key} is a {value.ndim}-dimensional array of {value.dtype}",
                    fix="store constants as one-dimensional uint8 arrays",
                )

    def _validate_buffer(self, where: str, buffer: Buffer) -> None:
        for extent in buffer.shape:
            self._validate_extent(extent, where)
        static = all(isinstance(extent, int) for extent in buffer.shape)
        least = prod(e for e in buffer.shape if isinstance(e, int)) * buffer.dtype.bytes
        if buffer.bytes is not None and static and buffer.bytes < least:
            raise _invalid(f"{where} holds {buffer.bytes} bytes, its shape needs {least}")
        if buffer.offset is not None and buffer.role is not Role.TEMPORARY:
            raise _invalid(f"{where} of role {buffer.role} has a planned offset")
        if (buffer.constant is not None) != (buffer.role is Role.CONSTANT):
            raise _invalid(f"{where} of role {buffer.role} has constant key {buffer.constant!r}")
        if buffer.constant is None:
            return
        if buffer.constant not in self.constants:
            raise _invalid(f"{where} names constant {buffer.constant}, which is not there")
        size = self.constants[buffer.constant].size
        if not static or size != buffer.byte_count(()):
            raise _invalid(f"{where} needs {least} bytes, constant {buffer.constant} has {size}")

    def _validate_extent(self, extent: int | Dim, where: str) -> None:
        if isinstance(extent, int):
            if extent < 0:
                raise _invalid(f"{where} has the negative extent {extent}")
            return
        if not 0 <= extent.input < len(self.inputs):
            raise _invalid(
                f"{where} takes an extent of input {extent.input} of {len(self.inputs)} inputs"
            )
        rank = len(self.buffers[self.inputs[extent.input]].shape)
        if not 0 <= extent.axis < rank:
            raise _invalid(
                f"{where} takes axis {extent.axis} of input {extent.input} of rank {rank}"
            )

    def _require_buffer(self, number: int, where: str) -> None:
        if not 0 <= number < len(self.buffers):
            raise _invalid(f"{where} names buffer {number} of {len(self.buffers)} buffers")

    def _validate_step(self, where: str, step: Step, machine: Soc) -> None:
        for part in step.parts:
            if not 0 <= part.program < len(self.programs):
                raise _invalid(f"{where} runs program {part.program} of {len(self.programs)}")
        programs = [self.programs[part.program] for part in step.parts]
        if step.vector is None:
            self._validate_grid(f"{where} ({programs[0].name})", step, programs[0], machine)
        else:
            self._validate_groups(where, step, programs, machine)
        for part, program in zip(step.parts, programs, strict=True):
            self._validate_arguments(f"{where} ({program.name})", part, program)

    def _validate_grid(self, where: str, step: Step, program: Program, machine: Soc) -> None:
        cores = machine.cores(program.core)
        if cores == 0:
            kinds = " and ".join(machine.core_kinds())
            raise _invalid(
                f"{where} runs on {program.core} cores; {machine.name} has {kinds} cores",
                fix="compile the kernel for this SoC",
            )
        if not 1 <= step.grid <= cores:
            raise _invalid(
                f"{where} asks for a grid of {step.grid}; "
                f"{machine.name} has {cores} {program.core} cores",
                fix=f"launch 1 to {cores} blocks and loop over the rest inside the kernel",
            )

    def _validate_groups(
        self, where: str, step: Step, programs: list[Program], machine: Soc
    ) -> None:
        """A launch of two programs needs groups of both kinds of cores."""
        where = f"{where} ({' and '.join(program.name for program in programs)})"
        kinds = tuple(program.core for program in programs)
        if kinds != (CoreKind.CUBE, CoreKind.VECTOR):
            raise _invalid(
                f"{where} joins a program for {kinds[0]} cores with one for {kinds[1]} cores",
                fix="give the program for cube cores first, then the one for vector cores",
            )
        groups = machine.core_groups
        if groups == 0:
            raise _invalid(
                f"{where} runs on groups of cube and vector cores; {machine.name} has none",
                fix="compile the kernel for this SoC",
            )
        if not 1 <= step.grid <= groups:
            raise _invalid(
                f"{where} asks for a grid of {step.grid}; {machine.name} has {groups} groups "
                f"of a cube core and {GROUP_VECTORS} vector cores",
                fix=f"launch 1 to {groups} blocks and loop over the rest inside the kernel",
            )

    def _validate_arguments(self, where: str, part: Part, program: Program) -> None:
        if len(part.arguments) != len(program.parameters):
            raise _invalid(
                f"{where} passes {len(part.arguments)} arguments to "
                f"{len(program.parameters)} parameters"
            )
        for argument, parameter in zip(part.arguments, program.parameters, strict=True):
            self._validate_argument(f"{where}, parameter {parameter.name}", argument, parameter)

    def _validate_argument(self, where: str, argument: Argument, parameter: Parameter) -> None:
        if not isinstance(argument, BufferArgument):
            if parameter.kind != "scalar":
                raise _invalid(f"{where} wants a buffer, got the scalar {argument}")
            if isinstance(argument, Dim):
                self._validate_extent(argument, where)
            return
        if parameter.kind != "buffer":
            raise _invalid(f"{where} wants a scalar, got buffer {argument.buffer}")
        self._require_buffer(argument.buffer, where)
        buffer = self.buffers[argument.buffer]
        if argument.byte_offset < 0 or (
            buffer.bytes is not None and argument.byte_offset > buffer.bytes
        ):
            raise _invalid(f"{where} points {argument.byte_offset} bytes into {buffer.name}")
        if parameter.writes and buffer.role in (Role.INPUT, Role.CONSTANT):
            raise _invalid(
                f"{where} is written, but buffer {buffer.name} is a read-only {buffer.role}"
            )

    def summary(self) -> str:
        """A few lines for people: programs with their sizes, buffers by role, launches."""
        lines = [f"executable for {self.soc}: {len(self.steps)} launches"]
        for number, program in enumerate(self.programs):
            grids = [
                step.grid for step in self.steps if number in [part.program for part in step.parts]
            ]
            lines.append(
                f"  program {program.name}: {program.core} core, {len(program.rows)} rows, "
                f"{len(program.parameters)} parameters, grids {grids}"
            )
        for role in Role:
            chosen = [buffer for buffer in self.buffers if buffer.role is role]
            if chosen:
                known = sum(buffer.bytes or 0 for buffer in chosen)
                lines.append(f"  {len(chosen)} {role} buffers, {known} bytes known ahead")
        lines.append(f"  {sum(v.size for v in self.constants.values())} bytes of constants")
        return "\n".join(lines)


def _invalid(message: str, fix: str | None = None) -> CompileError:
    return CompileError("INVALID_EXECUTABLE", message, fix=fix)
