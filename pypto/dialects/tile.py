"""The tile dialect: kernels as loops over tiles, SSA values with a shape and a memory space.

A tile has rank 2 and a static shape; how much of it is valid is said by the operation that roots
it (``valid(%rows, %columns)``) and inherited from there on. Global memory is a handle,
``!tile.global<f16>``, whose loads and stores take offsets and strides in elements.
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Dialect, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.scalars import folded
from pypto.dialects.tile_apply import ApplyOp
from pypto.dialects.tile_base import RootOp, TileOp
from pypto.dialects.tile_matrix import AccumulatorOp, DrainOp, ExtractOp, LoadOp, MmaOp, StoreOp
from pypto.dialects.tile_types import (
    GlobalType,
    ReduceKind,
    ReduceKindAttr,
    TileType,
    is_tile,
    tile_type,
)
from pypto.dialects.tile_vector import (
    BroadcastOp,
    FullOp,
    GatherOp,
    IotaOp,
    ReduceOp,
    TransposeOp,
)

# Attributes of a kernel function.
KERNEL = "pypto.kernel"  # a kind of core: "vector", "cube", or "aicore" where one does both
SCHEDULE = "tile.schedule"  # every choice the tiling pass made
GRANULE = "tile.granule"  # rows of a tile in UB lie round_up(valid columns, granule) apart


def valid_shape(value: SSAValue) -> tuple[int | SSAValue, int | SSAValue]:
    """Valid rows and columns of a tile: those of the operation that roots it; constants as ints."""
    reduced: set[int] = set()  # axes of the value looked at, which may be turned
    turned = False
    while True:
        owner = value.owner
        match owner:
            case RootOp():
                rows = 1 if 0 in reduced else folded(owner.valid_rows)
                columns = 1 if 1 in reduced else folded(owner.valid_columns)
                return (columns, rows) if turned else (rows, columns)
            case ApplyOp():
                value = owner.arguments[0]
            case GatherOp():
                value = owner.offsets
            case MmaOp():
                value = owner.accumulator
            case DrainOp():
                value = owner.source
            case ReduceOp():
                reduced.add(owner.axis.value.data)
                value = owner.source
            case TransposeOp():
                reduced, turned = {1 - axis for axis in reduced}, not turned
                value = owner.source
            case scf.ForOp() if isinstance(value, OpResult):
                value = owner.iter_args[value.index]
            case Block() if isinstance(value, BlockArgument):
                value = _initial_value(value)
            case _:
                raise VerifyException(f"no operation says how much of {value} is valid")


def _initial_value(argument: BlockArgument) -> SSAValue:
    loop = argument.block.parent_op()
    if not isinstance(loop, scf.ForOp) or argument.index == 0:
        raise VerifyException("a tile enters a block as a loop-carried value only")
    return loop.iter_args[argument.index - 1]


TILE_OPERATIONS: tuple[type[Operation], ...] = (
    LoadOp,
    StoreOp,
    FullOp,
    IotaOp,
    ApplyOp,
    BroadcastOp,
    ReduceOp,
    GatherOp,
    TransposeOp,
    ExtractOp,
    AccumulatorOp,
    MmaOp,
    DrainOp,
)

Tile = Dialect("tile", list(TILE_OPERATIONS), [TileType, GlobalType, ReduceKindAttr])

__all__ = [
    "GRANULE",
    "KERNEL",
    "SCHEDULE",
    "AccumulatorOp",
    "ApplyOp",
    "BroadcastOp",
    "DrainOp",
    "ExtractOp",
    "FullOp",
    "GatherOp",
    "GlobalType",
    "IotaOp",
    "LoadOp",
    "MmaOp",
    "ReduceKind",
    "ReduceKindAttr",
    "ReduceOp",
    "RootOp",
    "StoreOp",
    "Tile",
    "TileOp",
    "TileType",
    "TransposeOp",
    "is_tile",
    "tile_type",
    "valid_shape",
]
