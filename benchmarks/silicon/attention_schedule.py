"""Attention of one head in tiles, cube and vector cores side by side: what goes where.

The schedule is that of kernels/manual/common/flash_atten of hw-native-sys/pto-isa: a group of one
cube and two vector cores takes 128 rows of queries and runs over the keys in tiles of 256. The
cube core writes scores to a ring in global memory, the vector cores turn them into weights in a
second one, the cube core multiplies these with the values into a third, and the vector cores sum
that up. Scores run ``preload`` tiles ahead of the sums.
"""

from __future__ import annotations

from dataclasses import dataclass

from pypto.errors import CompileError
from pypto.target.dtypes import F16, F32

ROWS = 128  # of queries in a block
HEAD = 128  # elements of a query, a key and a value
SUB = 128  # keys of one product
TILE = 256  # keys of a tile
SUBS = TILE // SUB
VECTORS = 2  # vector cores of a group
VECTOR_ROWS = ROWS // VECTORS
SLICE = VECTOR_ROWS // SUBS  # rows that a vector core takes at a time
RING = 8  # tiles that a ring in global memory holds
PERIOD = RING // 2  # tiles after which a reader tells that it is through with them
SCORES, SCORES_FREE, WEIGHTS, WEIGHTS_FREE, SUMS, SUMS_FREE = range(6)  # counters between cores
GROUP_MODE = 2

PIECE_SCORES = ROWS * SUB * F32.bytes
PIECE_WEIGHTS = ROWS * SUB * F16.bytes
TILE_SUMS = ROWS * HEAD * F32.bytes
MATRIX = ROWS * HEAD * F16.bytes  # of queries, keys, weights or values in L1


@dataclass(frozen=True, kw_only=True)
class AttentionSchedule:
    """O[rows, 128] = softmax(Q K^T / sqrt(128)) V of f16 on ``groups`` groups of cores."""

    rows: int
    keys: int
    groups: int
    preload: int = PERIOD
    unit_flag: bool = False

    @property
    def tiles(self) -> int:
        return self.keys // TILE

    @property
    def blocks(self) -> int:
        return self.rows // ROWS

    @property
    def pending(self) -> int:
        """What readers have told at the end of a block and writers did not have to wait for."""
        return min(2, self.tiles // PERIOD)

    def check(self) -> None:
        """Raise a CompileError where the schedule does not fit the shape."""
        if self.rows % ROWS or self.keys % (TILE * PERIOD) or self.preload != PERIOD:
            raise CompileError(
                "SCHEDULE",
                f"attention schedule: {self.rows} rows by {ROWS} and {self.keys} keys by "
                f"{TILE * PERIOD} do not come out even, or the preload is not {PERIOD}",
            )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the buffers in global memory."""
        return {
            "q": (self.rows, HEAD),
            "k": (self.keys, HEAD),
            "v": (self.keys, HEAD),
            "scores": (self.groups, RING, SUBS, ROWS, SUB),
            "weights": (self.groups, RING, SUBS, ROWS, SUB),
            "sums": (self.groups, RING, ROWS, HEAD),
            "o": (self.rows, HEAD),
        }
