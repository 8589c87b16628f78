"""The least time a machine needs for a program's work: what a roofline is measured against."""

from __future__ import annotations

from dataclasses import dataclass

from pypto.target.soc import Soc


@dataclass(frozen=True)
class Work:
    """Work of all cores and launches together.

    Cycles are those of the emitted instructions without start-up: fractals of the cube, repeats
    of the vector unit, bytes through the ports of MTE1 and FIX. Bytes are compulsory: inputs and
    constants are read once, results are written once.
    """

    cube_cycles: int = 0
    vector_cycles: int = 0
    mte1_cycles: int = 0
    fix_cycles: int = 0
    read_bytes: int = 0
    write_bytes: int = 0


def bounds(work: Work, soc: Soc) -> dict[str, int]:
    """Cycles each resource needs at least, its work spread evenly over the whole machine."""
    moved = work.read_bytes + work.write_bytes
    ports = sum(soc.cores(kind) * soc.gm_port(kind) for kind in soc.core_kinds())
    # Written lines stay in L2 until it is full.
    to_memory = work.read_bytes + max(0, work.write_bytes - soc.l2_bytes)
    return {
        "cube": ceil_div(work.cube_cycles, soc.cube_cores),
        "vector": ceil_div(work.vector_cycles, soc.vector_cores),
        "mte1": ceil_div(work.mte1_cycles, soc.cube_cores),
        "fix": ceil_div(work.fix_cycles, soc.cube_cores),
        "ports": ceil_div(moved, ports),
        "l2": ceil_div(moved, soc.l2_bandwidth),
        "hbm": ceil_div(to_memory, soc.hbm_read),
    }


def largest(cycles: dict[str, int]) -> tuple[str, int]:
    """The binding resource and its cycles."""
    name = max(cycles, key=lambda one: cycles[one])
    return name, cycles[name]


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)
