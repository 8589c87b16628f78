"""Integers in arithmetic progression: the machine has no instruction that numbers lanes."""

from __future__ import annotations

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.dialects.scalars import wrap
from pypto.passes.tik.lowering_state import Lowering, lanes_of
from pypto.target.dtypes import I32
from pypto.target.memory import REPEAT_BYTES

LANES = lanes_of(I32)


def ramp(
    state: Lowering, target: SSAValue, count: Index, most: int, start: Index, step: int
) -> None:
    """target[i] = start + i * step for ``count`` (at most ``most``) i32; fills whole repeats.

    The first repeat by adding each power of two to the lanes that have that bit, every further
    repeat from the first.
    """
    emit = state.emit
    first = min(most, LANES)
    fill(state, target, first, start)
    for bit in range((first - 1).bit_length()):
        lanes = sum(1 << lane for lane in range(first) if lane >> bit & 1)
        emit.instruction(
            "vadds.i32", dst=target, src=target, scalar=step << bit, mask_low=wrap(lanes)
        )
    if most <= LANES:
        return
    with state.disjoint(emit.sub(emit.ceil_div(count, LANES), 1)) as turn:
        number = emit.add(turn, 1)
        emit.instruction(
            "vadds.i32",
            dst=state.at(target, emit.mul(number, REPEAT_BYTES)),
            src=target,
            scalar=emit.mul(number, LANES * step),
        )


def fill(state: Lowering, target: SSAValue, count: Index, value: Index) -> None:
    """The same i32 in ``count`` elements."""
    state.vector("vector_dup.i32", count, dst=target, scalar=value)
