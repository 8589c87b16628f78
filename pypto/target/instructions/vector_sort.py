"""Sorting: 32 scores with their indices into pairs, and sorted lists of pairs into one.

A pair is eight bytes: the score, its index at byte 4; of a half's score bytes 2 and 3 hold 0 here
[A], the vendor reserves them. Order: larger scores first, equal ones (of either sign of zero) as
they stood [V asc-devkit Sort32, MrgSort]; NaN before all numbers [A].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from pypto.target.dtypes import U32, DType
from pypto.target.instruction import Access, Instruction, RowFacts, family, runs
from pypto.target.instructions.bytes import read
from pypto.target.instructions.fields import (
    Flag,
    Repeat,
    UbMasked,
    UbRead,
    UbWrite,
    address,
    value,
)
from pypto.target.instructions.vector import F16_F32, instruction
from pypto.target.instructions.vector_footprint import repeat_cycles
from pypto.target.instructions.vector_meaning import Memories
from pypto.target.memory import Space

SORTED_AT_ONCE = 32
PAIR_BYTES = 8
QUEUES = 4
HEAD = 24
PAIRS_PER_CYCLE = 2

UbPairs = Annotated[int, address(Space.UB, "r", align=PAIR_BYTES)]
Length = Annotated[int, value(0, high=4095)]


class BitSort(NamedTuple):
    """32 pairs of dst = 32 scores of src0 with indices of src1, sorted; all dense over repeats."""

    dst: UbWrite
    src0: UbRead
    src1: UbRead
    repeat: Repeat


class MergeSort(NamedTuple):
    """The sorted lists src0..3 of ``length0..3`` pairs merged into dst.

    ``valid``: bit i says that list i takes part: 3, 7 or 15. ``suspend``: stop as soon as one
    list has no pair left. ``repeat`` above 1 takes lists of one length that follow each other,
    and groups of four that do.
    """

    dst: UbMasked
    src0: UbPairs
    src1: UbPairs
    src2: UbPairs
    src3: UbPairs
    length0: Length
    length1: Length
    length2: Length
    length3: Length
    repeat: Repeat
    valid: Annotated[int, value(15, low=3, high=15)]
    suspend: Flag


def sort_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access]:
    count = f.repeat * SORTED_AT_ONCE
    return (
        runs(f.dst, 1, 0, 1, 0, count * PAIR_BYTES),
        runs(f.src0, 1, 0, 1, 0, count * facts.src_bytes),
        runs(f.src1, 1, 0, 1, 0, count * 4),
    )


def lengths(f: Any) -> tuple[int, int, int, int]:
    """Pairs of each list, 0 for one that takes no part."""
    return (
        f.length0,
        f.length1,
        f.length2 if f.valid & 4 else 0,
        f.length3 if f.valid & 8 else 0,
    )


def merged_pairs(f: Any) -> int:
    """The most pairs of all repeats."""
    a, b, c, d = lengths(f)
    return f.repeat * (a + b + c + d)


def merge_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access, Access, Access, Access]:
    a, b, c, d = lengths(f)
    stride = (a + b + c + d) * PAIR_BYTES
    return (
        runs(f.dst, 1, 0, 1, 0, merged_pairs(f) * PAIR_BYTES),
        runs(f.src0, f.repeat, stride, 1, 0, a * PAIR_BYTES),
        runs(f.src1, f.repeat, stride, 1, 0, b * PAIR_BYTES),
        runs(f.src2, f.repeat, stride, 1, 0, c * PAIR_BYTES),
        runs(f.src3, f.repeat, stride, 1, 0, d * PAIR_BYTES),
    )


def merge_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    broken = []
    if f.valid not in (3, 7, 15):
        broken.append(("valid", "3, 7 or 15: the first two, three or four lists"))
    step = f.length0 * PAIR_BYTES
    one_length = f.length0 == f.length1 == f.length2 == f.length3
    follow = f.src1 == f.src0 + step and f.src2 == f.src1 + step and f.src3 == f.src2 + step
    if f.repeat > 1 and (f.valid != 15 or f.suspend != 0 or not one_length or not follow):
        limit = "1 unless four lists of one length follow each other and suspend is 0"
        broken.append(("repeat", limit))
    end = f.dst + merged_pairs(f) * PAIR_BYTES
    sources = (f.src0, f.src1, f.src2, f.src3)
    for i, (start, count) in enumerate(zip(sources, lengths(f), strict=True)):
        stop = start + (f.repeat - 1) * 4 * step + count * PAIR_BYTES
        if count > 0 and f.repeat > 0 and start < end and f.dst < stop:
            broken.append((f"src{i}", "a list apart from dst"))
    return broken


def sort_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    return repeat_cycles(f.repeat, facts)


def merge_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """As if no list ran out early: how many pairs are left then is data [A]."""
    return repeat_cycles(merged_pairs(f), facts)


@np.errstate(all="ignore")
def in_order(scores: np.ndarray) -> np.ndarray:
    """Positions of scores in the machine's order; equal ones keep theirs."""
    wide = scores.astype(np.float64)
    unordered = np.isnan(wide)
    return np.lexsort((np.where(unordered, 0, -wide), ~unordered))


