"""Scaled conversions: i32 to half, and i16 to bytes that fill one half of each block.

The vendor packs scale, offset and the address of a table into one register; here the address has
a register of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from pypto.target import numerics
from pypto.target.dtypes import F16, I8, I16, I32, U8
from pypto.target.instruction import Access, Instruction, RowFacts, family, runs
from pypto.target.instructions import vector_footprint as shape
from pypto.target.instructions.bytes import element, read, write
from pypto.target.instructions.fields import (
    Block,
    DstBlock,
    MaskHigh,
    MaskLow,
    MaskMode,
    Repeat,
    RepeatStride,
    Saturation,
    UbMasked,
    UbRead,
    address,
    state,
)
from pypto.target.instructions.vector import CAST_HEAD, instruction
from pypto.target.instructions.vector_footprint import lane_access, lanes_each, lanes_last, repeats
from pypto.target.instructions.vector_meaning import Memories, active_lanes, place, saturated
from pypto.target.memory import BLOCK_BYTES, Space
from pypto.target.quantisation import to_bytes

LANES = 16  # of i16 in a block, bytes in half a block
WORD_BYTES = 8
Scale = Annotated[int, state("deq_scale", 0)]


class Dequantise(NamedTuple):
    """dst[i] = (src[i] / 2^17 * scale) * 2^17; the scale is the half in the low 16 bits."""

    dst: UbMasked
    src: UbRead
    repeat: Repeat
    dst_block: DstBlock
    src_block: Block
    dst_repeat: RepeatStride
    src_repeat: RepeatStride
    scale: Scale
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow
    saturation: Saturation


class ToBytes(NamedTuple):
    """Lane i of a block of src to byte i of one half of a block of dst, scaled by one word.

    The word is that of ``quantisation.scale_word``; its sign bit chooses i8 or u8.
    """

    dst: UbMasked
    src: UbRead
    repeat: Repeat
    dst_block: DstBlock
    src_block: Block
    dst_repeat: RepeatStride
    src_repeat: RepeatStride
    scale: Scale
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow


class ToBytesByTable(NamedTuple):
    """As ToBytes, lane i of every block by word i of the 16 words at ``words``."""

    dst: UbMasked
    src: UbRead
    words: Annotated[int, address(Space.UB, "r", state="deq_words")]
    repeat: Repeat
    dst_block: DstBlock
    src_block: Block
    dst_repeat: RepeatStride
    src_repeat: RepeatStride
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow


def half_access(f: Any, facts: RowFacts) -> Access:
    """One byte per lane, in the half of each block that the row's variant names."""
    count, each, last = repeats(f, facts), lanes_each(f, facts), lanes_last(f, facts)
    inner = (each + LANES - 1) // LANES
    last_inner = (last + LANES - 1) // LANES
    return Access(
        f.dst + facts.variant * LANES,
        count if each > 0 else 0,
        f.dst_repeat * BLOCK_BYTES,
        inner,
        f.dst_block * BLOCK_BYTES,
        LANES,
        each - (inner - 1) * LANES,
        last_inner,
        last - (last_inner - 1) * LANES,
    )


def bytes_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    source = lane_access(f, facts, f.src, f.src_block, f.src_repeat, facts.src_bytes)
    return half_access(f, facts), source


def table_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    source = lane_access(f, facts, f.src, f.src_block, f.src_repeat, facts.src_bytes)
    used = repeats(f, facts) if lanes_each(f, facts) > 0 else 0
    return half_access(f, facts), source, runs(f.words, min(used, 1), 0, 1, 0, LANES * WORD_BYTES)


@np.errstate(all="ignore")
def dequantised(values: np.ndarray, scale: int) -> np.ndarray:
    """Half values; every step in f32 [A], where only the conversion and the product round."""
    factor = element(scale, F16).astype(np.float32)
    down = values.astype(np.float32) * np.float32(2.0**-17)
    return numerics.nearest(down * factor * np.float32(2.0**17), F16)


def dequantise(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    for i, lanes in active_lanes(f, row):
        values = read(ub, place(f.src, f.src_block, f.src_repeat, i, lanes, I32), I32)
        target = place(f.dst, f.dst_block, f.dst_repeat, i, lanes, F16)
        write(ub, target, saturated(f, dequantised(values, f.scale), F16), F16)


def to_half_blocks(memory: Memories, f: Any, row: Instruction) -> None:
    ub = memory[Space.UB]
    if "words" in f._fields:
        at = f.words + np.arange(LANES * WORD_BYTES)
        table = ub[at].view(np.int64)
    else:
        table = np.full(LANES, f.scale, np.int64)
    half = row.facts.variant * LANES
    for i, lanes in active_lanes(f, row):
        values = read(ub, place(f.src, f.src_block, f.src_repeat, i, lanes, I16), I16)
        block = i * f.dst_repeat + lanes // LANES * f.dst_block
        target = f.dst + block * BLOCK_BYTES + half + lanes % LANES
        write(ub, target, to_bytes(values, table[lanes % LANES], False), U8)


DEQUANTISE = family(
    "dequantise",
    Dequantise,
    shape.unary_footprint,
    shape.vector_cycles,
    conflicts=shape.unary_conflicts,
)
TO_BYTES = family("to_bytes", ToBytes, bytes_footprint, shape.vector_cycles)
TO_BYTES_BY_TABLE = family(
    "to_bytes_by_table", ToBytesByTable, table_footprint, shape.vector_cycles
)


def rows() -> Iterator[Instruction]:
    once, head = (1, 1), CAST_HEAD
    text = "i32 to half by a scale"
    yield instruction("vconv_deq", DEQUANTISE, F16, once, head, dequantise, text, I32)
    for prefix, form, by in (
        ("vconv_deqs162b8", TO_BYTES, "a scale"),
        ("vconv_vdeqs162b8", TO_BYTES_BY_TABLE, "a scale per lane of a block"),
    ):
        for variant, half in enumerate(("l", "h")):
            summary = f"i16 to bytes by {by}, to the {('lower', 'upper')[variant]} half of blocks"
            meaning, name = to_half_blocks, f"{prefix}{half}"
            yield instruction(name, form, I8, once, head, meaning, summary, I16, variant)


DEQUANTISED: tuple[Instruction, ...] = tuple(rows())
