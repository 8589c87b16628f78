"""The loops of a vector kernel: pure arithmetic on the shapes of the operators it fuses.

All shapes are aligned at their last axis, as in implicit broadcasting. A static extent is a number
from 0; an extent known at launch is negative, and two are equal when they are the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod

Shape = tuple[int, ...]


class Kind(StrEnum):
    """How a kernel walks its domain.

    ``elementwise``: in any order. ``row``: reduces along the last axis, a whole row at a time.
    ``column``: reduces along another axis by walking down it, columns side by side.
    """

    ELEMENTWISE = "elementwise"
    ROW = "row"
    COLUMN = "column"


@dataclass(frozen=True)
class Member:
    """One operation of a kernel: shapes, and the places in the kernel of what it reads from it.

    ``reduced`` are the axes of the (only) operand that a reduction keeps with extent 1. ``cheap``
    operations may be repeated for every tile of a larger domain.
    """

    operands: tuple[Shape, ...]
    result: Shape
    sources: tuple[int, ...] = ()
    reduced: tuple[int, ...] = ()
    cheap: bool = False


@dataclass(frozen=True)
class IterationSpace:
    """A domain whose axes are collapsed as far as every value of the kernel allows.

    ``axes`` lists, outermost first, the domain axes that each collapsed axis covers; domain axes
    of extent 1 are in none. ``reduced`` is the place in ``axes`` that the kernel reduces over.
    """

    domain: Shape
    axes: tuple[tuple[int, ...], ...]
    reduced: int | None = None

    @property
    def kind(self) -> Kind:
        if self.reduced is None:
            return Kind.ELEMENTWISE
        return Kind.ROW if self.reduced == len(self.axes) - 1 else Kind.COLUMN

    @property
    def columns(self) -> int | None:
        """The collapsed axis that is contiguous in memory; None for a domain of one element."""
        return len(self.axes) - 1 if self.axes else None

    @property
    def rows(self) -> int | None:
        """The collapsed axis that tiles walk beside the columns: the reduced one if it can be."""
        if self.kind is Kind.COLUMN:
            return self.reduced
        return len(self.axes) - 2 if len(self.axes) > 1 else None

    @property
    def outer(self) -> tuple[int, ...]:
        """The other collapsed axes, outermost first."""
        return tuple(i for i in range(len(self.axes)) if i not in (self.rows, self.columns))

    @property
    def extents(self) -> Shape:
        """Elements along each collapsed axis, -1 where one factor is known at launch only."""
        return tuple(extent_of(self.domain, axes) for axes in self.axes)

    def needs_whole_rows(self, members: Sequence[Member]) -> bool:
        """Whether something behind a reduction still varies along the reduced axis."""
        behind = _behind_reduction(members)
        return self.reduced is not None and any(
            late and self.spans(member.result)[self.reduced]
            for member, late in zip(members, behind, strict=True)
        )

    def spans(self, shape: Shape) -> tuple[bool, ...]:
        """For each collapsed axis whether a value of ``shape`` varies along it."""
        padded = (1,) * (len(self.domain) - len(shape)) + shape
        return tuple(padded[axes[0]] != 1 for axes in self.axes)


def extent_of(domain: Shape, axes: Sequence[int]) -> int:
    """The product of the extents of ``axes``, -1 when one of them is known at launch only."""
    extents = [domain[axis] for axis in axes]
    return -1 if any(extent < 0 for extent in extents) else prod(extents)


def broadcast_domain(shapes: Iterable[Shape]) -> Shape | None:
    """The shape all of ``shapes`` broadcast to, None when they do not."""
    shapes = list(shapes)
    rank = max(map(len, shapes), default=0)
    domain = [1] * rank
    for shape in shapes:
        for axis, extent in enumerate(shape, start=rank - len(shape)):
            if extent == 1 or extent == domain[axis]:
                continue
            if domain[axis] != 1:
                return None
            domain[axis] = extent
    return tuple(domain)


def collapse(domain: Shape, shapes: Iterable[Shape], reductions: Iterable[frozenset[int]]) -> tuple[
    tuple[int, ...], ...
]:  # fmt: skip
    """Domain axes in groups: neighbours that every value and every reduction treats alike."""
    rank = len(domain)
    padded = {(1,) * (rank - len(shape)) + shape for shape in shapes}
    reductions = set(reductions)
    groups: list[list[int]] = []
    previous = None
    for axis in range(rank):
        if domain[axis] == 1:
            continue
        pattern = (
            tuple(shape[axis] != 1 for shape in padded),
            tuple(axis in reduction for reduction in reductions),
        )
        if pattern == previous:
            groups[-1].append(axis)
        else:
            groups.append([axis])
        previous = pattern
    return tuple(map(tuple, groups))


def iteration_space(members: Sequence[Member]) -> IterationSpace | None:
    """The space of a kernel of these members, None when their reductions differ in axis."""
    shapes = [shape for member in members for shape in (*member.operands, member.result)]
    domain = broadcast_domain(shapes)
    if domain is None:
        return None
    reductions = [_reduced_axes(member, domain) for member in members if member.reduced]
    axes = collapse(domain, shapes, reductions)
    covered = {axis for group in axes for axis in group}
    wanted = {frozenset(reduction & covered) for reduction in reductions} - {frozenset()}
    if not wanted:
        return IterationSpace(domain, axes)
    places = [place for place, group in enumerate(axes) if frozenset(group) in wanted]
    if len(wanted) != 1 or len(places) != 1:
        return None
    return IterationSpace(domain, axes, places[0])


def _reduced_axes(member: Member, domain: Shape) -> frozenset[int]:
    lead = len(domain) - len(member.operands[0])
    return frozenset(axis + lead for axis in member.reduced)


def fusible_space(members: Sequence[Member], results: Iterable[int]) -> IterationSpace | None:
    """The space of a kernel that computes nothing twice and stores nothing twice, else None.

    ``results`` are the places of the members whose values leave the kernel.
    """
    space = iteration_space(members)
    if space is None:
        return None
    reduced_before = _behind_reduction(members)
    if not all(
        _computed_once(member, space, behind)
        for member, behind in zip(members, reduced_before, strict=True)
    ):
        return None
    if not all(_stored_once(members[place].result, space) for place in results):
        return None
    return space


def _behind_reduction(members: Sequence[Member]) -> list[bool]:
    """Which members are a reduction or read, over any number of members, from one."""
    behind: list[bool] = []
    for member in members:
        behind.append(bool(member.reduced) or any(behind[source] for source in member.sources))
    return behind


def _computed_once(member: Member, space: IterationSpace, behind: bool) -> bool:
    spans = space.spans(member.result)
    if member.reduced:
        return all(space.spans(member.operands[0]))
    if space.kind is Kind.COLUMN and behind:
        others = [span for axis, span in enumerate(spans) if axis != space.reduced]
        return not spans[space.reduced or 0] and (all(others) or member.cheap)
    # A value without the last axes is computed once in a loop over the first ones.
    is_prefix = list(spans) == sorted(spans, reverse=True)
    if space.kind is Kind.COLUMN:
        is_prefix = all(spans)
    return is_prefix or member.cheap


def _stored_once(result: Shape, space: IterationSpace) -> bool:
    spans = space.spans(result)
    if space.kind is Kind.ELEMENTWISE:
        return all(spans)
    others = [span for axis, span in enumerate(spans) if axis != space.reduced]
    return all(others) and (space.kind is Kind.ROW or not spans[space.reduced or 0])
