"""How much of what a run did was work: its cycles without the start-up of each instruction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from pypto.emulator.profile import Profile
from pypto.emulator.state import WORKING_PIPES
from pypto.runtime.bound import Work
from pypto.target.executable import Executable, Role
from pypto.target.memory import PIPES, Pipe
from pypto.target.program import Program
from pypto.target.rows import (
    OPCODE_COLUMN,
    OPERAND_COLUMN,
    PIPE_COLUMN,
    Form,
    forms_by_opcode,
)
from pypto.target.soc import Soc

TURNS = 16  # a loop is taken to run so many times, to weigh its rows against those outside


def work_of(executable: Executable, profile: Profile, shapes: Sequence[Sequence[int]]) -> Work:
    """The work of a run: executed cycles without start-up, and compulsory bytes."""
    cycles = dict.fromkeys((Pipe.M, Pipe.V, Pipe.MTE1, Pipe.FIX), 0)
    for step, launch in zip(executable.steps, profile.launches, strict=True):
        for part, cores in zip(step.parts, launch.of_kind().values(), strict=True):
            program = executable.programs[part.program]
            for pipe in cycles:
                column = WORKING_PIPES.index(pipe)
                count = int(launch.pipe_instructions[cores, column].sum())
                busy = int(launch.busy[cores, column].sum())
                idle = round(count * mean_start_up(program, pipe, profile.soc))
                cycles[pipe] += max(0, busy - idle)
    sizes = [(buffer.role, buffer.byte_count(shapes)) for buffer in executable.buffers]
    return Work(
        cube_cycles=cycles[Pipe.M],
        vector_cycles=cycles[Pipe.V],
        mte1_cycles=cycles[Pipe.MTE1],
        fix_cycles=cycles[Pipe.FIX],
        read_bytes=sum(size for role, size in sizes if role in (Role.INPUT, Role.CONSTANT)),
        write_bytes=sum(size for role, size in sizes if role is Role.RESULT),
    )


@lru_cache(maxsize=1024)
def mean_start_up(program: Program, pipe: Pipe, soc: Soc) -> float:
    """Start-up cycles per instruction of a pipe; flags and barriers on it have none.

    The engine counts instructions per pipe, not per row, so rows are weighed by loop depth.
    """
    rows = program.rows
    on_pipe = np.flatnonzero(rows[:, PIPE_COLUMN] == PIPES.index(pipe))
    if not len(on_pipe):
        return 0.0
    weights = float(TURNS) ** loop_depths(program)[on_pipe]
    forms = [forms_by_opcode()[opcode] for opcode in rows[on_pipe, OPCODE_COLUMN].tolist()]
    return float(np.average([start_up(form, soc) for form in forms], weights=weights))


def start_up(form: Form, soc: Soc) -> int:
    """Cycles an instruction takes before and after its work."""
    if form.row is None:
        return 0
    fixed = {Pipe.M: soc.mad_gap, Pipe.FIX: soc.fixpipe_head, Pipe.V: form.row.facts.head}
    return fixed.get(form.row.pipe, 0)


def loop_depths(program: Program) -> np.ndarray:
    """How many loops each row stands in; a loop is what a branch jumps back over."""
    depths = np.zeros(len(program.rows), np.int64)
    for number, row in enumerate(program.rows.tolist()):
        label = forms_by_opcode()[row[OPCODE_COLUMN]].index("label")
        if label is not None and row[OPERAND_COLUMN + label] <= number:
            depths[row[OPERAND_COLUMN + label] : number + 1] += 1
    return depths
