"""Unit flags of L0C: which block may be filled and which drained, and who flips the flags."""

from __future__ import annotations

from typing import Any

from pypto.emulator.hazards_context import Entry
from pypto.emulator.state import UNIT_BLOCK_BYTES
from pypto.target.instruction import Instruction, byte_ranges
from pypto.target.memory import Pipe, Space

CHECKS, FLIPS = 2, 3  # unit modes
FIELD = "unit_flag"


def unit_mode(entry: Entry) -> int:
    """The unit mode of an instruction, 0 where it has none."""
    row = entry.dispatch.form.row
    if row is None:
        return 0
    position = entry.dispatch.form.index(FIELD)
    return 0 if position is None else entry.dispatch.operands[position]


class UnitFlags:
    """The flags of one core: the blocks of L0C whose flag is up, and who put it up."""

    def __init__(self) -> None:
        self.up: dict[int, Entry] = {}

    def passes(self, entry: Entry) -> bool:
        """Begin an instruction and flip its flags; False when it waits for some of them."""
        mode = unit_mode(entry)
        row = entry.dispatch.form.row
        if mode < CHECKS or row is None:
            return True
        drains = row.pipe is Pipe.FIX
        blocks = blocks_of(row, entry.dispatch.operands)
        if any((number in self.up) != drains for number in blocks):
            return False
        if mode == FLIPS and drains:
            for number in blocks:
                del self.up[number]
        elif mode == FLIPS:
            self.up.update(dict.fromkeys(blocks, entry))
        return True

    def missing(self, entry: Entry) -> str:
        """What an instruction waits for."""
        row = entry.dispatch.form.row
        assert row is not None
        drains = row.pipe is Pipe.FIX
        blocks = blocks_of(row, entry.dispatch.operands)
        number = min(one for one in blocks if (one in self.up) != drains)
        state = "no multiplication puts up" if drains else "no drain takes down"
        return (
            f"{row.pipe} waits with {row.mnemonic} (row {entry.dispatch.row}): {state} the unit "
            f"flag of byte {number * UNIT_BLOCK_BYTES} of l0c"
        )


def are_ordered(earlier: Entry, later: Entry, space: Space) -> bool:
    """Whether unit flags order two instructions on M and FIX where they meet in L0C.

    Two multiplications are ordered by the drain between them, which took the flag down again.
    """
    if space is not Space.L0C or min(unit_mode(earlier), unit_mode(later)) < CHECKS:
        return False
    rows = earlier.dispatch.form.row, later.dispatch.form.row
    drains = [row is not None and row.pipe is Pipe.FIX for row in rows]
    return any(drains) or unit_mode(earlier) == FLIPS


def blocks_of(row: Instruction, operands: tuple[int, ...]) -> set[int]:
    """The blocks of L0C that an instruction touches."""
    fields: Any = row.family.tuple_type(*operands)
    access = row.family.footprint(fields, row.facts)[row.spaces().index(Space.L0C)]
    return {
        number
        for start, stop in byte_ranges(access)
        for number in range(start // UNIT_BLOCK_BYTES, -(-stop // UNIT_BLOCK_BYTES))
    }
