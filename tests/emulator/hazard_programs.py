"""Programs for the checker, as text: a frame for each kind of core, and two whole kernels."""

from __future__ import annotations

from pypto.target.assembly import assemble
from pypto.target.executable import Executable

VECTOR = """\
.soc ascend910b1
.buffer x input f16 [4096]
.buffer y result f16 [4096]
.program k vector {{
  .parameter x buffer f16
  .parameter y buffer f16 writes
  .parameter t scalar
  ldp r2, x
  ldp r3, y
  ldp r4, t
{body}
  pipe_barrier all
  end
}}
.launch k grid={grid} (x, y, {trips})
.inputs x
.results y
"""

CUBE = """\
.soc ascend910b1
.buffer a input f16 [65536]
.buffer b input f16 [65536]
.buffer c result f32 [131072]
.program k cube {{
  .parameter a buffer f16
  .parameter b buffer f16
  .parameter c buffer f32 writes
  .parameter tiles scalar
  .parameter steps scalar
  ldp r2, a
  ldp r3, b
  ldp r4, c
  ldp r5, tiles
  ldp r6, steps
{body}
  pipe_barrier all
  end
}}
.launch k grid=1 (a, b, c, {tiles}, {steps})
.inputs a, b
.results c
"""


def vector(body: str, trips: int = 0, grid: int = 1) -> Executable:
    """A vector kernel: r2 is the address of x, r3 of y, r4 the number of trips."""
    return assemble(VECTOR.format(body=body, trips=trips, grid=grid), "micro.dvasm")


def cube(body: str, tiles: int = 1, steps: int = 1) -> Executable:
    """A cube kernel: r2, r3, r4 are the addresses of a, b, c; r5 tiles, r6 steps."""
    return assemble(CUBE.format(body=body, tiles=tiles, steps=steps), "micro.dvasm")


def load(to: int | str, source: str = "r2", length: int = 256) -> str:
    return f"copy_gm_to_ubuf_align.b16 dst={to}, src={source}, length={length}"


def store(source: int | str, to: str = "r3", length: int = 256) -> str:
    return f"copy_ubuf_to_gm_align.b16 dst={to}, src={source}, length={length}"


def add(to: int | str, one: int | str, other: int | str) -> str:
    return f"vadd.f16 dst={to}, src0={one}, src1={other}"


def code(*lines: str) -> str:
    return "\n".join(lines)


def without(text: str, group: str) -> str:
    """The text without the lines whose comment names a group."""
    return code(*(line for line in text.splitlines() if not line.endswith(f"// {group}")))


# c = a + b over r4 tiles, two slots. Forward flags f (load to add) and g (add to store), rings b
# (add back to load) and d (store back to add); every line of a group bears its name.
ELEMENTWISE = f"""\
  set_flag v, mte2, 0 // b
  set_flag v, mte2, 1 // b
  set_flag mte3, v, 0 // d
  set_flag mte3, v, 1 // d
  mov r5, 0
  bge r5, r4, done
loop:
  rem r6, r5, 2
  mul r7, r6, 4096
  add r8, r7, 1024
  add r9, r7, 2048
  wait_flag v, mte2, r6 // b
  {load("r7")}
  {load("r8")}
  set_flag mte2, v, r6 // f
  wait_flag mte2, v, r6 // f
  wait_flag mte3, v, r6 // d
  {add("r9", "r7", "r8")}
  set_flag v, mte2, r6 // b
  set_flag v, mte3, r6 // g
  wait_flag v, mte3, r6 // g
  {store("r9")}
  set_flag mte3, v, r6 // d
  add r3, r3, 256
  add r5, r5, 1
  blt r5, r4, loop
done:
  wait_flag v, mte2, 0 // b
  wait_flag v, mte2, 1 // b
  wait_flag mte3, v, 0 // d
  wait_flag mte3, v, 1 // d"""

# r5 output tiles of 128 x 256, r6 steps of 16 in K each; L1 and L0 have two slots, L0C one.
# Forward A, B (GM to L1), m (L0 to mad), c (mad to fixpipe); rings a, b, n, k back.
# The slot of a step is r9, which restarts with every tile: r12 = step modulo 2.
MATMUL = """\
  set_flag mte1, mte2, 0 // a
  set_flag mte1, mte2, 1 // a
  set_flag mte1, mte2, 2 // b
  set_flag mte1, mte2, 3 // b
  set_flag m, mte1, 0 // n
  set_flag m, mte1, 1 // n
  set_flag fix, m, 0 // k
  mov r7, 0
  mov r14, 0
  bge r7, r5, done
tile:
  wait_flag fix, m, 0 // k
  mov r8, 0
  bge r8, r6, stored
step:
  rem r12, {counter}, 2
  add r13, r12, 2
  mul r15, r12, 4096
  mul r16, r12, 8192
  add r17, r16, 65536
  seq r18, r8, 0
  wait_flag mte1, mte2, r12 // a
  copy_gm_to_cbuf_multi_nd2nz.b16 dst=r15, src=r2, rows=128, columns=16, src_row_stride=16, \
dst_column_stride=128, dst_row_stride=1
  set_flag mte2, mte1, r12 // A
  wait_flag mte1, mte2, r13 // b
  copy_gm_to_cbuf_multi_nd2nz.b16 dst=r17, src=r3, rows=16, columns=256, src_row_stride=256, \
dst_column_stride=16, dst_row_stride=1
  set_flag mte2, mte1, r13 // B
  wait_flag mte2, mte1, r12 // A
  wait_flag m, mte1, r12 // n
  load_cbuf_to_ca.b16 dst=r15, src=r15, repeat=8
  set_flag mte1, mte2, r12 // a
  wait_flag mte2, mte1, r13 // B
  load_cbuf_to_cb.b16 dst=r16, src=r17, repeat=16, transpose=1
  set_flag mte1, mte2, r13 // b
  set_flag mte1, m, r12 // m
  wait_flag mte1, m, r12 // m
  mad.f16 c=0, a=r15, b=r16, m=128, k=16, n=256, c_init=r18
  set_flag m, mte1, r12 // n
  add r8, r8, 1
  add r14, r14, 1
  blt r8, r6, step
stored:
  set_flag m, fix, 0 // c
  wait_flag m, fix, 0 // c
  copy_matrix_cc_to_gm.f32 dst=r4, src=0, n=256, m=128, dst_stride=256, src_stride=128
  set_flag fix, m, 0 // k
  add r4, r4, 131072
  add r7, r7, 1
  blt r7, r5, tile
done:
  wait_flag mte1, mte2, 0 // a
  wait_flag mte1, mte2, 1 // a
  wait_flag mte1, mte2, 2 // b
  wait_flag mte1, mte2, 3 // b
  wait_flag m, mte1, 0 // n
  wait_flag m, mte1, 1 // n
  wait_flag fix, m, 0 // k"""
