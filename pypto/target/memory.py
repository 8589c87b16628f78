"""Memory spaces, pipes, and the legal data paths between spaces."""

from __future__ import annotations

from enum import StrEnum


class Space(StrEnum):
    """A memory space of one core, or ``gm``: global memory, shared by all cores."""

    GM = "gm"
    L1 = "l1"
    L0A = "l0a"
    L0B = "l0b"
    L0C = "l0c"
    UB = "ub"
    BT = "bt"
    FB = "fb"
    VR = "vr"  # registers that instructions of the vector pipe write and read


class Pipe(StrEnum):
    """An in-order queue of a core. ``all`` is legal in barriers only."""

    S = "s"
    V = "v"
    M = "m"
    MTE1 = "mte1"
    MTE2 = "mte2"
    MTE3 = "mte3"
    FIX = "fix"
    ALL = "all"


class CoreKind(StrEnum):
    """What a program runs on: a cube core (AIC), a vector core (AIV), or a coupled core."""

    CUBE = "cube"
    VECTOR = "vector"
    AICORE = "aicore"


# Numbers in Program rows and in the emulator: the position in these tuples.
SPACES: tuple[Space, ...] = tuple(Space)
PIPES: tuple[Pipe, ...] = tuple(Pipe)
LOCAL_SPACES: tuple[Space, ...] = SPACES[1:]
MEMORIES: tuple[Space, ...] = tuple(space for space in LOCAL_SPACES if space is not Space.VR)

# CMPMASK, the bits of a comparison and the operand of vsel, is the only one of these registers.
VECTOR_REGISTER_BYTES = 16

# NPU architectures: 2201 has separate cube and vector cores, 2002 and 1001 have coupled ones.
ARCHITECTURES = ("2201", "2002", "1001")

# (source, destination) -> pipe that moves [V asc-devkit architecture guides].
_COMMON_PATHS: dict[tuple[Space, Space], Pipe] = {
    (Space.GM, Space.L1): Pipe.MTE2,
    (Space.GM, Space.L0A): Pipe.MTE2,
    (Space.GM, Space.L0B): Pipe.MTE2,
    (Space.GM, Space.UB): Pipe.MTE2,
    (Space.L1, Space.L0A): Pipe.MTE1,
    (Space.L1, Space.L0B): Pipe.MTE1,
    (Space.UB, Space.GM): Pipe.MTE3,
    (Space.UB, Space.UB): Pipe.V,
    (Space.UB, Space.VR): Pipe.V,
    (Space.VR, Space.UB): Pipe.V,
}
_COUPLED_PATHS = _COMMON_PATHS | {
    (Space.L1, Space.UB): Pipe.MTE1,
    (Space.UB, Space.L1): Pipe.MTE3,
    (Space.L0C, Space.UB): Pipe.V,
    (Space.UB, Space.L0C): Pipe.V,
}
PATHS: dict[str, dict[tuple[Space, Space], Pipe]] = {
    "2201": _COMMON_PATHS
    | {
        (Space.L1, Space.BT): Pipe.MTE1,
        (Space.L1, Space.FB): Pipe.FIX,
        (Space.L1, Space.GM): Pipe.MTE3,
        (Space.L0C, Space.GM): Pipe.FIX,
        (Space.L0C, Space.L1): Pipe.FIX,
    },
    "2002": _COUPLED_PATHS,
    "1001": _COUPLED_PATHS,
}

# The memories of a core: those some path of its architecture touches.
SPACES_OF_ARCHITECTURE: dict[str, tuple[Space, ...]] = {
    architecture: tuple(s for s in LOCAL_SPACES if any(s in path for path in paths))
    for architecture, paths in PATHS.items()
}

# Units of the architecture, in bytes: what strides, repeats and fractals count in.
BLOCK_BYTES = 32
REPEAT_BYTES = 256
FRACTAL_BYTES = 512
SECTOR_BYTES = 128  # the smallest request to global memory [V], and what L2 fills at once
LINE_BYTES = 512  # the largest request [V], and what L2 makes room for at once
ACCUMULATOR_FRACTAL_BYTES = 1024  # 16x16 elements of four bytes in L0C

# What the start and size of a buffer are multiples of, in bytes.
SPACE_ALIGNMENT: dict[Space, int] = {
    Space.L1: BLOCK_BYTES,
    Space.L0A: FRACTAL_BYTES,
    Space.L0B: FRACTAL_BYTES,
    Space.L0C: ACCUMULATOR_FRACTAL_BYTES,
    Space.UB: BLOCK_BYTES,
    Space.BT: 64,
    Space.FB: 64,
}
