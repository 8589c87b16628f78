"""The pure arithmetic of fusion: how domains collapse and which kernels are allowed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto.passes.tensor.iteration_space import (
    IterationSpace,
    Kind,
    Member,
    broadcast_domain,
    collapse,
    fusible_space,
    iteration_space,
)


def elementwise(*operands, sources=(), cheap=False) -> Member:
    result = broadcast_domain(operands)
    assert result is not None
    return Member(operands, result, sources, (), cheap)


def reduction(operand, *axes, sources=()) -> Member:
    result = tuple(1 if axis in axes else extent for axis, extent in enumerate(operand))
    return Member((operand,), result, sources, axes)


@pytest.mark.parametrize(
    ("members", "axes", "kind"),
    [
        ([elementwise((2, 3, 4), (2, 3, 4))], ((0, 1, 2),), Kind.ELEMENTWISE),
        ([elementwise((2, 3, 4), (4,))], ((0, 1), (2,)), Kind.ELEMENTWISE),
        ([elementwise((2, 3, 4), (2, 1, 4))], ((0,), (1,), (2,)), Kind.ELEMENTWISE),
        ([elementwise((2, 1, 4), (2, 1, 4))], ((0, 2),), Kind.ELEMENTWISE),
        ([elementwise((), ())], (), Kind.ELEMENTWISE),
        ([reduction((2, 3, 4), 2)], ((0, 1), (2,)), Kind.ROW),
        ([reduction((2, 3, 4), 1, 2)], ((0,), (1, 2)), Kind.ROW),
        ([reduction((2, 3, 4), 0)], ((0,), (1, 2)), Kind.COLUMN),
        ([reduction((2, 3, 4), 1)], ((0,), (1,), (2,)), Kind.COLUMN),
        ([reduction((2, 3, 4), 0, 1, 2)], ((0, 1, 2),), Kind.ROW),
        ([reduction((2, 1, 4), 1)], ((0, 2),), Kind.ELEMENTWISE),
        ([elementwise((-1, 8), (-1, 1))], ((0,), (1,)), Kind.ELEMENTWISE),
    ],
)
def test_domains_collapse(members, axes, kind) -> None:
    space = iteration_space(members)
    assert space is not None
    assert (space.axes, space.kind) == (axes, kind)


def test_places_of_rows_and_columns() -> None:
    row = IterationSpace((2, 3, 4), ((0,), (1,), (2,)), 2)
    assert (row.outer, row.rows, row.columns, row.extents) == ((0,), 1, 2, (2, 3, 4))
    column = IterationSpace((2, -1, 4, 5), ((0,), (1,), (2,), (3,)), 1)
    assert (column.outer, column.rows, column.columns) == ((0, 2), 1, 3)
    assert column.extents == (2, -1, 4, 5)
    assert column.spans((4, 1)) == (False, False, True, False)
    scalar = IterationSpace((), ())
    assert (scalar.outer, scalar.rows, scalar.columns) == ((), None, None)


def test_two_reductions_must_agree() -> None:
    same = [reduction((4, 8), 1), reduction((4, 8), 1)]
    assert iteration_space(same) is not None
    different = [reduction((4, 8), 1), reduction((4, 8), 0)]
    assert iteration_space(different) is None


def test_extents_known_at_launch_are_equal_by_number_only() -> None:
    assert broadcast_domain([(-1, 4), (-1, 4)]) == (-1, 4)
    assert broadcast_domain([(-1, 4), (-2, 4)]) is None
    assert broadcast_domain([(-1,), (1,)]) == (-1,)


def softmax(shape, axis) -> list[Member]:
    kept = tuple(1 if i == axis else extent for i, extent in enumerate(shape))
    return [
        reduction(shape, axis),
        elementwise(shape, kept, sources=(0,)),
        elementwise(shape, sources=(1,)),
        reduction(shape, axis, sources=(2,)),
        elementwise(shape, kept, sources=(2, 3)),
    ]


def test_softmax_of_rows_is_one_kernel_and_of_columns_is_not() -> None:
    space = fusible_space(softmax((6, 8), 1), [4])
    assert space is not None
    assert space.kind is Kind.ROW
    assert fusible_space(softmax((6, 8), 0), [4]) is None


def test_column_kernel_with_producer_and_epilogue() -> None:
    members = [
        elementwise((6, 8)),
        Member(((6, 8),), (1, 8), (0,), (0,)),
        elementwise((1, 8), (8,), sources=(1,)),
    ]
    space = fusible_space(members, [2])
    assert space is not None
    assert space.kind is Kind.COLUMN
    assert fusible_space(members, [0, 2]) is None, "the producer would be stored by columns"


def test_nothing_expensive_is_computed_twice() -> None:
    members = [elementwise((8,)), elementwise((6, 8), (8,), sources=(0,))]
    assert fusible_space(members, [1]) is None
    cheap = [elementwise((8,), cheap=True), members[1]]
    assert fusible_space(cheap, [1]) is not None
    leading = [elementwise((6, 1)), elementwise((6, 8), (6, 1), sources=(0,))]
    assert fusible_space(leading, [1]) is not None


def test_nothing_is_stored_twice() -> None:
    members = [elementwise((6, 1)), elementwise((6, 8), (6, 1), sources=(0,))]
    assert fusible_space(members, [0, 1]) is None
    assert fusible_space(softmax((6, 8), 1), [0, 4]) is not None


shapes = st.lists(st.integers(1, 4), min_size=0, max_size=4).map(tuple)


@given(shapes, st.data())
def test_collapsed_axes_address_the_same_elements(domain, data) -> None:
    """Walking the collapsed axes with a value's own strides reads what broadcasting reads."""
    values = [tuple(data.draw(st.sampled_from([1, extent])) for extent in domain) for _ in range(3)]
    axes = collapse(domain, values, [])
    space = IterationSpace(domain, axes)
    for shape in values:
        array = np.arange(int(np.prod(shape))).reshape(shape)
        expected = np.broadcast_to(array, domain).ravel()
        spans = space.spans(shape)
        flat = np.zeros(space.extents, dtype=int)
        stride = 1
        for axis in reversed(range(len(axes))):
            if not spans[axis]:
                continue
            steps = np.arange(space.extents[axis]) * stride
            flat = flat + steps.reshape([-1 if i == axis else 1 for i in range(len(axes))])
            stride *= space.extents[axis]
        assert (array.ravel()[flat.ravel()] == expected).all()
