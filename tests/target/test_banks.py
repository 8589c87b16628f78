"""Bank conflicts: the measured table, and the closed form against a count block by block."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto.target.banks import GROUPS, LAYER_BLOCKS, NO_WALK, Walk, conflict_cycles

HEAD = 24
REPEATS = 64


def contiguous(address: int, blocks: int = 1, repeats: int = 8) -> Walk:
    return Walk(address // 32, 8, blocks, repeats)


# vadd.f32 of 64 repeats on 910B1 [M asc-devkit bank_conflict_ub]: addresses, measured cycles,
# how far the rule may be off.
MEASURED = [
    ((0, 0x10100, 0x20000), 88, 0.03),
    ((0, 0x4000, 0x10000), 154, 0.03),
    ((0, 0x10000, 0x14100), 154, 0.03),
    ((0, 0x10100, 0x4000), 88, 0.03),
    ((0, 0x10100, 0x4020), 139, 0.10),
    ((0, 0x10100, 0x10100), 88, 0.03),
]


@pytest.mark.parametrize(("addresses", "cycles", "tolerance"), MEASURED)
def test_the_measured_table(addresses: tuple[int, int, int], cycles: int, tolerance: float) -> None:
    first, second, target = map(contiguous, addresses)
    found = HEAD + conflict_cycles(target, first, second, REPEATS, 1)
    assert found == pytest.approx(cycles, rel=tolerance)


@pytest.mark.parametrize(("stride", "cycles", "tolerance"), [(1, 133, 0.10), (8, 88, 0.03)])
def test_the_measured_table_with_one_block_per_repeat(
    stride: int, cycles: int, tolerance: float
) -> None:
    first = contiguous(0, 0, stride)
    found = HEAD + conflict_cycles(*2 * [contiguous(0x10100)], first, REPEATS, 1)
    assert found == pytest.approx(cycles, rel=tolerance)


@pytest.mark.parametrize(("stride", "cycles"), [(1, 1), (2, 1), (4, 2), (8, 4), (16, 8), (9, 1)])
def test_a_strided_target_writes_so_many_blocks_to_one_group(stride: int, cycles: int) -> None:
    target = Walk(0, 8, stride, 1)
    assert conflict_cycles(target, Walk(LAYER_BLOCKS, 8, 1, 8), NO_WALK, 100, 1) == (
        1 + 99 * cycles
    )


def crowds(walk: Walk, repeat: int) -> Counter[int]:
    """Blocks of a repeat per group."""
    start = walk.start + repeat * walk.repeat_stride
    count = walk.blocks if walk.block_stride else min(1, walk.blocks)
    return Counter((start + i * walk.block_stride) % GROUPS for i in range(count))


def layer(walk: Walk, repeat: int) -> int:
    return (walk.start + repeat * walk.repeat_stride) // LAYER_BLOCKS


def counted(target: Walk, sources: tuple[Walk, Walk], repeats: int, slope: int) -> int:
    """The rule, group by group and bank by bank; a repeat lies in the layer it begins in."""
    total = 0
    for repeat in range(repeats):
        read = [crowds(walk, repeat) for walk in sources]
        written = crowds(target, repeat - 1) if repeat else Counter()
        cycles = slope
        for group in range(GROUPS):
            cycles = max(cycles, read[0][group] + read[1][group], written[group])
            if written[group]:
                met = [
                    one[group]
                    for one, walk in zip(read, sources, strict=True)
                    if layer(walk, repeat) == layer(target, repeat - 1)
                ]
                cycles = max(cycles, written[group] + sum(met) if sum(met) else 0)
        total += cycles
    return total


def walks(least_stride: int) -> st.SearchStrategy[Walk]:
    """Operands whose blocks lie in all their groups alike."""
    blocks = st.tuples(st.integers(1, 8), st.sampled_from([1, 2, 3, 17])) | st.tuples(
        st.just(8), st.sampled_from([least_stride, 4, 8, 16])
    )
    return st.builds(
        lambda start, shape, stride: Walk(start, *shape, stride),
        st.integers(0, 6143),
        blocks,
        st.sampled_from([0, 1, 3, 7, 8, 16, 64, 255]),
    )


@given(walks(1), walks(0), walks(0), st.integers(0, 80), st.integers(1, 4))
def test_the_closed_form_counts_what_the_rule_says(
    target: Walk, first: Walk, second: Walk, repeats: int, slope: int
) -> None:
    found = conflict_cycles(target, first, second, repeats, slope)
    assert found == counted(target, (first, second), repeats, slope)
