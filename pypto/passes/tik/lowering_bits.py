"""Bits of comparisons, and numbers as operands of vector instructions."""

from __future__ import annotations

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.passes.tik.lowering_state import Lowering, Tile, lanes_of
from pypto.passes.tile.arithmetic import ceil_div
from pypto.target.dtypes import U16, DType

Operand = Tile | int | float

# Repeats of one comparison: its bits must end on a 32-byte block for 2- and 4-byte elements.
COMPARE_REPEATS = 252
BITS_PER_WORD = 8 * U16.bytes


def number(value: int | float, dtype: DType) -> int | float:
    """A weak number as an element."""
    return float(value) if dtype.is_float else int(value)


def source(
    state: Lowering, field: str, operand: Operand, dtype: DType
) -> dict[str, int | SSAValue]:
    """The fields of a source operand; a number becomes a block that every lane reads."""
    if isinstance(operand, Tile):
        return {field: operand.pointer}
    block = state.constant(dtype, number(operand, dtype))
    return {field: block, f"{field}_block": 0, f"{field}_repeat": 0}


def with_number(
    state: Lowering,
    name: str,
    dtype: DType,
    count: Index,
    dst: SSAValue,
    src: SSAValue,
    value: int | float,
) -> None:
    """``name`` of the first ``count`` elements and a number: an immediate if the machine can."""
    if state.has(f"{name}s.{dtype}"):
        scalar = number(value, dtype)
        state.vector(f"{name}s.{dtype}", count, dst=dst, src=src, scalar=scalar)
    else:
        block = source(state, "src1", value, dtype)
        state.vector(f"{name}.{dtype}", count, dst=dst, src0=src, **block)


def compare_bits(state: Lowering, kind: str, x: Tile, y: Operand, bits: Tile) -> None:
    """The bits of a comparison the machine has; it reads and writes whole repeats."""
    lanes = lanes_of(x.dtype)
    repeats = state.emit.ceil_div(x.count, lanes)
    most = ceil_div(x.most(state.granule), lanes)
    name, name_of_number = f"vcmpv_{kind}.{x.dtype}", f"vcmpvs_{kind}.{x.dtype}"
    if not state.has(name):
        raise state.unsupported(f"comparison of {x.dtype} elements", "cast to float32 first")
    for start, size in state.pieces(repeats, most, COMPARE_REPEATS):
        place = state.emit.mul(start, lanes * x.size)
        target = state.at(bits.pointer, state.emit.mul(start, lanes // 8))
        first = state.at(x.pointer, place)
        if isinstance(y, Tile):
            second = state.at(y.pointer, place)
            state.emit.instruction(name, dst=target, src0=first, src1=second, repeat=size)
        elif state.has(name_of_number):
            scalar = number(y, x.dtype)
            state.emit.instruction(
                name_of_number, dst=target, src=first, scalar=scalar, repeat=size
            )
        else:
            block = source(state, "src1", y, x.dtype)
            state.emit.instruction(name, dst=target, src0=first, repeat=size, **block)


def invert_bits(state: Lowering, bits: Tile) -> None:
    words = state.emit.ceil_div(bits.count, BITS_PER_WORD)
    state.vector("vnot.u16", words, dst=bits.pointer, src=bits.pointer)
