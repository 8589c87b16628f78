"""The checker on bytes: who shares them, who has written them, where they may lie."""

from __future__ import annotations

import pytest

from pypto.emulator.hazards import (
    check_executable,
)
from pypto.target.assembly import assemble
from pypto.target.memory import PIPES, Pipe
from pypto.target.soc import soc
from tests.emulator.hazard_programs import (
    add,
    code,
    cube,
    load,
    store,
    vector,
)
from tests.emulator.hazard_verdicts import (
    FILL_AND_SHOW,
    FLAG,
    codes,
    hazards,
)

MACHINE = soc()
M = PIPES.index(Pipe.M)


ROWS = "\n".join([FILL_AND_SHOW, "mul r5, r0, {stride}", "add r3, r3, r5", store(0, length=14)])


def test_cores_share_global_memory() -> None:
    assert codes(vector(ROWS.format(stride=14), grid=2)) == []
    (found,) = hazards(vector(ROWS.format(stride=12), grid=2))
    assert found.code == "RACE_WAW"
    assert (found.stop - found.start, found.buffer) == (2, "y")
    assert found.first is not None
    assert (found.first.core, found.second.core) == (0, 1)
    assert "give the bytes to one core only" in found.cure


SHOWN = code("set_flag mte2, v, 0", "wait_flag mte2, v, 0")
UNSET = [
    ("arithmetic", add(512, 0, 0), 1),
    ("store", store(0), 1),
    ("reduce over a tail", code(load(0, length=200), FLAG, "vcadd.f16 dst=512, src=0"), 1),
    (
        "reduce over the valid part",
        code(
            load(0, length=200), FLAG, "set_mask_count", "set_vector_mask 0, 100",
            "vcadd.f16 dst=512, src=0",
        ),
        0,
    ),
    (
        "a move carries the mark",
        code("copy_ubuf_to_ubuf.b32 dst=512, src=0, length=8", "pipe_barrier v",
             add(1024, 512, 512)),
        1,
    ),
    ("a move alone is harmless", "copy_ubuf_to_ubuf.b32 dst=512, src=0, length=8", 0),
    (
        "bits of lanes nobody selects by",
        code(
            load(0, length=200), FLAG, "vcmpvs_gt.f16 dst=1024, src=0, scalar=0.0",
            "set_mask_count", "set_vector_mask 0, 100", "set_cmpmask 1024", "pipe_barrier v",
            "vsel.f16 dst=512, src0=0, src1=0",
        ),
        0,
    ),
    (
        "bits of lanes nobody wrote",
        code(
            load(0, length=200), FLAG, "vcmpvs_gt.f16 dst=1024, src=0, scalar=0.0",
            "set_mask_count", "set_vector_mask 0, 120", "set_cmpmask 1024", "pipe_barrier v",
            "vsel.f16 dst=512, src0=2048, src1=2048",
        ),
        1,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "count"), [u[1:] for u in UNSET], ids=[u[0] for u in UNSET])
def test_bytes_nobody_wrote(body: str, count: int) -> None:
    found = hazards(vector(body))
    assert [hazard.code for hazard in found] == ["UNINIT_READ"] * count


TAILS = """\
  copy_gm_to_cbuf_multi_nd2nz.b16 dst=0, src=r2, rows=7, columns=64, src_row_stride=64, \
dst_column_stride=16, dst_row_stride=1
  copy_gm_to_cbuf_multi_nd2nz.b16 dst=8192, src=r3, rows=64, columns=20, src_row_stride=20, \
dst_column_stride=64, dst_row_stride=1
  set_flag mte2, mte1, 0
  wait_flag mte2, mte1, 0
  load_cbuf_to_ca.b16 dst=0, src=0, repeat=5
  load_cbuf_to_cb.b16 dst=0, src=8192, repeat=1, transpose=1
  load_cbuf_to_cb.b16 dst=512, src=10240, repeat=1, transpose=1
  load_cbuf_to_cb.b16 dst=1024, src=8704, repeat=1, transpose=1
  load_cbuf_to_cb.b16 dst=1536, src=10752, repeat=1, transpose=1
  load_cbuf_to_cb.b16 dst=2048, src=9216, repeat=1, transpose=1
  load_cbuf_to_cb.b16 dst=2560, src=11264, repeat=1, transpose=1
  load_cbuf_to_cb.b16 dst=3072, src=9728, repeat=1, transpose=1
  load_cbuf_to_cb.b16 dst=3584, src=11776, repeat=1, transpose=1
  set_flag mte1, m, 0
  wait_flag mte1, m, 0
  mad.f16 c=0, a=0, b=0, m={m}, k={k}, n={n}, c_init={init}
  set_flag m, fix, 0
  wait_flag m, fix, 0
  copy_matrix_cc_to_gm.f32 dst=r4, src=0, n={width}, m={height}, dst_stride=64, src_stride=16"""


