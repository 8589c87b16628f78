"""Programs of a coupled core as text: a matrix product, a transposition, a tour of its paths."""

from __future__ import annotations

from pypto.target.assembly import assemble
from pypto.target.executable import Executable

FRAME = """\
.soc ascend910a
{buffers}
.program k aicore {{
{parameters}
{body}
  pipe_barrier all
  end
}}
.launch k grid={grid} ({arguments})
.inputs {inputs}
.results z
"""

# z[32, 48] = a[32, 64] x b[64, 48] of halves, accumulated in f32, halves again in UB.
MATMUL = """\
  // rows of GM to fractals of L1: one burst of one block for each row and 16 columns
  copy_gm_to_cbuf.b32 dst=0, src=r2, bursts=32, length=1, src_gap=3
  add r5, r2, 32
  copy_gm_to_cbuf.b32 dst=1024, src=r5, bursts=32, length=1, src_gap=3
  add r5, r2, 64
  copy_gm_to_cbuf.b32 dst=2048, src=r5, bursts=32, length=1, src_gap=3
  add r5, r2, 96
  copy_gm_to_cbuf.b32 dst=3072, src=r5, bursts=32, length=1, src_gap=3
  copy_gm_to_cbuf.b32 dst=8192, src=r3, bursts=64, length=1, src_gap=2
  add r5, r3, 32
  copy_gm_to_cbuf.b32 dst=10240, src=r5, bursts=64, length=1, src_gap=2
  add r5, r3, 64
  copy_gm_to_cbuf.b32 dst=12288, src=r5, bursts=64, length=1, src_gap=2
  set_flag mte2, mte1, 0
  wait_flag mte2, mte1, 0
  load_cbuf_to_ca.b16 dst=0, src=0, index=0, repeat=4, src_stride=2
  load_cbuf_to_ca.b16 dst=2048, src=0, index=1, repeat=4, src_stride=2
  load_cbuf_to_cb.b16 dst=0, src=8192, index=0, repeat=3, src_stride=4, transpose=1
  load_cbuf_to_cb.b16 dst=1536, src=8192, index=1, repeat=3, src_stride=4, transpose=1
  load_cbuf_to_cb.b16 dst=3072, src=8192, index=2, repeat=3, src_stride=4, transpose=1
  load_cbuf_to_cb.b16 dst=4608, src=8192, index=3, repeat=3, src_stride=4, transpose=1
  set_flag mte1, m, 0
  wait_flag mte1, m, 0
  mad.f16 c=0, a=0, b=0, m=32, k=64, n=48, c_init=1
  set_flag m, v, 0
  wait_flag m, v, 0
  copy_matrix_cc_to_ubuf.f32f16 dst=0, src=0, length=6, relu=1
  set_flag v, mte3, 0
  wait_flag v, mte3, 0
  copy_ubuf_to_gm.b32 dst=r4, src=0, bursts=32, length=1, dst_gap=2
  add r5, r4, 32
  copy_ubuf_to_gm.b32 dst=r5, src=1024, bursts=32, length=1, dst_gap=2
  add r5, r4, 64
  copy_ubuf_to_gm.b32 dst=r5, src=2048, bursts=32, length=1, dst_gap=2"""

# z[32, 16] = x[16, 32] transposed, two bytes each.
SQUARES = (
    "scatter_vnchwconv.b16 dst=4096, src=0, repeat=2, dst_step=2, dst_pair=1, dst_repeat=16,"
    " src_step=4, src_pair=2, src_repeat=1"
)
TRANSPOSE = f"""\
  copy_gm_to_ubuf.b32 dst=0, src=r2, length=32
  set_flag mte2, v, 0
  wait_flag mte2, v, 0
  {SQUARES}
  set_flag v, mte3, 0
  wait_flag v, mte3, 0
  copy_ubuf_to_gm.b32 dst=r3, src=4096, length=32"""

# z[37] = max(x, 0) * 2, by way of L1; the tail of the last block is never computed.
TOUR = """\
  copy_gm_to_ubuf.b32 dst=0, src=r2, length=3
  set_flag mte2, v, 0
  wait_flag mte2, v, 0
  set_vector_mask 0, 0x1fffffffff
  vrelu.f16 dst=256, src=0
  set_flag v, mte3, 0
  wait_flag v, mte3, 0
  copy_ubuf_to_cbuf.b32 dst=512, src=256, length=3
  set_flag mte3, mte1, 0
  wait_flag mte3, mte1, 0
  copy_cbuf_to_ubuf.b32 dst=1024, src=512, length=3
  set_flag mte1, v, 0
  wait_flag mte1, v, 0
  vadd.f16 dst=2048, src0=1024, src1=1024
  set_flag v, mte3, 1
  wait_flag v, mte3, 1
  copy_ubuf_to_gm.b32 dst=r3, src=2048, length=3"""


def matmul(body: str = MATMUL) -> Executable:
    """The product; r2, r3 and r4 are the addresses of a, b and z."""
    return coupled(body, {"a": "[32, 64]", "b": "[64, 48]", "z": "[32, 48]"})


def transposed(body: str = TRANSPOSE) -> Executable:
    """The transposition; r2 and r3 are the addresses of x and z."""
    return coupled(body, {"x": "[16, 32]", "z": "[32, 16]"})


def tour(body: str = TOUR) -> Executable:
    """Twice the positive part; r2 and r3 are the addresses of x and z."""
    return coupled(body, {"x": "[37]", "z": "[37]"})


def coupled(body: str, shapes: dict[str, str], grid: int = 1) -> Executable:
    """A kernel of halves whose last buffer, z, is the result; addresses from r2 on."""
    names = list(shapes)
    inputs = ", ".join(names[:-1])
    buffers = [
        f".buffer {name} {'result' if name == 'z' else 'input'} f16 {shape}"
        for name, shape in shapes.items()
    ]
    parameters = [
        f"  .parameter {name} buffer f16{' writes' if name == 'z' else ''}" for name in names
    ]
    loads = [f"  ldp r{number}, {name}" for number, name in enumerate(names, 2)]
    text = FRAME.format(
        buffers="\n".join(buffers),
        parameters="\n".join(parameters + loads),
        body=body,
        grid=grid,
        arguments=", ".join(names),
        inputs=inputs,
    )
    return assemble(text, "coupled.dvasm")


def without(body: str, *lines: str) -> str:
    """The body less the lines that begin so."""
    kept = [line for line in body.split("\n") if not line.strip().startswith(lines)]
    return "\n".join(kept)
