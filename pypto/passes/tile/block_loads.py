"""How a machine that copies whole 32-byte blocks brings rows of a matrix into columns of fractals.

Each row or each column of blocks is one instruction: bursts of a block, spread or gathered by a
gap.
"""

from __future__ import annotations

from pypto.target.memory import BLOCK_BYTES

MAX_BURSTS = 4095
MAX_GAP = 65535


def goes_by_columns(rows: int, blocks: int, stride: int | None) -> bool:
    """Whether columns of ``blocks`` a row take fewer instructions than ``rows`` do.

    ``stride``: bytes from one row to the next, None when known at launch. Only whole blocks can be
    left out between the bursts of a column.

    >>> goes_by_columns(rows=128, blocks=4, stride=1024)
    True
    >>> goes_by_columns(rows=128, blocks=4, stride=1026)
    False
    """
    if stride is None or stride % BLOCK_BYTES or rows > MAX_BURSTS:
        return False
    return blocks < rows and stride // BLOCK_BYTES - 1 <= MAX_GAP


def load_instructions(rows: int, blocks: int, stride: int) -> int:
    """Instructions that bring in ``rows`` x ``blocks`` blocks.

    >>> load_instructions(rows=128, blocks=4, stride=1024)
    4
    """
    return blocks if goes_by_columns(rows, blocks, stride) else rows
