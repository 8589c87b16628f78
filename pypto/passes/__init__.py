"""The passes: one line each. A pass is imported when a pipeline names it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypto.passes.base import Pass


@dataclass(frozen=True)
class PassEntry:
    """A pass by its name in pipelines and the place of its class, ``module:Class``."""

    name: str
    place: str

    def load(self) -> type[Pass]:
        """The class of the pass."""
        module, _, class_name = self.place.partition(":")
        return getattr(import_module(f"pypto.passes.{module}"), class_name)


PASSES: tuple[PassEntry, ...] = (
    PassEntry("canonicalize", "tensor.canonicalize:Canonicalize"),
    PassEntry("cse", "tensor.cse:CommonSubexpressions"),
    PassEntry("dce", "tensor.dce:DeadCode"),
    PassEntry("decompose", "tensor.decompose:Decompose"),
    PassEntry("expand-recipes", "tensor.expand_recipes:ExpandRecipes"),
    PassEntry("legalize", "tensor.legalize:Legalize"),
    PassEntry("fold-transposes", "tensor.fold_transposes:FoldTransposes"),
    PassEntry("sink-reshapes", "tensor.sink_reshapes:SinkReshapes"),
    PassEntry("split-reductions", "tensor.split_reductions:SplitReductions"),
    PassEntry("fuse", "tensor.fuse:Fuse"),
    PassEntry("outline", "tensor.outline:Outline"),
    PassEntry("tile-kernels", "tile.tile_kernels:TileKernels"),
    PassEntry("plan-memory", "host.plan_memory:PlanMemory"),
    PassEntry("lower-to-tik", "tik.lower_to_tik:LowerToTik"),
    PassEntry("sink-scalars", "tik.sink_scalars:SinkScalars"),
    PassEntry("place-buffers", "tik.place_buffers:PlaceBuffers"),
    PassEntry("insert-sync", "tik.insert_sync:InsertSync"),
    PassEntry("prefetch", "tik.prefetch:Prefetch"),
)
