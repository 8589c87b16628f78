"""Transpositions in UB: vnchwconv by lists of rows, vtranspose of one square."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from pypto.target.dtypes import I16, U8, U16, U32, DType
from pypto.target.instruction import Access, Instruction, RowFacts, family, nowhere, runs
from pypto.target.instructions.fields import Flag, Gap, UbRead, UbWrite, value
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, Pipe, Space

EDGE = 16  # entries of a list
ENTRY_PAIRS = 8
HEAD = 24
ADDRESS_REGISTERS = 4  # two for each list, each written by one scalar instruction

Memories = dict[Space, np.ndarray]
ListStep = Annotated[int, value(high=8191)]


class Transpose(NamedTuple):
    """Squares turned over; row i of a side at entry i of its list.

    Two-byte elements: out[j][i] = in[i][j], 16x16. Four-byte elements: 16x8 become 8x16, row j of
    the result at entries 2j and 2j + 1 of its list. Entry i lies ``i // 2 * step + i % 2 * pair``
    blocks of 32 bytes from the side's address; repeat r moves a list by ``r * repeat`` blocks
    more. A repeat reads before it writes.
    """

    dst: UbWrite
    src: UbRead
    repeat: Annotated[int, value(1, high=255)]
    dst_step: ListStep
    dst_pair: ListStep
    src_step: ListStep
    src_pair: ListStep
    dst_repeat: Gap
    src_repeat: Gap


class TransposeHalves(NamedTuple):
    """out[j][i] = in[i][j] of 16x16 bytes, rows as in Transpose.

    A row is the lower half of its block, or the upper one where ``dst_high``, ``src_high`` say so.
    """

    dst: UbWrite
    src: UbRead
    repeat: Annotated[int, value(1, high=255)]
    dst_step: ListStep
    dst_pair: ListStep
    src_step: ListStep
    src_pair: ListStep
    dst_repeat: Gap
    src_repeat: Gap
    dst_high: Flag
    src_high: Flag


class Square(NamedTuple):
    """out[j][i] = in[i][j] of 16x16 two-byte elements that lie row after row."""

    dst: UbWrite
    src: UbRead


def entries(start: int, repeat: int, step: int, pair: int, advance: int, length: int) -> Access:
    """``length`` bytes at every entry of a list in all repeats.

    Two of the three strides suffice for the lists that the limits allow; others are nowhere.
    """
    block = BLOCK_BYTES
    if step == 2 * pair:
        return runs(start, repeat, advance * block, EDGE, pair * block, length)
    if repeat > 0 and advance == ENTRY_PAIRS * step:
        return runs(start, ENTRY_PAIRS * repeat, step * block, 2, pair * block, length)
    if repeat > 1:
        return nowhere()
    return runs(start, ENTRY_PAIRS * repeat, step * block, 2, pair * block, length)


def transpose_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    block = BLOCK_BYTES
    return (
        entries(f.dst, f.repeat, f.dst_step, f.dst_pair, f.dst_repeat, block),
        entries(f.src, f.repeat, f.src_step, f.src_pair, f.src_repeat, block),
    )


def halves_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    half = BLOCK_BYTES // 2
    target, source = f.dst + f.dst_high * half, f.src + f.src_high * half
    return (
        entries(target, f.repeat, f.dst_step, f.dst_pair, f.dst_repeat, half),
        entries(source, f.repeat, f.src_step, f.src_pair, f.src_repeat, half),
    )


def square_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    return runs(f.dst, 1, 0, 1, 0, FRACTAL_BYTES), runs(f.src, 1, 0, 1, 0, FRACTAL_BYTES)


def transpose_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """The scalar instructions that write the address registers are charged to the pipe [A]."""
    cycles = facts.head + ADDRESS_REGISTERS * soc.scalar_issue + f.repeat * facts.slope_num
    return cycles, cycles


def square_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    cycles = facts.head + facts.slope_num
    return cycles, cycles


def transpose_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    """Rows of the result may not share a block; lists advance where one access can say so."""
    broken = []
    step, pair = f.dst_step, f.dst_pair
    if step == 0 or (pair % step == 0 and pair // step < ENTRY_PAIRS):
        broken.append(("dst_pair", "a distance at which no two of the 16 rows of dst coincide"))
    sides = (
        ("dst_repeat", step, pair, f.dst_repeat),
        ("src_repeat", f.src_step, f.src_pair, f.src_repeat),
    )
    for name, step, pair, advance in sides:
        if f.repeat == 1 and advance != 0:
            # The machine adds the stride even to the only repeat [V asc-devkit TransDataTo5HD].
            broken.append((name, "0 where repeat is 1"))
        elif f.repeat > 1 and step != 2 * pair and advance != ENTRY_PAIRS * step:
            side = name.split("_")[0]
            broken.append((name, f"8 * {side}_step unless {side}_step = 2 * {side}_pair"))
    return broken


def places(f: Any, side: str, r: int) -> np.ndarray:
    """Addresses of the 16 entries of a list in repeat ``r``."""
    start, step, pair, advance = (
        getattr(f, name) for name in (side, f"{side}_step", f"{side}_pair", f"{side}_repeat")
    )
    entry = np.arange(EDGE)
    return start + (entry // 2 * step + entry % 2 * pair + r * advance) * BLOCK_BYTES


def transpose(memory: Memories, f: Any, row: Instruction) -> None:
    ub, lane = memory[Space.UB], np.arange(BLOCK_BYTES)
    for r in range(f.repeat):
        rows = ub[places(f, "src", r)[:, None] + lane].view(row.dtype.numpy)
        turned = np.ascontiguousarray(rows.T).view(np.uint8).reshape(EDGE, BLOCK_BYTES)
        ub[places(f, "dst", r)[:, None] + lane] = turned


def transpose_halves(memory: Memories, f: Any, row: Instruction) -> None:
    ub, lane, half = memory[Space.UB], np.arange(EDGE), BLOCK_BYTES // 2
    for r in range(f.repeat):
        rows = ub[places(f, "src", r)[:, None] + f.src_high * half + lane]
        ub[places(f, "dst", r)[:, None] + f.dst_high * half + lane] = rows.T


def square(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    rows = ub[f.src : f.src + FRACTAL_BYTES].view(np.uint16).reshape(EDGE, EDGE)
    ub[f.dst : f.dst + FRACTAL_BYTES] = np.ascontiguousarray(rows.T).view(np.uint8).reshape(-1)


TRANSPOSE = family(
    "transpose", Transpose, transpose_footprint, transpose_cycles, limits=transpose_limits
)
TRANSPOSE_HALVES = family(
    "transpose_halves",
    TransposeHalves,
    halves_footprint,
    transpose_cycles,
    limits=transpose_limits,
)
SQUARE = family("square", Square, square_footprint, square_cycles)


def facts(dtype: DType, slope: int) -> RowFacts:
    return RowFacts(dtype.bytes, dtype.bytes, HEAD, slope, 1, 0, 0)


def rows() -> Iterator[Instruction]:
    """Elements per cycle: 256 bytes, 128 of two bytes, 64 of four [V ADK-vec]."""
    lists = (
        (U8, TRANSPOSE_HALVES, 1, transpose_halves, "transposed squares of 16x16 bytes"),
        (U16, TRANSPOSE, 2, transpose, "transposed squares of 16x16 elements"),
        (U32, TRANSPOSE, 2, transpose, "transposed 16x8 elements"),
    )
    for dtype, form, slope, meaning, text in lists:
        name = f"scatter_vnchwconv.b{8 * dtype.bytes}"
        yield Instruction(name, Pipe.V, form, dtype, facts(dtype, slope), meaning, text)
    for dtype in (U16, I16):
        name, text = f"vtranspose.{dtype}", "one transposed square of 16x16 elements"
        yield Instruction(name, Pipe.V, SQUARE, dtype, facts(dtype, 2), square, text)


TRANSPOSED: tuple[Instruction, ...] = tuple(rows())
