"""Launches of a program for cube cores and one for vector cores, written as assembly."""

from __future__ import annotations

from pypto.target.assembly import assemble
from pypto.target.executable import Executable

COUNT = 1024  # elements of every buffer


def mixed(cube: str, vector: str, grid: int = 1, soc: str = "ascend910b1") -> Executable:
    """Both programs on f32 buffers x (input), w (temporary) and z (result), in r4, r5, r6.

    r3 is the number of the vector core in the launch, or of the cube core.
    """
    head = "\n".join(
        f"  .parameter {name} buffer f32{writes}"
        for name, writes in (("x", ""), ("w", " writes"), ("z", " writes"))
    )
    loads = "  ldp r4, x\n  ldp r5, w\n  ldp r6, z"
    parts = [
        f".program {name} {core} {{\n{head}\n{loads}\n{number}\n{body}\n  pipe_barrier all\n"
        "  end\n}"
        for name, core, number, body in (
            ("feed", "cube", "  mov r3, r0", cube),
            ("eat", "vector", "  mul r3, r0, 2\n  add r3, r3, r2", vector),
        )
    ]
    return assemble(
        f""".soc {soc}
.buffer x input f32 [{COUNT}]
.buffer w temporary f32 [{COUNT}] bytes={4 * COUNT}
.buffer z result f32 [{COUNT}]
{parts[0]}
{parts[1]}
.launch feed grid={grid} (x, w, z), eat (x, w, z)
.inputs x
.results z
"""
    )
