"""Integers in arithmetic progression: the machine has no instruction that numbers lanes."""

from __future__ import annotations

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.dialects.scalars import wrap
from pypto.passes.tik.lowering_bits import source, with_number
from pypto.passes.tik.lowering_state import Lowering, lanes_of
from pypto.passes.tile.arithmetic import ceil_div
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
    immediate = state.has("vadds.i32")
    for bit in range((first - 1).bit_length()):
        lanes = sum(1 << lane for lane in range(first) if lane >> bit & 1)
        fields = {"dst": target, "mask_low": wrap(lanes)}
        if immediate:
            emit.instruction("vadds.i32", src=target, scalar=step << bit, **fields)
        else:
            block = source(state, "src1", step << bit, I32)
            emit.instruction("vadd.i32", src0=target, **fields, **block)
    if most <= LANES:
        return
    if not immediate:
        repeats = emit.ceil_div(count, LANES)
        double(state, target, LANES, repeats, ceil_div(most, LANES), LANES * step)
        return
    with state.disjoint(emit.sub(emit.ceil_div(count, LANES), 1)) as turn:
        number = emit.add(turn, 1)
        emit.instruction(
            "vadds.i32",
            dst=state.at(target, emit.mul(number, REPEAT_BYTES)),
            src=target,
            scalar=emit.mul(number, LANES * step),
        )


def double(
    state: Lowering, target: SSAValue, unit: Index, total: Index, most: int, step: int
) -> None:
    """Of ``total`` (at most ``most``) units of i32 every one is ``step`` more than the one before.

    Each instruction makes as many units as there are, from the first one on.
    """
    emit = state.emit
    made = 1
    while made < most:
        left = emit.sub(total, made)
        if isinstance(left, int) and left <= 0:
            return
        count = emit.min(made, left)
        with state.unless_none(count):
            place = emit.mul(made, emit.mul(unit, I32.bytes))
            with_number(
                state,
                "vadd",
                I32,
                emit.mul(count, unit),
                state.at(target, place),
                target,
                made * step,
            )
        made *= 2


def fill(state: Lowering, target: SSAValue, count: Index, value: Index) -> None:
    """The same i32 in ``count`` elements."""
    state.vector("vector_dup.i32", count, dst=target, scalar=value)
