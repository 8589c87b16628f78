"""Attention of one head on groups of cube and vector cores, whole or one stage at a time.

The queries, keys and values are brought to L2 before, as the source does; here a first run of the
same launch does it. Cycles of a stage are those that a tile adds to a run of many, which all
groups do at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.silicon.attention_cube import attention_cube_program
from benchmarks.silicon.attention_schedule import ROWS, AttentionSchedule
from benchmarks.silicon.attention_stages import stage_program
from benchmarks.silicon.attention_vector import attention_vector_program
from benchmarks.silicon.family import Family, Outcome, Settings, base_name, timed
from pypto.emulator.profile import Profile
from pypto.target.memory import CoreKind
from pypto.target.one_launch import one_launch
from pypto.target.program import Program
from pypto.target.soc import Soc

FEW, MANY = 8192, 16384  # keys of two runs, whose difference is that of their tiles


def warm(machine: Soc, programs: Sequence[Program], grid: int, s: AttentionSchedule) -> Outcome:
    """The second of two launches: L2 holds what the first has used."""
    used = {parameter.name for program in programs for parameter in program.parameters}
    shapes = {name: shape for name, shape in s.shapes().items() if name in used}
    executable = one_launch(base_name(machine), programs, grid, shapes)
    profile = timed(replace(executable, steps=executable.steps * 2), machine).profile
    assert profile is not None
    second = Profile(profile.soc, profile.launches[1:])
    return Outcome(second.cycles, second)


def measure(machine: Soc, s: Settings) -> Outcome:
    """The whole, or the cycles of a tile of one ``stage``."""
    stage = str(s["stage"])
    rows, keys = int(s["rows"]), int(s["keys"])
    flag = s["unit_flag"] == "yes"
    if stage == "all":
        groups = min(machine.core_groups, rows // ROWS)
        schedule = AttentionSchedule(rows=rows, keys=keys, groups=groups, unit_flag=flag)
        programs = [attention_cube_program(schedule), attention_vector_program(schedule)]
        return warm(machine, programs, groups, schedule)
    groups = machine.core_groups
    schedule = AttentionSchedule(rows=groups * ROWS, keys=FEW, groups=groups, unit_flag=flag)
    outcomes: list[Outcome] = []
    for count in (FEW, MANY):
        longer = replace(schedule, keys=count)
        program = stage_program(longer, stage)
        grid = groups if program.core is CoreKind.CUBE else machine.cores(CoreKind.VECTOR)
        outcomes.append(warm(machine, [program], grid, longer))
    few, many = (outcome.cycles for outcome in outcomes)
    tiles = replace(schedule, keys=MANY - FEW).tiles
    return Outcome((many - few) / tiles)


ATTENTION = Family(
    name="attention",
    summary="attention of one head of 128, on groups of cube and vector cores",
    settings={"rows": 1024, "keys": 1024, "stage": "all", "unit_flag": "yes"},
    measure=measure,
    rows={
        "F1": {},
        "F3": {"rows": 4096, "keys": 4096},
        "F5": {"rows": 16384, "keys": 16384},
        "F9a": {"stage": "qk"},
        "F9b": {"stage": "softmax"},
        "F9c": {"stage": "pv"},
        "F9d": {"stage": "update"},
    },
)
