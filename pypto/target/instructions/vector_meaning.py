"""What vector instructions compute, on NumPy bytes.

Every function takes the memories by space, the family's NamedTuple ``f`` and the row. Repeats
run in order, so a repeat may read what the one before it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pypto.target import numerics
from pypto.target.dtypes import BF16, F16, U8, U32, DType
from pypto.target.instruction import Instruction
from pypto.target.instructions.bytes import element, read, write
from pypto.target.instructions.vector_footprint import (
    OFFSET_BYTES,
    lanes_last,
    lanes_per_repeat,
    repeats,
)
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES, Space

Memories = dict[Space, np.ndarray]
BLOCKS = REPEAT_BYTES // BLOCK_BYTES


def active_lanes(f: Any, row: Instruction) -> Iterator[tuple[int, np.ndarray]]:
    """Every repeat with the numbers of the lanes that take part in it."""
    count = repeats(f, row.facts)
    lanes = np.arange(lanes_per_repeat(row.facts))
    if f.mask_mode == 0:
        mask = (f.mask_high << 64) | (f.mask_low & (2**64 - 1))
        each = lanes[[bool(mask >> int(lane) & 1) for lane in lanes]]
        yield from ((i, each) for i in range(count))
        return
    for i in range(count):
        yield i, lanes[: lanes_last(f, row.facts)] if i == count - 1 else lanes


def every_lane(f: Any, row: Instruction) -> Iterator[tuple[int, np.ndarray]]:
    """Every repeat with all lanes, for instructions that ignore the mask."""
    lanes = np.arange(lanes_per_repeat(row.facts))
    return ((i, lanes) for i in range(f.repeat))


def place(
    start: int, block: int, repeat: int, i: int, lanes: np.ndarray, dtype: DType
) -> np.ndarray:
    """Byte addresses of lanes of repeat ``i``; strides in 32-byte blocks."""
    offset = lanes * dtype.bytes
    base = start + i * repeat * BLOCK_BYTES
    return base + offset // BLOCK_BYTES * block * BLOCK_BYTES + offset % BLOCK_BYTES


def arithmetic(
    function: Callable[..., np.ndarray], dtype: DType, *operands: np.ndarray
) -> np.ndarray:
    """``function`` in the dtype: halves are computed in f32 and rounded, integers wrap."""
    with np.errstate(all="ignore"):
        if dtype == F16:
            return numerics.nearest(function(*(a.astype(np.float32) for a in operands)), F16)
        return function(*operands)


def saturated(f: Any, values: np.ndarray, dtype: DType) -> np.ndarray:
    """Results as the saturation mode leaves them; it binds halves and bfloat16."""
    if f.saturation and dtype in (F16, BF16):
        return numerics.saturate_float(values.astype(np.float32), dtype)
    return values


def in_double(function: Callable[..., np.ndarray], *operands: np.ndarray) -> np.ndarray:
    """``function`` in float64."""
    with np.errstate(all="ignore"):
        return function(*(a.astype(np.float64) for a in operands))


def larger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The larger operand; NaN wins, equal numbers give the first."""
    return np.where((a >= b) | (a != a), a, b)


def smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The smaller operand; NaN wins, equal numbers give the first."""
    return np.where((a <= b) | (a != a), a, b)


def leaky(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(a >= 0, a, a * b)


BINARY: dict[str, Callable[..., np.ndarray]] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vmul": np.multiply,
    "vmax": larger,
    "vmin": smaller,
    "vdiv": np.divide,
    "vand": np.bitwise_and,
    "vor": np.bitwise_or,
    "vadds": np.add,
    "vmuls": np.multiply,
    "vmaxs": larger,
    "vmins": smaller,
    "vlrelu": leaky,
    "vaddrelu": lambda a, b: relu(a + b),
    "vsubrelu": lambda a, b: relu(a - b),
    "vcadd": np.add,
    "vcmax": larger,
    "vcmin": smaller,
    "vcgadd": np.add,
    "vcgmax": larger,
    "vcgmin": smaller,
    "vcpadd": np.add,
}


def combine_lanes(
    memory: Memories,
    f: Any,
    row: Instruction,
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """dst = function(src0, src1) on the active lanes."""
    ub, source = memory[Space.UB], row.source_dtype
    for i, lanes in active_lanes(f, row):
        a = read(ub, place(f.src0, f.src0_block, f.src0_repeat, i, lanes, source), source)
        b = read(ub, place(f.src1, f.src1_block, f.src1_repeat, i, lanes, source), source)
        target = place(f.dst, f.dst_block, f.dst_repeat, i, lanes, row.dtype)
        write(ub, target, saturated(f, function(a, b), row.dtype), row.dtype)


def binary(memory: Memories, f: Any, row: Instruction) -> None:
    function = BINARY[row.op_name]
    combine_lanes(memory, f, row, lambda a, b: arithmetic(function, row.dtype, a, b))


# Operation of an instruction that converts its result.
BEFORE_CAST: dict[str, str] = {
    "vaddreluconv": "vaddrelu",
    "vsubreluconv": "vsubrelu",
    "vmulconv": "vmul",
}


def binary_cast(memory: Memories, f: Any, row: Instruction) -> None:
    """The operation in the source's type, then the cast to nearest even, saturating integers."""
    source = row.source_dtype
    function = BINARY[BEFORE_CAST[row.op_name.split("_")[0]]]

    def value(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return cast_value(arithmetic(function, source, a, b), source, row.dtype, "r")

    combine_lanes(memory, f, row, value)


def relu(a: np.ndarray) -> np.ndarray:
    return np.where((a > 0) | (a != a), a, np.zeros_like(a))


def unary_value(name: str, a: np.ndarray, dtype: DType) -> np.ndarray:
    """The result of a unary operation; transcendental functions are rounded from float64."""
    if name == "vrec":
        return numerics.approximate(in_double(np.reciprocal, a), dtype)
    if name == "vrsqrt":
        return numerics.approximate(in_double(lambda x: 1 / np.sqrt(x), a), dtype)
    double = {"vexp": np.exp, "vln": np.log, "vsqrt": np.sqrt}
    if name in double:
        return numerics.nearest(in_double(double[name], a), dtype)
    plain = {"vabs": np.abs, "vrelu": relu, "vnot": np.invert, "vcopy": np.copy}
    return plain[name](a)


def map_lanes(
    memory: Memories, f: Any, row: Instruction, function: Callable[[np.ndarray], np.ndarray]
) -> None:
    """dst = function(src) on the active lanes."""
    ub = memory[Space.UB]
    source = row.source_dtype
    for i, lanes in active_lanes(f, row):
        a = read(ub, place(f.src, f.src_block, f.src_repeat, i, lanes, source), source)
        target = place(f.dst, f.dst_block, f.dst_repeat, i, lanes, row.dtype)
        write(ub, target, saturated(f, function(a), row.dtype), row.dtype)


def unary(memory: Memories, f: Any, row: Instruction) -> None:
    map_lanes(memory, f, row, lambda a: unary_value(row.op_name, a, row.dtype))


def cast_value(a: np.ndarray, source: DType, dtype: DType, mode: str) -> np.ndarray:
    """Elements of one type as another; rounding a float to integral values drops the sign of 0."""
    if source == dtype:
        return numerics.round_integral(a, mode) + np.zeros_like(a)
    if dtype.is_float:
        return numerics.to_float(a, dtype, mode)
    if source.is_float:
        return numerics.to_integer(a, dtype, mode)
    return numerics.narrow_integer(a, dtype)


def cast(memory: Memories, f: Any, row: Instruction) -> None:
    mode = numerics.MODES[row.facts.variant]
    map_lanes(memory, f, row, lambda a: cast_value(a, row.source_dtype, row.dtype, mode))


def shift_left(a: np.ndarray, amount: int) -> np.ndarray:
    """An amount of the width or more leaves zeros."""
    amount &= 2**32 - 1
    if amount >= 8 * a.dtype.itemsize:
        return np.zeros_like(a)
    return a << a.dtype.type(amount)


def shift_right(memory: Memories, f: Any, row: Instruction) -> None:
    """An amount of the width or more acts as the width: zeros, or signs when arithmetic."""
    amount = min(f.scalar & (2**32 - 1), 8 * row.dtype.bytes)
    half = 1 << (amount - 1) if f.round and amount else 0
    map_lanes(memory, f, row, lambda a: (a.astype(np.int64) + half) >> amount)


def scalar_binary(memory: Memories, f: Any, row: Instruction) -> None:
    if row.op_name == "vshl":
        map_lanes(memory, f, row, lambda a: shift_left(a, f.scalar))
        return
    b = element(f.scalar, row.dtype)
    function = BINARY[row.op_name]
    map_lanes(memory, f, row, lambda a: arithmetic(function, row.dtype, a, b))


def duplicate(memory: Memories, f: Any, row: Instruction) -> None:
    value = element(f.scalar, row.dtype)
    for i, lanes in active_lanes(f, row):
        target = place(f.dst, f.dst_block, f.dst_repeat, i, lanes, row.dtype)
        write(memory[Space.UB], target, np.repeat(value, len(lanes)), row.dtype)


def tree(
    f: Any, function: Callable[..., np.ndarray], values: dict[int, np.ndarray], dtype: DType
) -> np.ndarray:
    """Adjacent lanes combined pair by pair; a lane without partner passes unchanged.

    The saturation mode binds every sum, of extremes only the last.
    """
    while len(values) > 1:
        pairs: dict[int, np.ndarray] = {}
        for lane in sorted(values):
            half = lane // 2
            if half in pairs:
                node = arithmetic(function, dtype, pairs[half], values[lane])
                pairs[half] = saturated(f, node, dtype) if function is np.add else node
            else:
                pairs[half] = values[lane]
        values = pairs
    return saturated(f, next(iter(values.values())), dtype)


def reduce(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    dtype = row.dtype
    function = BINARY[row.op_name]
    results = row.facts.variant
    width = lanes_per_repeat(row.facts) // results
    for i, lanes in active_lanes(f, row):
        values = read(ub, place(f.src, f.src_block, f.src_repeat, i, lanes, dtype), dtype)
        for group in range(results):
            members = {
                int(lane): values[j : j + 1]
                for j, lane in enumerate(lanes)
                if lane // width == group
            }
            if members:
                target = f.dst + (i * f.dst_repeat * results + group) * dtype.bytes
                write(ub, np.array([target]), tree(f, function, members, dtype), dtype)


COMPARE: dict[str, Callable[..., np.ndarray]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def write_bits(ub: np.ndarray, start: int, bits: np.ndarray) -> None:
    data = np.packbits(bits, bitorder="little")
    ub[start : start + len(data)] = data


def compare(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    function = COMPARE[row.op_name.removeprefix("vcmpv_")]
    for i, lanes in every_lane(f, row):
        a = read(ub, place(f.src0, f.src0_block, f.src0_repeat, i, lanes, row.dtype), row.dtype)
        b = read(ub, place(f.src1, f.src1_block, f.src1_repeat, i, lanes, row.dtype), row.dtype)
        write_bits(ub, f.dst + i * len(lanes) // 8, function(a, b))


def compare_scalar(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    function = COMPARE[row.op_name.removeprefix("vcmpvs_")]
    b = element(f.scalar, row.dtype)
    for i, lanes in every_lane(f, row):
        a = read(ub, place(f.src, f.src_block, f.src_repeat, i, lanes, row.dtype), row.dtype)
        write_bits(ub, f.dst + i * len(lanes) // 8, function(a, b))


def select(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    for i, lanes in active_lanes(f, row):
        a = read(ub, place(f.src0, f.src0_block, f.src0_repeat, i, lanes, row.dtype), row.dtype)
        b = read(ub, place(f.src1, f.src1_block, f.src1_repeat, i, lanes, row.dtype), row.dtype)
        bit = i * lanes_per_repeat(row.facts) + lanes
        chosen = read(ub, f.mask + bit // 8, U8) >> (bit % 8) & 1
        target = place(f.dst, f.dst_block, f.dst_repeat, i, lanes, row.dtype)
        write(ub, target, np.where(chosen, a, b), row.dtype)


def block_broadcast(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    size = row.dtype.bytes
    for i, lanes in every_lane(f, row):
        block = lanes * size // BLOCK_BYTES
        values = read(ub, f.src + (i * BLOCKS + block) * size, row.dtype)
        write(ub, place(f.dst, f.dst_block, f.dst_repeat, i, lanes, row.dtype), values, row.dtype)


def gather(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    for i, lanes in active_lanes(f, row):
        entry = i * lanes_per_repeat(row.facts) + lanes
        offsets = read(ub, f.offsets + entry * OFFSET_BYTES, U32).astype(np.int64)
        values = read(ub, f.base + offsets, row.dtype)
        write(ub, place(f.dst, 1, f.dst_repeat, i, lanes, row.dtype), values, row.dtype)
