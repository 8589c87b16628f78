"""Vector code that LLVM would not find by itself: turning fractals and multiplying them.

The functions emit LLVM vectors of any length; LLVM cuts them to what the CPU has.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from pypto.emulator.compiled.raw import emitted, host_has

EDGE = 16
WORD = ir.IntType(64)
BYTE = ir.IntType(8)
SHORT = ir.IntType(16)
FLOAT = ir.FloatType()
# A row of an accumulator fractal is 16 floats: one AVX-512 register, two of AVX, four of Neon.
# So many rows are multiplied at once as leave registers free for the operands.
ROWS_AT_ONCE = EDGE if host_has("avx512f") else 4


def _vector_at(builder: ir.IRBuilder, address: ir.Value, kind: ir.Type, count: int) -> Any:
    return builder.inttoptr(address, ir.VectorType(kind, count).as_pointer())


def _load(builder: ir.IRBuilder, address: ir.Value, kind: ir.Type, count: int) -> Any:
    return builder.load(_vector_at(builder, address, kind, count), align=1)


def _store(builder: ir.IRBuilder, address: ir.Value, value: Any) -> None:
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=1)


def _offset(builder: ir.IRBuilder, address: ir.Value, count: int) -> Any:
    return builder.add(address, ir.Constant(WORD, count))


def _interleave(builder: ir.IRBuilder, first: Any, second: Any) -> Any:
    """first[0], second[0], first[1], second[1] …"""
    count = first.type.count
    order = [i // 2 + (i % 2) * count for i in range(2 * count)]
    mask = ir.Constant(ir.VectorType(ir.IntType(32), 2 * count), order)
    return builder.shuffle_vector(first, second, mask)


def _turned(builder: ir.IRBuilder, source: ir.Value, kind: ir.Type, columns: int) -> ir.Value:
    """16 rows of ``columns`` elements as one vector, column after column."""
    pitch = columns * (kind.width // 8 if isinstance(kind, ir.IntType) else 4)
    rows = [_load(builder, _offset(builder, source, i * pitch), kind, columns) for i in range(EDGE)]
    while len(rows) > 1:
        half = len(rows) // 2
        rows = [_interleave(builder, rows[i], rows[i + half]) for i in range(half)]
    return rows[0]


@emitted
def move_block(typingctx, target, source):
    """Copy 32 bytes."""

    def generate(context, builder, signature, arguments):
        _store(builder, arguments[0], _load(builder, arguments[1], BYTE, 32))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@emitted
def turn_square(typingctx, target, source):
    """Transpose a fractal of 16x16 two-byte elements."""

    def generate(context, builder, signature, arguments):
        _store(builder, arguments[0], _turned(builder, arguments[1], SHORT, EDGE))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@emitted
def turn_singles(typingctx, target, source):
    """Transpose a fractal of 16x8 floats to 8x16."""

    def generate(context, builder, signature, arguments):
        _store(builder, arguments[0], _turned(builder, arguments[1], FLOAT, EDGE // 2))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@emitted
def multiply_fractals(typingctx, c, a, b, steps, a_step, b_step, depth, last, zero):
    """One 16x16 accumulator of f32: see ``_product``."""
    return types.void(*[types.int64] * 9), _product(FLOAT, "fmul", "fadd")


@emitted
def multiply_integers(typingctx, c, a, b, steps, a_step, b_step, depth, last, zero):
    """One 16x16 accumulator of i32 that wraps: see ``_product``."""
    return types.void(*[types.int64] * 9), _product(ir.IntType(32), "mul", "add")


def _product(kind: ir.Type, times: str, plus: str) -> Any:
    """c += a x b over ``steps`` pairs of fractals of four-byte ``kind``, k after k.

    Fractals of ``a`` are [16][depth], of ``b`` [depth][16], ``a_step`` and ``b_step`` bytes
    apart; the last pair has ``last`` values of k. ``zero`` starts from 0 instead of from c.
    """
    row_kind = ir.VectorType(kind, EDGE)
    row_bytes = EDGE * 4

    def generate(context, builder, signature, arguments):
        c, a, b, steps, a_step, b_step, depth, last, zero = arguments
        multiply, add = getattr(builder, times), getattr(builder, plus)
        a_row = builder.mul(depth, ir.Constant(WORD, 4))
        is_zero = builder.icmp_signed("!=", zero, ir.Constant(WORD, 0))
        final = builder.sub(steps, ir.Constant(WORD, 1))
        sums = [cgutils.alloca_once(builder, row_kind) for _ in range(ROWS_AT_ONCE)]
        for first in range(0, EDGE, ROWS_AT_ONCE):
            rows = [_offset(builder, c, (first + i) * row_bytes) for i in range(ROWS_AT_ONCE)]
            for place, row in zip(sums, rows, strict=True):
                start = _load(builder, row, kind, EDGE)
                nothing = ir.Constant(row_kind, None)
                builder.store(builder.select(is_zero, nothing, start), place)
            with cgutils.for_range(builder, steps) as step:
                here = step.index
                ends = builder.icmp_signed("==", here, final)
                count = builder.select(ends, last, depth)
                a_here = builder.add(a, builder.mul(here, a_step))
                b_here = builder.add(b, builder.mul(here, b_step))
                with cgutils.for_range(builder, count) as inner:
                    k = inner.index
                    b_at = builder.add(b_here, builder.mul(k, ir.Constant(WORD, row_bytes)))
                    b_row = _load(builder, b_at, kind, EDGE)
                    a_column = builder.add(a_here, builder.mul(k, ir.Constant(WORD, 4)))
                    for i, place in enumerate(sums):
                        skip = builder.mul(a_row, ir.Constant(WORD, first + i))
                        at = builder.inttoptr(builder.add(a_column, skip), kind.as_pointer())
                        spread = _splat(builder, builder.load(at), kind)
                        builder.store(add(builder.load(place), multiply(spread, b_row)), place)
            for place, row in zip(sums, rows, strict=True):
                _store(builder, row, builder.load(place))
        return context.get_dummy_value()

    return generate


def _splat(builder: ir.IRBuilder, value: ir.Value, kind: ir.Type) -> ir.Value:
    """A vector of 16 equal numbers."""
    nothing = ir.Constant(ir.VectorType(kind, EDGE), ir.Undefined)
    lone = builder.insert_element(nothing, value, ir.Constant(WORD, 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), EDGE), [0] * EDGE)
    return builder.shuffle_vector(lone, lone, mask)