@pytest.mark.parametrize(
    ("shape", "mnemonics"),
    [
        ({}, []),
        ({"n": 32, "width": 32}, []),  # the tail of a row is filled with zeros
        ({"m": 8}, ["mad.f16"]),
        ({"k": 72}, ["mad.f16"]),
        ({"init": 0}, ["mad.f16"]),
        ({"height": 8}, ["copy_matrix_cc_to_gm.f32"]),
        ({"width": 21}, ["copy_matrix_cc_to_gm.f32"]),
    ],
)
def test_a_multiplication_uses_its_valid_part_only(
    shape: dict[str, int], mnemonics: list[str]
) -> None:
    sizes = {"m": 7, "k": 64, "n": 20, "init": 1, "width": 20, "height": 7} | shape
    found = hazards(cube(TAILS.format(**sizes)))
    assert [hazard.code for hazard in found] == ["UNINIT_READ"] * len(mnemonics)
    assert [hazard.second.mnemonic for hazard in found] == mnemonics


@pytest.mark.parametrize(
    ("body", "code_", "message"),
    [
        (load("r5"), "OUT_OF_BOUNDS", "dst of copy_gm_to_ubuf_align.b16 leaves ub, which holds"),
        (load(0, "r6"), "OUT_OF_BOUNDS", "src of copy_gm_to_ubuf_align.b16 leaves buffer x"),
        (load(0, 10**9), "OUT_OF_BOUNDS", "lies in no buffer of the launch"),
        (
            code(FILL_AND_SHOW, store(0, "r2")),
            "OUT_OF_BOUNDS",
            "writes buffer x, which the kernel may only read",
        ),
        (
            "vector_dup.f16 dst=0, scalar=1.0, repeat=r7",
            "ILLEGAL_OPERAND",
            "vector_dup.f16: repeat = 256; the machine takes 0..255",
        ),
    ],
)
def test_bounds(body: str, code_: str, message: str) -> None:
    setup = code("mov r5, 196608", "sub r5, r5, 128", "add r6, r2, 7938", "mov r7, 256")
    (found,) = hazards(vector(code(setup, body)))
    assert found.code == code_
    assert message in str(found)


TWO_LAUNCHES = """\
.soc ascend910b1
.buffer x input f16 [128]
.buffer t temporary f16 [128] bytes=256 offset=0
.buffer y result f16 [128]
.program copy vector {
  .parameter x buffer f16
  .parameter y buffer f16 writes
  ldp r2, x
  ldp r3, y
  copy_gm_to_ubuf_align.b16 dst=0, src=r2, length=256
  set_flag mte2, mte3, 0
  wait_flag mte2, mte3, 0
  copy_ubuf_to_gm_align.b16 dst=r3, src=0, length=256
  pipe_barrier all
  end
}
.launch copy grid=1 (FIRST)
.launch copy grid=1 (SECOND)
.inputs x
.results y
"""


def test_values_reach_the_next_launch() -> None:
    def found(first: str, second: str) -> list[str]:
        text = TWO_LAUNCHES.replace("FIRST", first).replace("SECOND", second)
        return [hazard.code for hazard in check_executable(assemble(text), [(128,)])]

    assert found("x, t", "t, y") == []
    assert found("t, y", "x, t") == ["UNINIT_READ"]
    assert found("x, t", "x, t") == ["UNWRITTEN"]
