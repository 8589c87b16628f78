"""Instructions that move whole 32-byte blocks, and drain L0C to UB."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import F16, F32, U32, DType
from pypto.target.instruction import Access, Family, Instruction, RowFacts, family, runs
from pypto.target.instructions import block_meaning as means
from pypto.target.instructions.fields import (
    Atomic,
    Bursts,
    Flag,
    Gap,
    GmRead,
    GmWrite,
    L1Read,
    L1Write,
    L2Mode,
    UbRead,
    UbWrite,
    address,
    stream_cycles,
    value,
)
from pypto.target.memory import ACCUMULATOR_FRACTAL_BYTES, BLOCK_BYTES, Pipe, Space

EDGE = 16  # rows and columns of a fractal in L0C
VECTOR_HEAD = 24

Length = Annotated[int, value()]


class BlocksGmToUb(NamedTuple):
    """GM to UB: bursts of ``length`` blocks of 32 bytes; gaps in blocks, from end to start."""

    dst: UbWrite
    src: GmRead
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap
    l2_mode: L2Mode


class BlocksUbToGm(NamedTuple):
    """UB to GM, as BlocksGmToUb."""

    dst: GmWrite
    src: UbRead
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap
    atomic: Atomic
    l2_mode: L2Mode


class BlocksGmToL1(NamedTuple):
    """GM to L1, as BlocksGmToUb."""

    dst: L1Write
    src: GmRead
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap
    l2_mode: L2Mode


class BlocksL1ToUb(NamedTuple):
    """L1 to UB, as BlocksGmToUb."""

    dst: UbWrite
    src: L1Read
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap


class BlocksUbToL1(NamedTuple):
    """UB to L1, as BlocksGmToUb."""

    dst: L1Write
    src: UbRead
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap


class BlocksInUb(NamedTuple):
    """UB to UB on the vector pipe, as BlocksGmToUb."""

    dst: UbWrite
    src: UbRead
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap


class Drain(NamedTuple):
    """L0C to UB: bursts of ``length`` fractals of 16x16 f32, converted to the row's type.

    A fractal becomes 16 rows of 16 elements without gaps. ``src_gap`` is in fractals, ``dst_gap``
    in 32-byte blocks, both from the end of a burst to the next start.
    """

    dst: UbWrite
    src: Annotated[int, address(Space.L0C, "r", align=ACCUMULATOR_FRACTAL_BYTES)]
    bursts: Bursts
    length: Length
    src_gap: Gap
    dst_gap: Gap
    relu: Flag


def blocks_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    count = f.bursts if f.length > 0 else 0
    length = f.length * BLOCK_BYTES
    return (
        runs(f.dst, 1, 0, count, length + f.dst_gap * BLOCK_BYTES, length),
        runs(f.src, 1, 0, count, length + f.src_gap * BLOCK_BYTES, length),
    )


def drain_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    count = f.bursts if f.length > 0 else 0
    length = f.length * EDGE * EDGE * facts.dst_bytes
    source = f.length * ACCUMULATOR_FRACTAL_BYTES
    gap = f.src_gap * ACCUMULATOR_FRACTAL_BYTES
    return (
        runs(f.dst, 1, 0, count, length + f.dst_gap * BLOCK_BYTES, length),
        runs(f.src, 1, 0, count, source + gap, source),
    )


def l1_to_ub_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """The port's rate, and the latency of the other loads from L1 [A]."""
    size = f.bursts * f.length * soc.block_bytes
    occupancy = max(1, (size + soc.l1_to_ub - 1) // soc.l1_to_ub)
    return occupancy, occupancy + soc.load2d_latency


def ub_to_l1_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """The port's rate, and the latency of a load from L1 [A]."""
    size = f.bursts * f.length * soc.block_bytes
    occupancy = max(1, (size + soc.ub_to_l1 - 1) // soc.ub_to_l1)
    return occupancy, occupancy + soc.load2d_latency


def in_ub_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    size = f.bursts * f.length * soc.block_bytes
    cycles = facts.head + (size + soc.vector_repeat_bytes - 1) // soc.vector_repeat_bytes
    return cycles, cycles


def drain_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """A start-up, then the bytes of the accumulator at the port's rate."""
    size = f.bursts * f.length * ACCUMULATOR_FRACTAL_BYTES
    cycles = facts.head + (size + soc.l0c_to_ub - 1) // soc.l0c_to_ub
    return cycles, cycles


GM_TO_UB = family("blocks_gm_to_ub", BlocksGmToUb, blocks_footprint, stream_cycles)
UB_TO_GM = family("blocks_ub_to_gm", BlocksUbToGm, blocks_footprint, stream_cycles)
GM_TO_L1 = family("blocks_gm_to_l1", BlocksGmToL1, blocks_footprint, stream_cycles)
L1_TO_UB = family("blocks_l1_to_ub", BlocksL1ToUb, blocks_footprint, l1_to_ub_cycles)
UB_TO_L1 = family("blocks_ub_to_l1", BlocksUbToL1, blocks_footprint, ub_to_l1_cycles)
IN_UB = family("blocks_in_ub", BlocksInUb, blocks_footprint, in_ub_cycles)
DRAIN = family("drain", Drain, drain_footprint, drain_cycles)

# These cannot stop inside a block, so they may go on into the memory behind a buffer's values.
BLOCKS_OF_GM = (GM_TO_UB, UB_TO_GM, GM_TO_L1)

BLOCK_ROWS: tuple[tuple[str, Pipe, Family, int, str], ...] = (
    ("copy_ubuf_to_ubuf", Pipe.V, IN_UB, VECTOR_HEAD, "blocks of UB to UB"),
    ("copy_gm_to_ubuf", Pipe.MTE2, GM_TO_UB, 0, "blocks of GM to UB"),
    ("copy_ubuf_to_gm", Pipe.MTE3, UB_TO_GM, 0, "blocks of UB to GM"),
    ("copy_gm_to_cbuf", Pipe.MTE2, GM_TO_L1, 0, "blocks of GM to L1"),
    ("copy_cbuf_to_ubuf", Pipe.MTE1, L1_TO_UB, 0, "blocks of L1 to UB"),
    ("copy_ubuf_to_cbuf", Pipe.MTE3, UB_TO_L1, 0, "blocks of UB to L1"),
)


def block_row(name: str, pipe: Pipe, form: Family, head: int, summary: str) -> Instruction:
    facts = RowFacts(U32.bytes, U32.bytes, head, 1, 1, 0, 0)
    meaning = means.store_blocks if form is UB_TO_GM else means.copy_blocks
    return Instruction(f"{name}.b32", pipe, form, U32, facts, meaning, summary)


def drain_row(suffix: str, dtype: DType) -> Instruction:
    facts = RowFacts(dtype.bytes, F32.bytes, VECTOR_HEAD, 1, 1, 0, 0)
    mnemonic = f"copy_matrix_cc_to_ubuf.{suffix}"
    summary = f"accumulator fractals to UB as {dtype}"
    return Instruction(mnemonic, Pipe.V, DRAIN, dtype, facts, means.drain, summary, F32)


BLOCKS: tuple[Instruction, ...] = (
    *(block_row(*row) for row in BLOCK_ROWS),
    drain_row("f32", F32),
    drain_row("f32f16", F16),
)
