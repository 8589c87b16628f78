"""Lone vector instructions by the number of repeats: [pto-isa] lines through profiler points."""

from __future__ import annotations

from benchmarks.silicon.family import Family, Outcome, Settings, active_cycles, base_name, timed
from pypto.target.memory import CoreKind, Pipe
from pypto.target.one_launch import one_launch
from pypto.target.rows import forms
from pypto.target.soc import Soc
from pypto.target.structured import StructuredBuilder

ADDRESSES = ("dst", "src", "src0", "src1")


def measure(machine: Soc, s: Settings) -> Outcome:
    """One instruction ``op`` of ``repeat`` repeats on contiguous operands, cycles of its pipe."""
    names = {operand.name for operand in forms()[str(s["op"])].operands}
    operands = {name: int(s[name]) for name in ADDRESSES if name in names}
    if "scalar" in names:
        operands["scalar"] = 0
    builder = StructuredBuilder("vector", CoreKind.VECTOR)
    builder.issue(str(s["op"]), repeat=int(s["repeat"]), **operands)
    outcome = timed(one_launch(base_name(machine), [builder.build()], 1, {}), machine)
    return active_cycles(outcome, Pipe.V)


# Tiles of 16 KB one after another, as the source's tests place them: two sources meet in a bank.
VECTOR = Family(
    name="vector",
    summary="one vector instruction",
    settings={
        "op": "vadd.f32", "repeat": 64, "src": 0, "src0": 0, "src1": 0x4000, "dst": 0x8000,
    },
    measure=measure,
    rows={
        f"{op}_{repeat}": {"op": f"{op}.f32", "repeat": repeat}
        for op in (
            "vmuls", "vmaxs", "vlrelu", "vexp", "vln", "vrsqrt",
            "vadd", "vmax", "vmul", "vdiv",
        )
        for repeat in (8, 64)
    },
)  # fmt: skip
