"""Bursts of L1 to the tables beside cube and fixpipe, and to GM."""

from __future__ import annotations

from pypto.emulator.compiled.kernels.moves import store
from pypto.emulator.compiled.raw import internal, pointer
from pypto.target.memory import BLOCK_BYTES


@internal
def to_table(f, table, l1, read, written, gap, source_kind, kind, size, decode):
    """``read`` bytes of L1 become ``written`` bytes per unit of length, element for element."""
    count = f.length * written // size
    for i in range(f.bursts):
        s = pointer(l1 + f.src + i * (f.length * read + f.src_gap * BLOCK_BYTES), source_kind)
        d = pointer(table + f.dst + i * (f.length * written + f.dst_gap * gap), kind)
        for k in range(count):
            d[k] = decode(s[k])
    return 0


@internal
def to_gm(f, gm, l1):
    """Bursts of whole blocks to GM."""
    length = f.length * BLOCK_BYTES
    for i in range(f.bursts):
        target = gm + f.dst + i * (length + f.dst_gap * BLOCK_BYTES)
        store(target, l1 + f.src + i * (length + f.src_gap * BLOCK_BYTES), length, f.atomic)
    return 0
