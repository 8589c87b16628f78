"""fuse: chains of operations that walk the same loops share a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import SSAValue

from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.passes.base import Pass
from pypto.passes.tensor.grouping import Grouping
from pypto.passes.tensor.idle_cores import Walk, cycles_lost
from pypto.passes.tensor.iteration_space import IterationSpace, Kind, Member, fusible_space
from pypto.passes.tensor.launch_extents import LaunchExtents
from pypto.passes.tensor.repeat_widenings import repeat_widenings
from pypto.passes.tensor.row_memory import GroupValues, row_fits
from pypto.passes.tensor.units import (
    GROUP,
    is_creator,
    is_fusible,
    main_function,
    main_graph,
    members_of,
)
from pypto.passes.tik.kernels import soc_of
from pypto.target.soc import Soc

# Each pointer is a register of the scalar unit for as long as the kernel runs.
MAXIMUM_POINTERS = 12


@dataclass(frozen=True)
class Fuse(Pass):
    """Groups elementwise operations, broadcasts and reductions greedily; writes ``pypto.group``.

    No operation is computed twice. Whole rows that are read again behind a reduction must fit the
    unified buffer with ``slots`` buffers per load and store.
    """

    name = "fuse"
    exact: ClassVar[bool] = True
    requires: ClassVar[str] = "@main holds primitives that are legal for the machine"
    ensures: ClassVar[str] = "operations of one pypto.group share an iteration space"

    slots: int = 2

    def apply(self, context: Context, module: ModuleOp) -> None:
        main = main_function(module)
        graph = main_graph(main)
        ops = {node: op for node, op in enumerate(graph.ops) if is_fusible(op)}
        judge = _Judge(ops, soc_of(module), self.slots)
        grouping = Grouping(graph.sources, judge.fits)
        grouping.merge_along_edges(list(ops))
        for a, b in _readers_of_one_value(ops):
            grouping.merge(a, b)
        groups = sorted({grouping.group_of[node] for node in ops})
        for node, op in ops.items():
            number = groups.index(grouping.group_of[node])
            op.attributes[GROUP] = IntegerAttr(number, i64)
        repeat_widenings(main)


def _readers_of_one_value(ops: Mapping[int, TensorOperation]) -> list[tuple[int, int]]:
    """Pairs of operations that read the same value in the shape of their result."""
    readers: dict[SSAValue, list[int]] = {}
    for node, op in ops.items():
        for operand in dict.fromkeys(op.operands):
            if type_of(operand).shape == type_of(op.results[0]).shape:
                readers.setdefault(operand, []).append(node)
    return [pair for reading in readers.values() for pair in combinations(reading, 2)]


class _Judge:
    """Says whether operations may share a kernel."""

    def __init__(self, ops: Mapping[int, TensorOperation], soc: Soc, slots: int) -> None:
        self.ops = ops
        self.soc = soc
        self.slots = slots
        self.extents = LaunchExtents(ops.values())

    def fits(self, nodes: tuple[int, ...]) -> bool:
        """Whether one kernel can compute these operations, and gains by it."""
        ops = [self.ops[node] for node in nodes]
        inside = set(ops)
        read = dict.fromkeys(operand for op in ops for operand in op.operands)
        made = dict.fromkeys(op for v in read if is_creator(op := v.owner))
        inputs = [v for v in read if v.owner not in inside and v.owner not in made]
        results = [
            op.results[0]
            for op in ops
            if any(use.operation not in inside for use in op.results[0].uses)
        ]
        if len(inputs) + len(results) > MAXIMUM_POINTERS:
            return False
        kernel = [*made, *ops]
        members = members_of(kernel, self.extents.shape)
        stored = [place for place, op in enumerate(kernel) if op.results[0] in results]
        space = fusible_space(members, stored)
        if space is None:
            return False
        if space.needs_whole_rows(members):
            values = GroupValues(kernel, inputs, results, space)
            if not row_fits(values, self.soc, self.slots):
                return False
        return self._gains(members, space)

    def _gains(self, members: Sequence[Member], space: IterationSpace) -> bool:
        """Whether cores left idle by a reduction cost less than launching once more.

        A reduced axis is walked by one core; work before it that stood alone would use all cores.
        """
        if space.reduced is None:
            return True
        extents = list(space.extents)
        length = extents.pop(space.reduced)
        inner = extents.pop() if space.kind is Kind.COLUMN else 1
        walk = Walk(prod(extents), length, inner)
        wide = sum(space.spans(member.result)[space.reduced] for member in members)
        repeats = wide * walk.elements * 4 // self.soc.numbers.vector_repeat_bytes
        return cycles_lost(walk, repeats, self.soc) < self.soc.launch_us * self.soc.clock_mhz
