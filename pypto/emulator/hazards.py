"""The happens-before checker: what flags and barriers leave unordered, without any timing.

``check`` judges the dispatched instructions of one launch, ``check_program`` a program on given
arguments, ``check_executable`` all launches of an Executable. Instructions are followed in the
order of dispatch; a wait whose token is missing holds its pipe, and what follows on that pipe,
until a later set brings it. A core that waits for others is left until they have set. What sets
and waits between cores do not order is a race where the cores meet in global memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from pypto.emulator import diagnosis
from pypto.emulator.crew import Crew
from pypto.emulator.hazards_cache import DataCache
from pypto.emulator.hazards_context import Context, GlobalBuffer
from pypto.emulator.hazards_core import Core
from pypto.emulator.hazards_marks import POISON, Marks
from pypto.emulator.hazards_memory import Memory
from pypto.emulator.hazards_report import Hazard, HazardKind, Site
from pypto.emulator.hazards_trace import Dispatch, trace
from pypto.emulator.launch import LaunchLog
from pypto.emulator.placement import launch_arguments, place
from pypto.emulator.state import LOG_COLUMNS, LOG_FIELDS
from pypto.target.executable import BufferArgument, Executable, Launch, Role
from pypto.target.instructions import ScalarKind
from pypto.target.memory import Pipe, Space
from pypto.target.program import Program
from pypto.target.rows import forms
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
    crew: Crew,
    dispatches: Callable[[int], Iterator[Dispatch]],
    machine: Soc,
    buffers: Sequence[GlobalBuffer] = (),
    *,
    compiled: bool = True,
    gm: np.ndarray | None = None,
) -> list[Hazard]:
    """The hazards of one launch; ``dispatches`` says what each of its cores dispatches.

    ``compiled``: what compiled code must not do (a latent double set, a wait before its set) is
    an error, else a warning. ``gm`` holds the marks of global memory over several launches.
    """
    context = Context(crew, machine, buffers, compiled)
    marks = global_marks(buffers) if gm is None else gm
    resolved: dict[Any, Any] = {}
    caches: list[DataCache] = []
    waiting: deque[Core] = deque()
    idle = 0
    fresh = iter(range(len(crew.kinds)))
    while True:
        # Cores that never wait for others are followed one after another, each to its end.
        number = next(fresh, None)
        if number is not None:
            memory = Memory(context, Marks(machine, marks), resolved, caches)
            core = Core(context, memory, number, dispatches(number))
        elif waiting and idle < len(waiting):
            core = waiting.popleft()
        else:
            break
        before = core.number
        if core.run():
            idle = 0
        else:
            waiting.append(core)
            idle = idle + 1 if core.number == before else 0
    for core in waiting:
        core.give_up()
    if not waiting:
        _check_cross_balance(context)
    return context.report.hazards()


def _check_cross_balance(context: Context) -> None:
    """Sets for other cores that somebody has not waited for."""
    for core, _, number in context.cross.unbalanced():
        context.add(
            HazardKind.UNBALANCED,
            context.set_by[core, number],
            message=f"cross-core flag {number} of {context.crew.core_name(core)} is still set "
            "somewhere when the kernel ends",
            cure="wait for it on every core that it reaches: it would hit the next kernel",
        )


def check_program(
    program: Program,
    machine: Soc,
    grid: int = 1,
    parameters: Sequence[int] = (),
    buffers: Sequence[GlobalBuffer] = (),
    *,
    compiled: bool = True,
) -> list[Hazard]:
    """The hazards of one launch of a program on ``grid`` blocks.

    ``parameters`` holds the launch arguments: addresses of buffers, and scalars.
    """
    crew = Crew.of([program], grid)
    follow = partial(core_trace, crew, parameters, None)
    return check(crew, follow, machine, buffers, compiled=compiled)


def core_trace(
    crew: Crew, parameters: Sequence[int], log: LaunchLog | None, core: int
) -> Iterator[Dispatch]:
    """What a core of a launch dispatches; ``parameters`` are those of all programs.

    ``log`` is of a run with data, for programs that depend on what scalar loads read.
    """
    member = crew.of_core(core)
    if log is None:
        diagnosis.refuse_unknown(member.program)
    loads = None if log is None else loaded_values(log, core)
    own = parameters[member.parameter : member.parameter + len(member.program.parameters)]
    block, sub_block = crew.block(core)
    return trace(member.program, block, crew.grid, own, core=core, sub_block=sub_block, loads=loads)


def loaded_values(log: LaunchLog, core: int) -> Iterator[int]:
    """What the scalar loads of a core read, in order."""
    kinds = {form.opcode for form in forms().values() if form.kind is ScalarKind.MEMORY_LOAD}
    for row in log.rows[log.rows[:, LOG_COLUMNS.index("core")] == core].tolist():
        if row[LOG_COLUMNS.index("opcode")] in kinds:
            yield row[LOG_FIELDS + 1]


def check_executable(
    executable: Executable,
    input_shapes: Sequence[Sequence[int]] = (),
    *,
    compiled: bool = True,
    log: Sequence[LaunchLog] = (),
) -> list[Hazard]:
    """The hazards of all launches in order, for arguments of the given shapes.

    ``log`` is what a recorded run with data left: programs in which anything depends on what
    scalar loads read cannot be followed without.
    """
    machine = load_soc(executable.soc)
    placement = place(executable, input_shapes, machine)
    buffers = [
        GlobalBuffer(buffer.name, address, size, False, buffer.role in (Role.INPUT, Role.CONSTANT))
        for buffer, address, size in zip(
            executable.buffers, placement.addresses, placement.sizes, strict=True
        )
    ]
    gm = global_marks(buffers)
    found: list[Hazard] = []
    for number, step in enumerate(executable.steps):
        crew = Crew.of([executable.programs[part.program] for part in step.parts], step.grid)
        parameters = launch_arguments(step, placement, input_shapes).tolist()
        touched = _touched(step, crew, buffers)
        follow = partial(core_trace, crew, parameters, log[number] if log else None)
        found += check(crew, follow, machine, touched, compiled=compiled, gm=gm)
    return found + _unwritten(executable, buffers, gm)


def _unwritten(
    executable: Executable, buffers: Sequence[GlobalBuffer], gm: np.ndarray
) -> list[Hazard]:
    """Results of which some bytes hold nothing when all launches have ended."""
    found = []
    for number in dict.fromkeys(executable.results):
        buffer = buffers[number]
        holes = np.flatnonzero(gm[buffer.address : buffer.stop] == POISON)
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


def _touched(step: Launch, crew: Crew, buffers: list[GlobalBuffer]) -> list[GlobalBuffer]:
    """The buffers a launch is given, writable where a parameter says so."""
    writable: dict[int, bool] = {}
    parameters = [p for member in crew.members for p in member.program.parameters]
    for argument, parameter in zip(step.all_arguments, parameters, strict=True):
        if isinstance(argument, BufferArgument):
            before = writable.get(argument.buffer, False)
            writable[argument.buffer] = before or parameter.writes
    return [buffers[number]._replace(writable=writes) for number, writes in writable.items()]
