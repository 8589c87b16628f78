"""Schedules of matrix multiplications on cube cores: which core does what, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import lcm, prod

from pypto.errors import CompileError
from pypto.target.dtypes import F16, F32, DType

L1_HALF = 262_144  # bytes; MTE1 and MTE2 disturb each other less when they work in two halves
L0_SLOT = 32_768  # half of L0A and of L0B
F16_BYTES = F16.bytes
EDGE = 16  # rows of a fractal
# Whole fractals of a tile whose sums the next mad may take up without a barrier [V asc-devkit].
LEAST_FRACTALS = 10
GROUP_MODE, TILE_READY = 2, 8  # how vector cores are told of a tile: all of the group, counter 8


class Layout(StrEnum):
    """How B [k, n] lies in global memory."""

    ROWS_OF_K = "nk"  # transposed: n rows of k elements
    ROWS_OF_N = "kn"  # k rows of n elements
    FRACTALS = "zn"  # columns of fractals of 16 n: [n / 16][k][16]


class Ahead(StrEnum):
    """When the next packet of K is requested from global memory."""

    NOT = "not"  # where it is first used
    ONE = "one"  # a packet earlier: where the one before it is first used
    BEHIND_USE = "behind_use"  # behind the last use of the packet whose place it takes


@dataclass(frozen=True, kw_only=True)
class MatmulSchedule:
    """C[m, n] = A[m, k] x B[k, n] of f16 on ``grid_m`` x ``grid_n`` cores.

    Each core does panels of ``panel_m`` x ``panel_n``, those of neighbours beside one another,
    until C is covered; a panel tile by tile of ``base_m`` x ``base_n``, K in steps of ``base_k``.
    L1 holds ``depth`` packets of ``step_a`` steps of A and of ``step_b`` steps of B, those of B
    from byte ``l1_b`` on. ``columns_outside``: the tiles of a column come one after another.
    ``stagger``: core i starts with the i-th of the larger packets of K, which wraps around.
    ``tells``: the vector cores of the group hear of every tile that is stored.
    """

    m: int
    n: int
    k: int
    grid_m: int = 1
    grid_n: int = 1
    panel_m: int
    panel_n: int
    base_m: int
    base_n: int
    base_k: int
    step_a: int = 1
    step_b: int = 1
    depth: int = 2
    l1_b: int = L1_HALF
    columns_outside: bool = True
    ahead: Ahead = Ahead.NOT
    b_first: bool = False
    stagger: bool = False
    unit_flag: bool = False
    tells: bool = False
    layout: Layout = Layout.ROWS_OF_K
    out: DType = F32

    @property
    def cores(self) -> int:
        return self.grid_m * self.grid_n

    @property
    def k_steps(self) -> int:
        return self.k // self.base_k

    @property
    def period(self) -> int:
        """Steps of K after which all buffers are back at their first slots."""
        return lcm(2, self.depth * self.step_a, self.depth * self.step_b)

    @property
    def has_small_tiles(self) -> bool:
        """Whether some tile of C has fewer whole fractals than mads need between them."""
        sides = ((self.m, self.panel_m, self.base_m), (self.n, self.panel_n, self.base_n))
        return prod(smallest(*side) // EDGE for side in sides) < LEAST_FRACTALS

    @property
    def packet_a(self) -> int:
        """Bytes of a packet of A in L1."""
        return self.base_m * self.base_k * self.step_a * F16_BYTES

    @property
    def packet_b(self) -> int:
        """Bytes of a packet of B in L1."""
        return self.base_n * self.base_k * self.step_b * F16_BYTES

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the buffers in global memory."""
        b = {
            Layout.ROWS_OF_K: (self.n, self.k),
            Layout.ROWS_OF_N: (self.k, self.n),
            Layout.FRACTALS: (self.n // EDGE, self.k, EDGE),
        }
        return {"a": (self.m, self.k), "b": b[self.layout], "c": (self.m, self.n)}

    def check(self) -> None:
        """Raise a CompileError where the schedule does not fit the shape."""
        wanted = self.base_k * self.period
        if self.k % wanted:
            raise _unfit(
                f"k is {self.k}, not a multiple of base_k * {self.period} steps = {wanted}",
                "choose a smaller base_k, step_a or step_b",
            )
        if self.base_m % EDGE or self.base_n % EDGE or self.base_k % EDGE:
            raise _unfit("base_m, base_n and base_k must be multiples of 16", None)
        if max(self.base_m, self.base_n) * self.base_k * F16_BYTES > L0_SLOT:
            raise _unfit(
                f"a step of base_k = {self.base_k} is larger than half of L0A or L0B, "
                f"{L0_SLOT} bytes",
                "choose a smaller base_k",
            )


def smallest(extent: int, panel: int, base: int) -> int:
    """The shortest tile when ``extent`` is cut into panels, and those into tiles of ``base``."""
    panels = {min(panel, extent), extent % panel or panel}
    return min(min(base, length) if length % base == 0 else length % base for length in panels)


def _unfit(message: str, fix: str | None) -> CompileError:
    return CompileError("SCHEDULE", f"matmul schedule: {message}", fix=fix)
