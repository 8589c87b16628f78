"""tile-kernels: every kernel becomes loops over tiles, and @main launches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from pypto.dialects import tile
from pypto.dialects.pypto import TensorOperation
from pypto.passes.base import Pass
from pypto.passes.host.lower_host import lower_host
from pypto.passes.tensor.units import kernel_space
from pypto.passes.tik.kernels import soc_of
from pypto.passes.tile.kernel_frame import Frame
from pypto.passes.tile.matmul_kernel import MatmulKernel
from pypto.passes.tile.movement_kernel import MovementKernel
from pypto.passes.tile.vector_kernel import VectorKernel
from pypto.target.soc import Soc

MOVES = ("slice", "concat", "permute")


@dataclass(frozen=True)
class TileKernels(Pass):
    """Kernels of tensors become kernels of tiles; ``slots`` buffers per load, 2 overlap.

    The choice of tile, slots and grid stands in ``tile.schedule`` of each kernel. A call does not
    fit a kernel of tiles, so @main changes in the same step: it allocates and launches. Sums over
    tiles are joined in another order than those of the catalogue, so floats may change.
    """

    name = "tile-kernels"
    exact: ClassVar[bool] = False
    requires: ClassVar[str] = "kernels hold primitives that share an iteration space"
    ensures: ClassVar[str] = "kernels hold loops over tiles; @main allocates buffers and launches"

    slots: int = 2

    def apply(self, context: Context, module: ModuleOp) -> None:
        soc = soc_of(module)
        kernels = [op for op in module.ops if isinstance(op, FuncOp) and is_kernel(op)]
        for kernel in kernels:
            lower_kernel(kernel, soc, self.slots)
        lower_host(module)


def is_kernel(function: FuncOp) -> bool:
    return tile.KERNEL in function.attributes


def lower_kernel(kernel: FuncOp, soc: Soc, slots: int) -> None:
    """Replace one kernel of tensors by its kernel of tiles."""
    operations = [op for op in kernel.body.block.ops if isinstance(op, TensorOperation)]
    frame = Frame.open(kernel, soc, slots)
    first = operations[0].row.name
    if first == "matmul":
        MatmulKernel(frame, operations[0]).lower()
    elif first in MOVES:
        MovementKernel(frame, operations[0]).lower()
    else:
        VectorKernel(frame, kernel_space(operations)).lower()
