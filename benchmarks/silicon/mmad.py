"""Multiplications of the cube: lone ones, and chains that accumulate."""

from __future__ import annotations

from benchmarks.silicon.family import Family, Outcome, Settings, active_cycles, base_name, timed
from pypto.target.memory import CoreKind, Pipe
from pypto.target.one_launch import one_launch
from pypto.target.soc import Soc
from pypto.target.structured import StructuredBuilder

L0_HALF = 32768  # operands of neighbouring multiplications lie in halves of L0A and L0B


def measure(machine: Soc, s: Settings) -> Outcome:
    """``k`` in ``steps`` multiplications of ``m`` rows and ``n`` columns, one after the other.

    Cycles are those in which the cube works on a lone one, or those of the whole chain.
    """
    steps = int(s["steps"])
    builder = StructuredBuilder("mmad", CoreKind.CUBE)
    for step in range(steps):
        half = step % 2 * L0_HALF
        builder.issue(
            f"mad.{s['type']}", c=0, a=half, b=half, m=int(s["m"]), k=int(s["k"]) // steps,
            n=int(s["n"]), c_init=int(step == 0),
        )  # fmt: skip
    outcome = timed(one_launch(base_name(machine), [builder.build()], 1, {}), machine)
    return active_cycles(outcome, Pipe.M) if steps == 1 else outcome


MMAD = Family(
    name="mmad",
    summary="one multiplication of the cube, or a chain of them",
    settings={"m": 128, "k": 512, "n": 256, "steps": 8, "type": "f16"},
    measure=measure,
    rows={
        "mad_f16_40x50x60": {"m": 40, "k": 50, "n": 60, "steps": 1},
        "mad_f16_128x128x64": {"m": 128, "k": 128, "n": 64, "steps": 1},
        "mad_f32_120x110x50": {"m": 120, "k": 110, "n": 50, "steps": 1, "type": "f32"},
        "mad_chain_128x512x256": {},
        "mad_chain_128x512x128": {"n": 128},
    },
)
