"""What the checker says of a program, held against the judge, and pieces of programs."""

from __future__ import annotations

from pypto.emulator.hazards import (
    Hazard,
    HazardKind,
    check_executable,
    trace,
)
from pypto.target.executable import Executable
from tests.emulator.hazard_programs import (
    code,
)
from tests.emulator.oracle import Verdict, judge

INPUT_SHAPES = {"x": (4096,), "a": (65536,), "b": (65536,)}


def hazards(executable: Executable, *, compiled: bool = True) -> list[Hazard]:
    """What the checker finds; micro-programs need not write the results they declare."""
    shapes = [INPUT_SHAPES[executable.buffers[number].name] for number in executable.inputs]
    found = check_executable(executable, shapes, compiled=compiled)
    return [hazard for hazard in found if hazard.kind is not HazardKind.UNWRITTEN]


def codes(executable: Executable) -> list[str]:
    """The codes of all hazards, each once; races must be what the judge says too."""
    found = hazards(executable)
    (program,), (step,) = executable.programs, executable.steps
    if step.grid == 1:
        scalars = [a if isinstance(a, int) else 2**20 * i for i, a in enumerate(step.arguments)]
        verdict = judge([(d.form, d.operands) for d in trace(program, 0, 1, scalars)])
        assert agrees(found, verdict)
    return sorted({hazard.code for hazard in found})


def agrees(found: list[Hazard], verdict: Verdict) -> bool:
    """Whether checker and judge see a race, a double set, something unbalanced, a deadlock."""
    kinds = {hazard.kind for hazard in found}
    if verdict.deadlock or HazardKind.DEADLOCK in kinds:
        return verdict.deadlock and HazardKind.DEADLOCK in kinds
    return (
        bool(verdict.races) == (HazardKind.RACE in kinds)
        and bool(verdict.double_sets) == (HazardKind.DOUBLE_SET in kinds)
        and bool(verdict.unbalanced) == (HazardKind.UNBALANCED in kinds)
    )


FILL = "vector_dup.f16 dst=0, scalar=1.0"
FLAG = code("set_flag mte2, v, 0", "wait_flag mte2, v, 0")
FILL_AND_SHOW = code(FILL, "set_flag v, mte3, 0", "wait_flag v, mte3, 0")
L0_FULL = """\
  copy_gm_to_cbuf_multi_nd2nz.b16 dst=0, src=r2, rows=128, columns=16, src_row_stride=16, \
dst_column_stride=128, dst_row_stride=1
  copy_gm_to_cbuf_multi_nd2nz.b16 dst=8192, src=r3, rows=16, columns=256, src_row_stride=256, \
dst_column_stride=16, dst_row_stride=1
  set_flag mte2, mte1, 0
  wait_flag mte2, mte1, 0
  load_cbuf_to_ca.b16 dst=0, src=0, repeat=8
  load_cbuf_to_cb.b16 dst=0, src=8192, repeat=16, transpose=1
  set_flag mte1, m, 0
  wait_flag mte1, m, 0"""


def mad(m: int, n: int, c: int = 0, init: int = 0) -> str:
    return f"mad.f16 c={c}, a=0, b=0, m={m}, k=16, n={n}, c_init={init}"