def pair_bytes(scores: np.ndarray, indices: np.ndarray, dtype: DType) -> np.ndarray:
    """Pairs as bytes [count, 8]."""
    pairs = np.zeros((len(scores), PAIR_BYTES), np.uint8)
    pairs[:, : dtype.bytes] = np.ascontiguousarray(scores).view(np.uint8).reshape(-1, dtype.bytes)
    pairs[:, 4:] = np.ascontiguousarray(indices).view(np.uint8).reshape(-1, 4)
    return pairs


def bit_sort(memory: Memories, f: Any, row: Instruction) -> None:
    ub, dtype = memory[Space.UB], row.dtype
    lanes = np.arange(SORTED_AT_ONCE)
    for i in range(f.repeat):
        first = i * SORTED_AT_ONCE
        scores = read(ub, f.src0 + (first + lanes) * dtype.bytes, dtype)
        indices = read(ub, f.src1 + (first + lanes) * 4, U32)
        order = in_order(scores)
        start = f.dst + first * PAIR_BYTES
        data = pair_bytes(scores[order], indices[order], dtype)
        ub[start : start + data.size] = data.reshape(-1)


def merge_sort(memory: Memories, f: Any, row: Instruction) -> None:
    """Pair by pair, so that lists that are not sorted give what the machine's merger gives."""
    ub, dtype = memory[Space.UB], row.dtype
    counts = lengths(f)
    starts = (f.src0, f.src1, f.src2, f.src3)
    total, target = sum(counts), f.dst
    for i in range(f.repeat):
        at = [start + i * total * PAIR_BYTES for start in starts]
        left = list(counts)
        while any(left) and not (f.suspend and has_run_out(left, counts)):
            heads = [q for q in range(QUEUES) if left[q]]
            scores = read(ub, np.array([at[q] for q in heads]), dtype)
            queue = heads[int(in_order(scores)[0])]
            ub[target : target + PAIR_BYTES] = ub[at[queue] : at[queue] + PAIR_BYTES]
            target += PAIR_BYTES
            at[queue] += PAIR_BYTES
            left[queue] -= 1


def has_run_out(left: list[int], counts: tuple[int, ...]) -> bool:
    """Whether a list that had pairs has none left."""
    return any(count and not rest for rest, count in zip(left, counts, strict=True))


BIT_SORT = family("bit_sort", BitSort, sort_footprint, sort_cycles)
MERGE_SORT = family("merge_sort", MergeSort, merge_footprint, merge_cycles, merge_limits)


def rows() -> Iterator[Instruction]:
    """Elements sorted or merged per cycle: two, by the vendor's table [V ADK-vec].

    Whole top-k kernels ran as if it were one [M PTO topk]; no lone sort or merge was measured, and
    nothing is documented that would halve the rate, so the table stands.
    """
    for dtype in F16_F32:
        slope = (SORTED_AT_ONCE, PAIRS_PER_CYCLE)
        text = "32 scores and indices sorted into pairs"
        yield instruction(f"vbitsort.{dtype}", BIT_SORT, dtype, slope, HEAD, bit_sort, text)
    for dtype in F16_F32:
        text = "up to four sorted lists of pairs merged"
        slope = (1, PAIRS_PER_CYCLE)
        yield instruction(f"vmrgsort4.{dtype}", MERGE_SORT, dtype, slope, HEAD, merge_sort, text)


SORTED: tuple[Instruction, ...] = tuple(rows())
