"""Conflicts in the banks of the unified buffer: [asc-devkit] 04_memory_access/bank_conflict_ub."""

from __future__ import annotations

from benchmarks.silicon.family import Family, Outcome, Settings, base_name, timed
from pypto.target.memory import CoreKind
from pypto.target.one_launch import one_launch
from pypto.target.soc import Soc
from pypto.target.structured import StructuredBuilder

OPERANDS = ("dst", "src0", "src1", "src0_block", "src0_repeat")


def measure(machine: Soc, s: Settings) -> Outcome:
    """``calls`` additions of ``repeat`` repeats of f32 and nothing between; cycles per call."""
    calls = int(s["calls"])
    builder = StructuredBuilder("add", CoreKind.VECTOR)
    with builder.loop(0, calls):
        builder.issue(
            "vadd.f32", repeat=int(s["repeat"]), **{name: int(s[name]) for name in OPERANDS}
        )
    outcome = timed(one_launch(base_name(machine), [builder.build()], 1, {}), machine)
    return Outcome(outcome.cycles / calls, outcome.profile)


BANK = Family(
    name="bank",
    summary="one addition over and over, its operands in banks of UB",
    settings={
        "calls": 1000, "repeat": 64, "src0": 0, "src1": 0x10100, "dst": 0x20000,
        "src0_block": 1, "src0_repeat": 8,
    },
    measure=measure,
    rows={
        "bank_apart": {},
        "bank_sources_in_bank": {"src1": 0x4000, "dst": 0x10000},
        "bank_sources_in_group": {"src1": 0x10000, "dst": 0x14100},
        "bank_target_on_source": {"dst": 0x4000},
        "bank_target_one_on": {"dst": 0x4020},
        "bank_in_place": {"dst": 0x10100},
        "bank_block_walks": {"dst": 0x10100, "src0_block": 0, "src0_repeat": 1},
        "bank_block_jumps": {"dst": 0x10100, "src0_block": 0, "src0_repeat": 8},
    },
)  # fmt: skip
