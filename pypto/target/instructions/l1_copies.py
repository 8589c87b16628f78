"""Instructions that copy bursts of L1 to the tables beside cube and fixpipe, and to GM."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import F16, F32, U32, DType
from pypto.target.instruction import Access, Instruction, RowFacts, family, runs
from pypto.target.instructions import l1_copies_meaning as means
from pypto.target.instructions.fields import (
    Atomic,
    Bursts,
    Gap,
    GmWrite,
    L1Read,
    L2Mode,
    address,
    stream_cycles,
    value,
)
from pypto.target.memory import BLOCK_BYTES, Pipe, Space

BIAS_UNIT = 64  # bytes: lengths and gaps of BT
SCALE_UNIT = 128  # of FB

Length = Annotated[int, value()]


class L1ToBt(NamedTuple):
    """L1 to BT: bursts of ``length`` times 64 bytes of L1.

    The f16 row widens to f32 on the way. ``src_gap`` is in 32 bytes, ``dst_gap`` in 64, both
    from the end of a burst to the next start.
    """

    dst: Annotated[int, address(Space.BT, "w", align=64)]
    src: L1Read
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap


class L1ToFb(NamedTuple):
    """L1 to FB: bursts of ``length`` times 128 bytes; gaps as L1ToBt, in 32 and 128 bytes."""

    dst: Annotated[int, address(Space.FB, "w", align=128)]
    src: L1Read
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap


class L1ToGm(NamedTuple):
    """L1 to GM: bursts of ``length`` blocks of 32 bytes; gaps in blocks, from end to start."""

    dst: GmWrite
    src: L1Read
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap
    atomic: Atomic
    l2_mode: L2Mode


def bursts_of(f: Any, read: int, written: int, gap: int) -> tuple[Access, Access]:
    """Bursts that read and write so many bytes per unit of length; ``gap``: unit of ``dst_gap``."""
    count = f.bursts if f.length > 0 else 0
    target, source = f.length * written, f.length * read
    return (
        runs(f.dst, 1, 0, count, target + f.dst_gap * gap, target),
        runs(f.src, 1, 0, count, source + f.src_gap * BLOCK_BYTES, source),
    )


def bias_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    written = BIAS_UNIT * facts.dst_bytes // facts.src_bytes
    return bursts_of(f, BIAS_UNIT, written, BIAS_UNIT)


def scale_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    return bursts_of(f, SCALE_UNIT, SCALE_UNIT, SCALE_UNIT)


def gm_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    return bursts_of(f, BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES)


def table_cycles(size: int, rate: int, latency: int) -> tuple[int, int]:
    occupancy = max(1, (size + rate - 1) // rate)
    return occupancy, occupancy + latency


def bias_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    size = f.bursts * f.length * BIAS_UNIT
    return table_cycles(size, soc.l1_to_table, soc.l1_to_table_latency)


def scale_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    size = f.bursts * f.length * SCALE_UNIT
    return table_cycles(size, soc.l1_to_table, soc.l1_to_table_latency)


L1_TO_BT = family("l1_to_bt", L1ToBt, bias_footprint, bias_cycles)
L1_TO_FB = family("l1_to_fb", L1ToFb, scale_footprint, scale_cycles)
L1_TO_GM = family("l1_to_gm", L1ToGm, gm_footprint, stream_cycles)


def facts_of(source: DType, result: DType) -> RowFacts:
    return RowFacts(result.bytes, source.bytes, 0, 1, 1, 0, 0)


L1_COPIES: tuple[Instruction, ...] = (
    Instruction(
        "copy_cbuf_to_bt.b32",
        Pipe.MTE1,
        L1_TO_BT,
        U32,
        facts_of(U32, U32),
        means.to_table,
        "biases of L1 to BT",
    ),
    Instruction(
        "copy_cbuf_to_bt.f16",
        Pipe.MTE1,
        L1_TO_BT,
        F32,
        facts_of(F16, F32),
        means.to_table,
        "halves of L1 to BT as f32",
        F16,
    ),
    Instruction(
        "copy_cbuf_to_fbuf.b32",
        Pipe.FIX,
        L1_TO_FB,
        U32,
        facts_of(U32, U32),
        means.to_table,
        "scales of L1 to FB",
    ),
    Instruction(
        "copy_cbuf_to_gm.b32",
        Pipe.MTE3,
        L1_TO_GM,
        U32,
        facts_of(U32, U32),
        means.to_gm,
        "blocks of L1 to GM",
    ),
)
