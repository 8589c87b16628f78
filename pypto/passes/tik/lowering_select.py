"""Choosing between elements by bits."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from pypto.dialects.tile_types import TileType
from pypto.passes.tik.lane_masks import first_lanes
from pypto.passes.tik.lowering_bits import Operand, source
from pypto.passes.tik.lowering_state import Lowering, Tile, lanes_of, same_bits
from pypto.passes.tik.whole_repeats import further_on
from pypto.target.dtypes import F16, I32, U16, DType
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.limits import field_on
from pypto.target.memory import Space

BITS_PER_BYTE = 8
HALF_REPEAT = 4  # blocks of f16 that become one repeat of i32


def choose(state: Lowering, bits: Tile, x: Operand, y: Operand, out: Tile) -> None:
    """``out`` = ``x`` where a bit is 1, else ``y``; elements of 2 or 4 bytes."""
    name, dtype = f"vsel.{same_bits(out.dtype)}", out.dtype
    sources = source(state, "src0", x, dtype) | source(state, "src1", y, dtype)
    if takes_many_repeats(state, name):
        state.vector(name, out.count, dst=out.pointer, mask=bits.pointer, **sources)
    elif chooses(state, dtype):
        repeat_by_repeat(state, name, bits, out, sources)
    else:
        choose_words(state, bits, x, y, out)


def takes_many_repeats(state: Lowering, name: str) -> bool:
    return field_on(state.machine.architecture, name, "repeat").high > 1


def chooses(state: Lowering, dtype: DType) -> bool:
    """Whether bits in a row can choose elements of a type, if only one repeat at a time."""
    name = f"vsel.{same_bits(dtype)}"
    align = field_on(state.machine.architecture, name, "mask").align
    bytes = lanes_of(dtype) // BITS_PER_BYTE
    return takes_many_repeats(state, name) or bytes % align == 0


def repeat_by_repeat(
    state: Lowering, name: str, bits: Tile, out: Tile, sources: dict[str, int | SSAValue]
) -> None:
    """The machine holds the bits of one repeat only."""
    emit, row, lanes = state.emit, BY_MNEMONIC[name], lanes_of(out.dtype)
    fields = {"dst": out.pointer, **sources}
    whole = emit.floor_div(out.count, lanes)
    rest = emit.remainder(out.count, lanes)
    with state.disjoint(whole) as turn:
        mask = state.at(bits.pointer, emit.mul(turn, lanes // BITS_PER_BYTE))
        emit.instruction(name, mask=mask, **further_on(emit, row, fields, turn))
    with state.unless_none(rest):
        mask = state.at(bits.pointer, emit.mul(whole, lanes // BITS_PER_BYTE))
        last = further_on(emit, row, fields, whole)
        emit.instruction(name, mask=mask, **last, **first_lanes(emit, rest, lanes))


def choose_words(state: Lowering, bits: Tile, x: Operand, y: Operand, out: Tile) -> None:
    """(x & mask) | (y & ~mask), every bit of a mask the same: exact for whatever the bits mean."""
    emit, dtype = state.emit, out.dtype
    mask, chosen = (state.scratch(out, I32) for _ in range(2))
    halves = replace(chosen, type=TileType(*out.type.shape, F16, Space.UB))
    choose(state, bits, -1.0, 0.0, halves)
    state.vector(
        "vconv_f162i32r", out.count, dst=mask.pointer, src=halves.pointer, src_repeat=HALF_REPEAT
    )
    words = emit.mul(out.count, dtype.bytes // U16.bytes)
    first, second = source(state, "src0", x, dtype), source(state, "src0", y, dtype)
    state.vector("vand.u16", words, dst=chosen.pointer, src1=mask.pointer, **first)
    state.vector("vnot.u16", words, dst=mask.pointer, src=mask.pointer)
    state.vector("vand.u16", words, dst=mask.pointer, src1=mask.pointer, **second)
    state.vector("vor.u16", words, dst=out.pointer, src0=chosen.pointer, src1=mask.pointer)
