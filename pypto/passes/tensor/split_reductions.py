"""split-reductions: a reduction too long for few cores is done in parts by all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.ops import ROWS
from pypto.passes.base import Pass
from pypto.passes.core_kinds import cores_for
from pypto.passes.tensor.idle_cores import Walk, cycles_lost
from pypto.passes.tensor.rewriting import apply_patterns
from pypto.passes.tensor.units import is_fusible
from pypto.passes.tik.kernels import soc_of
from pypto.target.soc import Soc

Shape = tuple[int, ...]


@dataclass(frozen=True)
class SplitReductions(Pass):
    """The reduced run of axes becomes two axes; the inner one is reduced first, then the outer.

    Done when idle cores cost more than the launch of a second kernel. Sums are associated anew.
    """

    name = "split-reductions"
    exact: ClassVar[bool] = False
    requires: ClassVar[str] = "reductions keep their axes and reduce one run of neighbours"
    ensures: ClassVar[str] = "the same"

    def apply(self, context: Context, module: ModuleOp) -> None:
        apply_patterns(module, {"reduce": (partial(split_reduction, soc_of(module)),)})


def split_reduction(soc: Soc, op: TensorOperation, builder: Builder) -> SSAValue | None:
    """reduce(x[.., n, ..]) becomes reduce(reduce(x[.., parts, n / parts, ..]))."""
    source, dims = type_of(op.operands[0]).shape, op.attribute("dims")
    first, behind = dims[0], source[dims[-1] + 1 :]
    walk = Walk(prod(source[:first]), prod(source[axis] for axis in dims), prod(behind))
    parts = _parts(walk, type_of(op.operands[0]).dtype.bytes, soc)
    if parts is None:
        return None
    shape = (*source[:first], parts, walk.length // parts, *behind)
    value = _reshaped(builder, op.operands[0], shape, {})
    for axis in (first + 1, first):
        attributes = {"kind": op.attribute("kind"), "dims": (axis,), "keepdim": True}
        value = builder.apply(op.row, [value], attributes)
    return builder.apply(ROWS["reshape"], [value], {"shape": type_of(op.results[0]).shape})


def _parts(walk: Walk, size: int, soc: Soc) -> int | None:
    """The number of equal parts that keeps the cores busiest, None when one is good enough.

    ``size`` is that of an element in bytes: what a core reads bounds how fast it reduces.
    """
    work = walk.elements * size // soc.numbers.gm_port_vector
    lost = cycles_lost(walk, work, soc)
    launch = soc.launch_us * soc.clock_mhz
    if lost < launch:
        return None
    cores = cores_for(soc, multiplies=False)
    wanted = -(-cores // max(1, walk.tasks))
    limit = min(4 * wanted, walk.length)
    choices = {
        cycles_lost(walk.split(parts), work, soc): parts
        for parts in range(limit, 1, -1)
        if walk.length % parts == 0
    }
    least = min(choices, default=lost)
    return choices[least] if lost - least > launch else None


def _reshaped(
    builder: Builder, value: SSAValue, shape: Shape, known: dict[SSAValue, SSAValue]
) -> SSAValue:
    """``value`` in another shape; elementwise work read by nobody else is done in that shape."""
    if value not in known:
        known[value] = _reshaped_anew(builder, value, shape, known)
    return known[value]


def _reshaped_anew(
    builder: Builder, value: SSAValue, shape: Shape, known: dict[SSAValue, SSAValue]
) -> SSAValue:
    op, old = value.owner, type_of(value).shape
    readers = {use.operation for use in value.uses}
    if (
        not is_fusible(op)
        or not op.row.elementwise
        or len(readers) > 1
        or any(type_of(operand).shape not in (old, ()) for operand in op.operands)
    ):
        return builder.apply(ROWS["reshape"], [value], {"shape": shape})
    arguments = [
        _reshaped(builder, argument, shape, known)
        if isinstance(argument, SSAValue) and type_of(argument).shape == old
        else argument
        for argument in op.arguments()
    ]
    with builder.at(op.location):
        return builder.apply(op.row, arguments, op.python_attributes())
