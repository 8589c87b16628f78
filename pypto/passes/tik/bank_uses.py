"""What vector instructions lose in the banks of UB, by where their buffers lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from pypto.target.banks import GROUPS, LAYER_BLOCKS
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.memory import BLOCK_BYTES
from pypto.target.soc import Soc

TURN_BYTES = GROUPS * BLOCK_BYTES  # addresses so far apart lie in the same group of banks
LAYER_BYTES = LAYER_BLOCKS * BLOCK_BYTES


class Use(NamedTuple):
    """An instruction: its fields, addresses left at 0, and which of them point into which buffer.

    ``weight`` is how often it runs, as far as that can be told.
    """

    mnemonic: str
    fields: tuple[int, ...]
    operands: tuple[tuple[int, int], ...]  # position of the field, number of the buffer
    weight: int


def lost_cycles(uses: Iterable[Use], places: Mapping[int, int], soc: Soc) -> int:
    """Cycles that bank conflicts add to the uses whose buffers all have places."""
    total = 0
    for use in uses:
        if all(number in places for _, number in use.operands):
            fields = list(use.fields)
            for position, number in use.operands:
                place = places[number]
                fields[position] = place // LAYER_BYTES * LAYER_BYTES + place % TURN_BYTES
            total += use.weight * conflicts_of(use.mnemonic, tuple(fields), soc)
    return total


@lru_cache(maxsize=65536)
def conflicts_of(mnemonic: str, fields: tuple[int, ...], soc: Soc) -> int:
    """Cycles that conflicts add to one instruction."""
    row = BY_MNEMONIC[mnemonic]
    assert row.family.conflicts is not None
    return row.family.conflicts(row.family.tuple_type(*fields), row.facts, soc.numbers)


def candidates(low: int, high: int, size: int) -> Iterator[int]:
    """Places for ``size`` bytes from ``low`` to ``high``: either half turn, at either end."""
    step = TURN_BYTES // 2
    first = -(-low // step) * step
    last = (high - size) // step * step
    for place in (first, first + step, last - step, last):
        if low <= place and place + size <= high:
            yield place
