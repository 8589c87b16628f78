"""The optimisation levels as pipeline strings, each made from the one below it."""

from __future__ import annotations


def inserted(pipeline: str, new: str, *, after: str) -> str:
    """``pipeline`` with the passes ``new`` behind the first pass called ``after``."""
    passes = pipeline.split(",")
    return ",".join([*passes[: passes.index(after) + 1], new, *passes[passes.index(after) + 1 :]])


# One operator is one kernel, and a kernel waits for its loads before it computes.
O0 = (
    "decompose,expand-recipes,legalize,canonicalize,dce,outline,"
    "tile-kernels{slots=1},lower-to-tik,cse,sink-scalars,place-buffers,plan-memory,insert-sync"
)
# Less work: nothing is computed twice; loads and computation overlap.
O1 = inserted(O0, "cse", after="canonicalize").replace("{slots=1}", "{slots=2}")
O1 = inserted(O1, "prefetch", after="insert-sync")
O1 = inserted(O1, "canonicalize,cse,fold-transposes", after="decompose")
# Fewer kernels: chains of operators stay in the unified buffer.
O2 = inserted(O1, "sink-reshapes,split-reductions,canonicalize,cse,dce,fuse", after="dce")
O3 = O2

PIPELINES: dict[str, str] = {"O0": O0, "O1": O1, "O2": O2, "O3": O3}
