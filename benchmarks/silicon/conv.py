"""Convolutions of f16 with filters of 3x3, whose image is unfolded on the way to the cube."""

from __future__ import annotations

from benchmarks.silicon.conv_program import ConvSchedule, conv_program
from benchmarks.silicon.family import Family, Outcome, Settings, base_name, timed
from pypto.target.one_launch import one_launch
from pypto.target.soc import Soc


def measure(machine: Soc, s: Settings) -> Outcome:
    schedule = ConvSchedule(**{name: int(value) for name, value in s.items()})
    executable = one_launch(
        base_name(machine), [conv_program(schedule)], schedule.cores, schedule.shapes()
    )
    return timed(executable, machine)


CONV = Family(
    name="conv",
    summary="convolutions of f16 with filters of 3x3",
    settings={
        "images": 4, "channel_blocks": 8, "height": 8, "width": 48, "filters": 1536, "shares": 6,
        "base_m": 128, "base_n": 256, "base_k": 48,
    },
    measure=measure,
    rows={
        "C1": {},
        "C3": {"channel_blocks": 24, "height": 12, "width": 96, "filters": 4608},
        "C5": {"channel_blocks": 40, "height": 15, "width": 128, "filters": 7680},
    },
)  # fmt: skip
