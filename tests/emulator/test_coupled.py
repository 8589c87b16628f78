"""A coupled core: values of hand-written programs, their hazards, their time, what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from pypto.emulator.hazards import check_executable
from pypto.emulator.run import run
from pypto.errors import CompileError, DeviceError
from pypto.target.assembly import assemble
from pypto.target.executable import Executable
from pypto.target.memory import CoreKind
from pypto.target.soc import soc
from tests.emulator.coupled_programs import (
    MATMUL,
    TOUR,
    TRANSPOSE,
    coupled,
    matmul,
    tour,
    transposed,
    without,
)

MACHINE = soc("ascend910a")
RANDOM = np.random.default_rng(910)


def halves(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float16)


def hazards(executable: Executable) -> list[str]:
    return [str(hazard) for hazard in check_executable(executable)]


def test_a_product_goes_through_all_memories() -> None:
    a, b = halves(32, 64), halves(64, 48)
    executable = matmul()
    assert hazards(executable) == []
    (z,) = run(executable, [a, b]).results
    product = np.zeros((32, 48), np.float32)
    for k in range(64):
        product += a[:, k : k + 1].astype(np.float32) * b[k].astype(np.float32)
    assert np.array_equal(z, np.maximum(product, 0).astype(np.float16))


def test_values_beyond_halves_become_infinite() -> None:
    a, b = np.full((32, 64), 100, np.float16), np.full((64, 48), 100, np.float16)
    (z,) = run(matmul(), [a, b]).results
    assert np.isposinf(z).all()


def test_squares_are_transposed() -> None:
    x = halves(16, 32)
    executable = transposed()
    assert hazards(executable) == []
    (z,) = run(executable, [x]).results
    assert np.array_equal(z, x.T)


def test_a_tail_goes_behind_the_values() -> None:
    x = halves(37)
    executable = tour()
    assert hazards(executable) == []
    (z,) = run(executable, [x]).results
    assert np.array_equal(z, 2 * np.maximum(x, 0))


@pytest.mark.parametrize(
    ("make", "body", "dropped", "pair"),
    [
        (matmul, MATMUL, "mte2, mte1, 0", ("copy_gm_to_cbuf.b32", "load_cbuf_to_c")),
        (matmul, MATMUL, "mte1, m, 0", ("load_cbuf_to_c", "mad.f16")),
        (matmul, MATMUL, "m, v, 0", ("mad.f16", "copy_matrix_cc_to_ubuf.f32f16")),
        (matmul, MATMUL, "v, mte3, 0", ("copy_matrix_cc_to_ubuf.f32f16", "copy_ubuf_to_gm.b32")),
        (transposed, TRANSPOSE, "mte2, v, 0", ("copy_gm_to_ubuf.b32", "scatter_vnchwconv.b16")),
        (transposed, TRANSPOSE, "v, mte3, 0", ("scatter_vnchwconv.b16", "copy_ubuf_to_gm.b32")),
        (tour, TOUR, "mte3, mte1, 0", ("copy_ubuf_to_cbuf.b32", "copy_cbuf_to_ubuf.b32")),
        (tour, TOUR, "mte1, v, 0", ("copy_cbuf_to_ubuf.b32", "vadd.f16")),
    ],
)
def test_a_dropped_flag_is_a_race(
    make: Callable[[str], Executable], body: str, dropped: str, pair: tuple[str, str]
) -> None:
    broken = without(body, f"set_flag {dropped}", f"wait_flag {dropped}")
    found = check_executable(make(broken))
    assert found
    assert found[0].code == "RACE_RAW"
    assert found[0].first is not None
    assert found[0].first.mnemonic.startswith(pair[0])
    assert found[0].second.mnemonic.startswith(pair[1])


REUSE = """\
  set_flag v, m, 0
  set_flag v, mte1, 0
  wait_flag v, m, 0
  mad.f16 c=0, a=0, b=0, m=16, k=16, n=16, c_init=1
  set_flag m, v, 0
  wait_flag m, v, 0
  copy_matrix_cc_to_ubuf.f32 dst=0, src=0, length=1
  set_flag v, m, 0
  wait_flag v, mte1, 0
  copy_cbuf_to_ubuf.b32 dst=4096, src=0, length=8
  set_flag mte1, v, 0
  wait_flag mte1, v, 0
  pipe_barrier v
  vadd.f32 dst=8192, src0=0, src1=4096, repeat=2
  set_flag v, mte1, 0
  wait_flag v, m, 0
  mad.f16 c=0, a=0, b=0, m=16, k=16, n=16, c_init=1
  wait_flag v, mte1, 0
  copy_cbuf_to_ubuf.b32 dst=4096, src=512, length=8"""


def test_the_ways_back_from_the_vector_pipe_order_reuse() -> None:
    """V to M before L0C is written again, V to MTE1 before UB is."""
    races = [h for h in check_executable(tour(REUSE)) if h.code.startswith("RACE")]
    assert [h.detail for h in races] == []
    for pair, first, second in (
        ("v, m, 0", "copy_matrix_cc_to_ubuf.f32", "mad.f16"),
        ("v, mte1, 0", "vadd.f32", "copy_cbuf_to_ubuf.b32"),
    ):
        broken = without(REUSE, f"set_flag {pair}", f"wait_flag {pair}")
        races = [h for h in check_executable(tour(broken)) if h.code == "RACE_WAR"]
        assert (first, second) in [(h.first.mnemonic, h.second.mnemonic) for h in races if h.first]


def test_a_result_must_be_written_in_the_end() -> None:
    """A store of whole blocks may carry what nobody wrote, but not to a result for good."""
    short = TOUR.replace("0x1fffffffff", "0xfffffffff")
    (found,) = check_executable(tour(short))
    assert found.code == "UNWRITTEN"
    assert "nothing has written 2 bytes of result z" in str(found)
    again = TOUR.split("\n")[-1]
    mended = "\n".join((short, "  set_flag mte3, v, 0", "  wait_flag mte3, v, 0",
                        "  set_vector_mask 0, 0x1fffffffff",
                        "  vector_dup.f16 dst=2048, scalar=1.0",
                        "  set_flag v, mte3, 0", "  wait_flag v, mte3, 0", again))  # fmt: skip
    assert hazards(tour(mended)) == []


def test_what_lies_behind_values_may_be_computed_with() -> None:
    """Though a store has put bytes there that nobody wrote."""
    body = """\
  set_vector_mask 0, 0x1f
  vector_dup.f16 dst=0, scalar=1.0
  set_flag v, mte3, 0
  wait_flag v, mte3, 0
  copy_ubuf_to_gm.b32 dst=r3, src=0, length=1
  set_flag mte3, mte2, 0
  wait_flag mte3, mte2, 0
  copy_gm_to_ubuf.b32 dst=512, src=r3, length=2
  set_flag mte2, v, 0
  wait_flag mte2, v, 0
  set_vector_mask 0, 0xffffffff
  vrelu.f16 dst=1024, src=512"""
    assert hazards(coupled(body, {"x": "[5]", "z": "[5]"})) == []


def test_blocks_may_go_on_behind_the_values_but_not_for_long() -> None:
    line = "  copy_gm_to_ubuf.b32 dst=0, src=r2, length={length}"
    assert run(tour(line.format(length=4)), [halves(37)]).results
    with pytest.raises(DeviceError, match=r"copy_gm_to_ubuf\.b32 touches bytes 0 to 160 of gm"):
        run(tour(line.format(length=5)), [halves(37)])
    (found,) = [h for h in check_executable(tour(line.format(length=5))) if h.space == "gm"][:1]
    assert "leaves buffer x" in str(found)


def test_what_lies_behind_values_is_poison() -> None:
    body = """\
  copy_gm_to_ubuf.b32 dst=0, src=r2, length=4
  set_flag mte2, mte3, 0
  wait_flag mte2, mte3, 0
  copy_ubuf_to_gm.b32 dst=r3, src=64, length=2"""
    (z,) = run(tour(body), [halves(37)]).results
    assert (z.view(np.uint8)[10:64] == 0xFF).all()


def test_a_core_has_one_port_for_both_of_its_halves() -> None:
    """Loads to L1 and to UB of one core share its port; stores go at the rate of UB."""
    load = "  copy_gm_to_{to}.b32 dst=0, src=r2, length=4096"
    both = "\n".join(load.format(to=to) for to in ("cbuf", "ubuf"))
    shapes = {"x": "[65536]", "z": "[65536]"}
    warm = load.format(to="cbuf") + "\n  pipe_barrier all\n"
    x = halves(65536)

    def cycles(body: str) -> int:
        return run(coupled(warm + body, shapes), [x]).profile.launches[0].cycles

    size = 4096 * 32
    one, two = cycles(load.format(to="ubuf")), cycles(both)
    assert two - one == pytest.approx(size / MACHINE.gm_port(CoreKind.AICORE), abs=3)
    store = "  copy_ubuf_to_gm.b32 dst=r3, src=0, length=4096"
    assert cycles(store) - cycles("") == pytest.approx(
        size / MACHINE.ub_to_gm + MACHINE.gm_latency_write, rel=0.01
    )


def test_all_cores_run_and_no_more() -> None:
    body = "  pipe_barrier v"
    shapes = {"x": "[16]", "z": "[16]"}
    profile = run(coupled(body, shapes, grid=32), [halves(16)]).profile
    assert profile.launches[0].cores == 32
    with pytest.raises(CompileError, match="grid of 33; ascend910a has 32 aicore cores"):
        coupled(body, shapes, grid=33)


SQUARE = "scatter_vnchwconv.b16 dst=0, src=0, src_step=2, src_pair=1, "
MAD = "mad.f16 c=0, a=0, b=0, m=16, k=16, n=16, "


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vbrcb.u16 dst=0, src=0", "ascend910a (architecture 1001) has no vbrcb.u16; ascend910b1"),
        ("vadd.i16 dst=0, src0=0, src1=0", "has no vadd.i16; ascend910b1 and"),
        ("set_mask_count", "ascend910a (architecture 1001) has no set_mask_count"),
        ("copy_gm_to_ubuf_align.b16 dst=0, src=r2, length=2", "no copy_gm_to_ubuf_align.b16"),
        ("vrelu.f16 dst=0, src=0, repeat=0", "vrelu.f16: repeat = 0; the machine takes 1..255"),
        (
            "vsel.f16 dst=0, src0=0, src1=0, repeat=2",
            "vsel.f16: repeat = 2; the machine takes 1 only",
        ),
        (
            "vcgadd.f16 dst=0, src=0, dst_repeat=0",
            "vcgadd.f16: dst_repeat = 0; the machine takes 1..65535",
        ),
        (
            "load_cbuf_to_ca.b16 dst=0, src=0, repeat=2, dst_gap=1",
            "load_cbuf_to_ca.b16: dst_gap = 1; the machine takes 0 only",
        ),
        (MAD + "unit_flag=2", "mad.f16: unit_flag = 2; the machine takes 0 only"),
        ("set_atomic 2", "atomic = 2; ascend910a takes 0 or 1"),
        ("set_cmpmask 8", "compare_mask = 8; ascend910a takes a multiple of 16"),
        ("set_flag mte2, v, 4", "event id 4, legal is 0..3"),
        ("set_flag m, fix, 0", "no event from m to fix on a aicore core"),
        ("pipe_barrier fix", "a aicore core has no pipe fix"),
        (
            SQUARE + "dst_step=1, dst_pair=3",
            "dst_pair = 3; the machine takes a distance at which no two of the 16 rows of dst"
            " coincide",
        ),
        (
            SQUARE + "dst_step=2, dst_pair=1, src_repeat=1",
            "src_repeat = 1; the machine takes 0 where repeat is 1",
        ),
        (
            SQUARE + "dst_step=1, dst_pair=8, dst_repeat=16, repeat=2",
            "dst_repeat = 16; the machine takes 8 * dst_step unless dst_step = 2 * dst_pair",
        ),
    ],
)
def test_what_the_machine_lacks_is_refused(line: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        tour(f"  {line}")
    assert message in str(caught.value)
    assert "coupled.dvasm" in str(caught.value)


def test_a_split_core_refuses_what_only_coupled_ones_have() -> None:
    text = ".soc ascend910b1\n.program k vector {{\n  {line}\n  end\n}}\n"
    with pytest.raises(CompileError) as caught:
        assemble(text.format(line="copy_cbuf_to_ubuf.b32 dst=0, src=0, length=1"), "k.dvasm")
    assert str(caught.value).startswith("k.dvasm:3:3: ")
    message = "ascend910b1 (architecture 2201) has no copy_cbuf_to_ubuf.b32;"
    message += " ascend310p3 and ascend910a have it"
    assert message in str(caught.value)


def test_a_kind_of_core_that_is_not_there_is_refused() -> None:
    text = ".soc {soc}\n.program k {core} {{\n  end\n}}\n.launch k grid=1 ()\n"
    message = "step 0 (k) runs on vector cores; ascend910a has aicore cores"
    with pytest.raises(CompileError, match=re.escape(message)):
        assemble(text.format(soc="ascend910a", core="vector"))
    message = "step 0 (k) runs on aicore cores; ascend910b1 has cube and vector cores"
    with pytest.raises(CompileError, match=re.escape(message)):
        assemble(text.format(soc="ascend910b1", core="aicore"))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ("mov r5, 0", "vrelu.f16 dst=0, src=0, repeat=r5"),
            "vrelu.f16: repeat is 0 (from r5); ascend910a takes 1..255",
        ),
        (
            ("mov r5, 2", "set_atomic r5", "copy_ubuf_to_gm.b32 dst=r3, src=0, length=1"),
            "copy_ubuf_to_gm.b32: atomic is 2 (from mode register atomic); ascend910a takes 0 or 1",
        ),
        (
            ("mov r5, 8", "set_cmpmask r5", "vsel.f16 dst=0, src0=0, src1=0"),
            "mask is 8 (from mode register compare_mask); ascend910a takes a multiple of 16",
        ),
        (("mov r5, 4", "set_flag mte2, v, r5"), "event id 4, legal is 0..3"),
    ],
)
def test_registers_are_checked_while_the_program_runs(lines: tuple[str, ...], message: str) -> None:
    executable = tour("\n".join(f"  {line}" for line in lines))
    with pytest.raises(DeviceError) as caught:
        run(executable, [halves(37)])
    assert message in str(caught.value)


def test_floats_are_added_atomically() -> None:
    body = """\
  copy_gm_to_ubuf.b32 dst=0, src=r2, length=2
  copy_gm_to_ubuf.b32 dst=64, src=r3, length=2
  set_flag mte2, mte3, 0
  wait_flag mte2, mte3, 0
  copy_ubuf_to_gm.b32 dst=r3, src=0, length=2
  pipe_barrier mte3
  set_atomic 1
  copy_ubuf_to_gm.b32 dst=r3, src=0, length=2
  set_atomic 0"""
    x = np.arange(16, dtype=np.float32)
    (z,) = run(coupled(body, {"x": "[32]", "z": "[32]"}), [x.view(np.float16)]).results
    assert np.array_equal(z.view(np.float32), 2 * x)
