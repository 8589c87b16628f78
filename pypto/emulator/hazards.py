"""The happens-before checker: what flags and barriers leave unordered, without any timing.

``check`` judges the dispatched instructions of one launch, ``check_program`` a program on given
arguments, ``check_executable`` all launches of an Executable. Instructions are followed in the
order of dispatch; a wait whose token is missing holds its pipe, and what follows on that pipe,
until a later set brings it. Blocks of one launch have no flags between them, so each is followed
alone, and conflicts between blocks in global memory are races.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from pypto.emulator.hazards_context import Context, GlobalBuffer
from pypto.emulator.hazards_core import Core
from pypto.emulator.hazards_marks import POISON, Marks
from pypto.emulator.hazards_memory import Memory
from pypto.emulator.hazards_report import Hazard, HazardKind, Site
from pypto.emulator.hazards_trace import Dispatch, trace
from pypto.emulator.placement import launch_arguments, place
from pypto.errors import DeviceError
from pypto.target.executable import BufferArgument, Executable, Launch, Role
from pypto.target.memory import Pipe, Space
from pypto.target.program import Program
from pypto.target.soc import Soc
from pypto.target.soc import soc as load_soc

__all__ = [
    "Dispatch",
    "GlobalBuffer",
    "Hazard",
    "HazardKind",
    "Site",
    "check",
    "check_executable",
    "check_program",
    "trace",
]


def check(
    program: Program,
    log: Iterable[Dispatch],
    machine: Soc,
    buffers: Sequence[GlobalBuffer] = (),
    *,
    compiled: bool = True,
    marks: Marks | None = None,
) -> list[Hazard]:
    """The hazards of one launch, given what its cores dispatched, core after core.

    ``compiled``: what compiled code must not do (a latent double set, a wait before its set) is
    an error, else a warning. ``marks`` carries what memory holds over several launches.
    """
    context = Context(program, machine, buffers, compiled)
    memory = Memory(context, marks or Marks(machine, global_marks(buffers)))
    for _, dispatches in groupby(log, key=lambda dispatch: dispatch.core):
        memory.marks.restart()
        core = Core(context, memory)
        core.run(dispatches)
        context.report.add_cures(program.core, core.flag_list())
    return context.report.hazards()


def check_program(
    program: Program,
    machine: Soc,
    grid: int = 1,
    parameters: Sequence[int] = (),
    buffers: Sequence[GlobalBuffer] = (),
    *,
    compiled: bool = True,
    marks: Marks | None = None,
) -> list[Hazard]:
    """The hazards of one launch of a program on ``grid`` blocks.

    ``parameters`` holds the launch arguments: addresses of buffers, and scalars.
    """
    log = (one for block in range(grid) for one in trace(program, block, grid, parameters))
    return check(program, log, machine, buffers, compiled=compiled, marks=marks)


def check_executable(
    executable: Executable, input_shapes: Sequence[Sequence[int]] = (), *, compiled: bool = True
) -> list[Hazard]:
    """The hazards of all launches in order, for arguments of the given shapes."""
    machine = load_soc(executable.soc)
    placement = place(executable, input_shapes, machine)
    buffers = [
        GlobalBuffer(buffer.name, address, size, False, buffer.role in (Role.INPUT, Role.CONSTANT))
        for buffer, address, size in zip(
            executable.buffers, placement.addresses, placement.sizes, strict=True
        )
    ]
    marks = Marks(machine, global_marks(buffers))
    found: list[Hazard] = []
    for step in executable.steps:
        if step.vector is not None:
            raise DeviceError(
                "UNSUPPORTED",
                "the checker follows launches of one program, this one has two",
                fix="run it without --check",
            )
        program = executable.programs[step.program]
        found += check_program(
            program,
            machine,
            step.grid,
            launch_arguments(step, placement, input_shapes).tolist(),
            _touched(step, program, buffers),
            compiled=compiled,
            marks=marks,
        )
    return found + _unwritten(executable, buffers, marks)


def _unwritten(
    executable: Executable, buffers: Sequence[GlobalBuffer], marks: Marks
) -> list[Hazard]:
    """Results of which some bytes hold nothing when all launches have ended."""
    found = []
    for number in dict.fromkeys(executable.results):
        buffer = buffers[number]
        holes = np.flatnonzero(marks.memory[Space.GM][buffer.address : buffer.stop] == POISON)
        if not holes.size:
            continue
        found.append(
            Hazard(
                HazardKind.UNWRITTEN,
                _end_of(executable),
                space=Space.GM,
                buffer=buffer.name,
                start=int(holes[0]),
                stop=int(holes[-1]) + 1,
                message=f"nothing has written {holes.size} bytes of result {buffer.name}",
                cure="store them before the last launch ends",
            )
        )
    return found


def _end_of(executable: Executable) -> Site:
    """The last row of the program launched last."""
    last = executable.steps[-1].program if executable.steps else 0
    rows = len(executable.programs[last].rows) if executable.programs else 0
    return Site("end", Pipe.S, 0, max(0, rows - 1), "", 0)


def global_marks(buffers: Sequence[GlobalBuffer]) -> np.ndarray:
    """Marks of global memory: poison in the buffers that hold no values yet."""
    marks = np.zeros(max((buffer.limit for buffer in buffers), default=0), np.uint8)
    for buffer in buffers:
        if not buffer.filled:
            marks[buffer.address : buffer.stop] = POISON
    return marks


def _touched(step: Launch, program: Program, buffers: list[GlobalBuffer]) -> list[GlobalBuffer]:
    """The buffers a launch is given, writable where a parameter says so."""
    writable: dict[int, bool] = {}
    for argument, parameter in zip(step.arguments, program.parameters, strict=True):
        if isinstance(argument, BufferArgument):
            before = writable.get(argument.buffer, False)
            writable[argument.buffer] = before or parameter.writes
    return [buffers[number]._replace(writable=writes) for number, writes in writable.items()]
