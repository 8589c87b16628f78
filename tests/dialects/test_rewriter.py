"""The pattern walker: what it makes keeps the location of what it replaces."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from pypto.dialects.context import parse_module
from pypto.dialects.locations import source_of
from pypto.dialects.rewriter import rewrite

TEXT = """
func.func @f(%n: index) -> index {
  %a = arith.muli %n, %n : index loc("k.py":2:3)
  %b = arith.muli %a, %n : index loc("k.py":4:5)
  %dead = arith.addi %n, %n : index
  func.return %b : index
}
"""


class DoubleInstead(RewritePattern):
    """a * b -> (a + b) + a"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter, /) -> None:
        first = arith.AddiOp(op.lhs, op.rhs)
        rewriter.replace(op, [first, arith.AddiOp(first, op.lhs)])


def test_new_operations_keep_the_location() -> None:
    module = parse_module(TEXT, "k.mlir")
    assert rewrite(module, DoubleInstead(), erase_dead=True)
    additions = [op for op in module.walk() if isinstance(op, arith.AddiOp)]
    places = [str(source_of(op)) for op in additions]
    assert places == ["k.py:2:3", "k.py:2:3", "k.py:4:5", "k.py:4:5"]
    assert not rewrite(module, DoubleInstead())


def test_dead_operations_stay_unless_asked() -> None:
    module = parse_module(TEXT, "k.mlir")
    assert not rewrite(module)
    assert any(op.results and op.results[0].name_hint == "dead" for op in module.walk())
