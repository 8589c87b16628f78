"""The mask of a vector instruction that works on the first lanes of every repeat."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from pypto.dialects.emitter import Emitter, Index
from pypto.dialects.scalars import wrap

WORD = 64
EVEN = 0x5555_5555_5555_5555


def first_lanes(emit: Emitter, count: Index, lanes: int) -> dict[str, Index]:
    """Mask fields for lanes 0 .. ``count`` - 1 of ``lanes``; no lane at all for a count of 0."""
    if isinstance(count, int) and count >= lanes:
        return {}
    if lanes <= WORD:
        return {"mask_low": ones(emit, count)}
    low = ones(emit, emit.min(count, WORD))
    return {"mask_high": ones(emit, emit.sub(emit.max(count, WORD), WORD)), "mask_low": low}


def every_second(emit: Emitter, mask: dict[str, Index], first: int) -> dict[str, Index]:
    """Of the lanes of a mask over two words those with even (``first`` 0) or odd (1) numbers."""
    pattern = wrap(EVEN << first)
    return {name: _and(emit, mask.get(name, -1), pattern) for name in ("mask_high", "mask_low")}


def _and(emit: Emitter, value: Index, pattern: int) -> Index:
    if isinstance(value, int):
        return value & pattern
    return emit.value(arith.AndIOp, value, emit.index(pattern))


def ones(emit: Emitter, count: Index) -> Index:
    """A 64-bit word whose lowest ``count`` (0..64) bits are 1."""
    if isinstance(count, int):
        return wrap((1 << count) - 1)
    # In two steps, because a shift by 64 is a shift by 0.
    half = emit.floor_div(count, 2)
    return emit.sub(_shift(emit, _shift(emit, 1, half), emit.sub(count, half)), 1)


def _shift(emit: Emitter, value: Index, amount: Index) -> SSAValue:
    return emit.value(arith.ShLIOp, emit.index(value), emit.index(amount))
