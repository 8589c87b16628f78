"""Rows of a matrix in bursts of one block: what is chosen is legal and takes the fewest."""

from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st

from pypto.passes.tile import block_loads
from pypto.passes.tile.block_loads import goes_by_columns, load_instructions
from pypto.target.limits import field_on

MNEMONIC = "copy_gm_to_cbuf.b32"


def test_examples():
    assert doctest.testmod(block_loads).failed == 0


def test_limits_are_those_of_the_instruction():
    assert field_on("1001", MNEMONIC, "bursts").high == block_loads.MAX_BURSTS
    assert field_on("1001", MNEMONIC, "src_gap").high == block_loads.MAX_GAP


@given(st.integers(1, 9000), st.integers(1, 600), st.integers(1, 3_000_000))
def test_columns_are_gathered_where_that_is_legal_and_shorter(rows, blocks, stride):
    legal = stride % 32 == 0 and rows <= 4095 and stride // 32 - 1 <= 65535
    assert goes_by_columns(rows, blocks, stride) == (legal and blocks < rows)
    assert load_instructions(rows, blocks, stride) == (min(rows, blocks) if legal else rows)


def test_a_stride_known_at_launch_goes_by_rows():
    assert not goes_by_columns(rows=128, blocks=1, stride=None)
