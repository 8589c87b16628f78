"""Temporaries share global memory exactly when they never live at once."""

from __future__ import annotations

from pypto.dialects import host
from pypto.dialects.context import make_context, parse_module
from pypto.passes.host.plan_memory import PlanMemory

CHAIN = """
builtin.module attributes {pypto.soc = "ascend910b1"} {
  func.func @k(%x: !tile.global<f16>, %y: !tile.global<f16>) attributes {pypto.kernel = "vector"} {
    func.return
  }
  func.func @main(%x: !host.buffer<300xf16>) -> !host.buffer<300xf16> {
    %a = host.alloc temporary "a" : !host.buffer<300xf16>
    host.launch @k(%x, %a) grid 1 core vector : !host.buffer<300xf16>, !host.buffer<300xf16>
    %b = host.alloc temporary "b" : !host.buffer<300xf16>
    host.launch @k(%a, %b) grid 1 core vector : !host.buffer<300xf16>, !host.buffer<300xf16>
    %c = host.alloc temporary "c" : !host.buffer<300xf16>
    %v = host.view %b : !host.buffer<300xf16> -> !host.buffer<3x100xf16>
    host.launch @k(%v, %c) grid 1 core vector : !host.buffer<3x100xf16>, !host.buffer<300xf16>
    %r = host.alloc result "r" : !host.buffer<300xf16>
    host.launch @k(%c, %r) grid 1 core vector : !host.buffer<300xf16>, !host.buffer<300xf16>
    host.return %r : !host.buffer<300xf16>
  }
}
"""


def offsets_of(text: str) -> dict[str, int | None]:
    """The planned offset of every buffer by its name."""
    context, module = make_context(), parse_module(text, "chain.mlir")
    PlanMemory().apply(context, module)
    return {
        op.label.data: None if op.offset is None else op.offset.value.data
        for op in module.walk()
        if isinstance(op, host.AllocOp)
    }


def test_offsets_of_a_chain():
    offsets = offsets_of(CHAIN)
    assert offsets["r"] is None  # the caller's
    assert offsets["a"] == offsets["c"] == 0  # a is dead when c is made
    assert offsets["b"] == 1024


def test_a_temporary_keeps_what_lies_behind_its_values():
    """512 bytes of values and the block behind them do not fit before the next multiple of 512."""
    offsets = offsets_of(CHAIN.replace("300x", "256x").replace("3x100", "2x128"))
    assert (offsets["a"], offsets["b"]) == (0, 1024)
