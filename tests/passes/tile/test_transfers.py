"""Cycles of reads: the port for long rows, the window for short ones."""

from __future__ import annotations

import pytest

from pypto.passes.tile.transfers import read_cycles


@pytest.mark.parametrize(
    ("rows", "row_bytes", "cycles"),
    [
        (128, 512, 128 * 512 // 110),  # 4.7 cycles per line on the port, 3.4 under way
        (128, 128, 128 * 216 // 64),  # one sector: 1.2 on the port
        (128, 32, 128 * 216 // 64),  # a block costs what a sector does
        (1, 65536, 65536 // 110),
        (7, 130, 7 * 216 // 64),
        (0, 512, 0),
    ],
)
def test_reads(rows: int, row_bytes: int, cycles: int) -> None:
    assert read_cycles(rows, row_bytes, 110, 216, 64) == cycles
