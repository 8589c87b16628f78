"""An Executable around programs written by hand: one launch, buffers named by parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pypto.errors import CompileError
from pypto.target.executable import (
    Argument,
    Buffer,
    BufferArgument,
    Executable,
    Launch,
    Part,
    Role,
)
from pypto.target.program import Parameter, Program


def one_launch(
    soc: str,
    programs: Sequence[Program],
    grid: int,
    shapes: Mapping[str, tuple[int, ...]],
    scalars: Mapping[str, int] | None = None,
) -> Executable:
    """Run a program, or one for cube and one for vector cores together, on ``grid`` blocks.

    Parameters of one name share a buffer of ``shapes``, or an integer of ``scalars``. Buffers
    that a program writes are results, the others inputs, both in the order of ``shapes``.
    """
    parameters = [parameter for program in programs for parameter in program.parameters]
    numbers = {name: number for number, name in enumerate(shapes)}
    buffers = tuple(_buffer(name, shape, parameters) for name, shape in shapes.items())

    def argument(parameter: Parameter) -> Argument:
        if parameter.kind == "scalar" and scalars and parameter.name in scalars:
            return scalars[parameter.name]
        if parameter.kind == "buffer" and parameter.name in numbers:
            return BufferArgument(numbers[parameter.name])
        raise _invalid(f"no {parameter.kind} is given for parameter {parameter.name}")

    parts = [
        Part(number, tuple(map(argument, program.parameters)))
        for number, program in enumerate(programs)
    ]
    launch = Launch(0, grid, parts[0].arguments, parts[1] if len(parts) > 1 else None)
    by_role = {
        role: tuple(i for i, buffer in enumerate(buffers) if buffer.role is role) for role in Role
    }
    executable = Executable(
        soc,
        tuple(programs),
        buffers,
        steps=(launch,),
        inputs=by_role[Role.INPUT],
        results=by_role[Role.RESULT],
    )
    executable.validate()
    return executable


def _buffer(name: str, shape: tuple[int, ...], parameters: Sequence[Parameter]) -> Buffer:
    uses = [p for p in parameters if p.name == name and p.kind == "buffer"]
    dtypes = {use.dtype for use in uses if use.dtype is not None}
    if len(dtypes) != 1:
        raise _invalid(f"buffer {name} has {len(dtypes)} element types in {len(uses)} parameters")
    role = Role.RESULT if any(use.writes for use in uses) else Role.INPUT
    return Buffer(name, role, dtypes.pop(), shape)


def _invalid(message: str) -> CompileError:
    return CompileError("INVALID_EXECUTABLE", message)
