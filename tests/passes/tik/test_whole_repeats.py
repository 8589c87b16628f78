"""Counted vector instructions without a counter: which repeats and lanes take part."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block

from pypto.dialects.emitter import Emitter, Index
from pypto.passes.tik.lowering_state import Lowering
from pypto.passes.tik.whole_repeats import factor_of
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.limits import check_fields
from pypto.target.memory import Space
from pypto.target.soc import soc
from tests.passes.tik.tik_runner import trace_of

MACHINE = "ascend910a"
LANES = 64
LARGEST = 3 * 255 * LANES
COUNTS = (0, 1, 63, 64, 65, 300, 255 * LANES, 255 * LANES + 1, 2 * 255 * LANES + 130, LARGEST)


def absolute(count: int, dynamic: bool, room: int = LARGEST) -> list[dict[str, int]]:
    """The fields of all instructions for ``vabs.f32`` of ``count`` elements in a buffer."""

    def body(state: Lowering, scalar) -> None:
        extent: Index = scalar if dynamic else count
        pointer = state.acquire(state.allocate("buffer", Space.UB, 4 * room))
        state.vector("vabs.f32", extent, dst=pointer, src=pointer)

    return [fields for _, fields in trace_of(body, MACHINE, count)]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("count", COUNTS)
def test_every_element_takes_part_once(count: int, dynamic: bool) -> None:
    row, hits = BY_MNEMONIC["vabs.f32"], np.zeros(LARGEST, int)
    for fields in absolute(count, dynamic):
        check_fields(row, fields, soc(MACHINE))
        lanes = np.array([lane for lane in range(LANES) if fields["mask_low"] >> lane & 1])
        for repeat in range(fields["repeat"]):
            hits[fields["dst"] // 4 + repeat * LANES + lanes] += 1
        assert fields["src"] == fields["dst"]
    np.testing.assert_array_equal(hits, np.arange(LARGEST) < count)


@pytest.mark.parametrize("count", [0, 1, 63, 64])
def test_one_repeat_is_one_masked_instruction(count: int) -> None:
    assert len(absolute(count, True, LANES)) == min(count, 1)


@pytest.mark.parametrize("machine", ["ascend910b1", MACHINE])
def test_each_address_advances_at_its_own_stride(machine: str) -> None:
    """130 halves become floats: lanes are those of the wider type."""

    def body(state: Lowering, scalar) -> None:
        narrow, wide = (state.temporary(label, 1024) for label in ("narrow", "wide"))
        state.vector("vconv_f162f32", 130, dst=wide, src=narrow, src_repeat=4)

    places = [
        (fields["src"], fields["dst"] - 1024, fields["repeat"], fields["mask_low"])
        for _, fields in trace_of(body, machine)
    ]
    if machine == MACHINE:
        assert places == [(0, 0, 2, -1), (256, 512, 1, 0b11)]
    else:
        assert places == [(0, 0, 1, 130)]


def test_repeats_of_a_block_that_all_lanes_read_stay_there() -> None:
    def body(state: Lowering, scalar) -> None:
        target, block = (state.temporary(label, 512) for label in ("target", "block"))
        state.vector(
            "vadd.f32", 100, dst=target, src0=target, src1=block, src1_block=0, src1_repeat=0
        )

    assert [fields["src1"] for _, fields in trace_of(body, MACHINE)] == [512, 512]


def test_known_factors() -> None:
    block = Block(arg_types=[IndexType()])
    emit, value = Emitter.at_end(block), block.args[0]
    assert factor_of(24) == 24
    assert factor_of(value) == 1
    assert factor_of(emit.mul(value, 48)) == 48
    assert factor_of(emit.mul(emit.round_up(value, 16), 3)) == 48
    assert factor_of(emit.value(arith.AddiOp, value, emit.index(16))) == 1
