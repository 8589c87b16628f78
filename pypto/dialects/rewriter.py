"""The pattern walker of our passes: what a rewrite makes keeps the location of what it replaces."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)

from pypto.dialects.locations import UNKNOWN


@dataclass
class _Locating(RewritePattern):
    """Remembers the location of the operation a pattern is tried on, and gives it to new ones."""

    inner: RewritePattern

    def __post_init__(self) -> None:
        self.location = UNKNOWN

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        self.location = op.location
        self.inner.match_and_rewrite(op, rewriter)

    def locate(self, op: Operation) -> None:
        for made in op.walk():
            if isinstance(made.location, UnknownLoc):
                made.location = self.location


def rewrite(
    module: ModuleOp, *patterns: RewritePattern, recursive: bool = True, erase_dead: bool = False
) -> bool:
    """Applies patterns over a module, the first that matches; says whether anything changed.

    ``recursive`` goes on until nothing matches; lowerings set it to False. ``erase_dead`` also
    erases operations without effects whose results nobody uses.
    """
    locating = _Locating(GreedyRewritePatternApplier(list(patterns), dce_enabled=erase_dead))
    listener = PatternRewriterListener(operation_insertion_handler=[locating.locate])
    walker = PatternRewriteWalker(locating, apply_recursively=recursive, listener=listener)
    return walker.rewrite_module(module)
