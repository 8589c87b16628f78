"""The host dialect: what it refuses."""

from __future__ import annotations

import pytest

from pypto.dialects import host
from pypto.target.dtypes import U8
from tests.dialects.invalid import complaint, place_of

MODULE = """
func.func @k(%x: !tile.global<f16>, %n: index) attributes {{pypto.kernel = "vector"}} {{
  func.return
}}
func.func @main(%x: !host.buffer<4x?xf16>) -> (!host.buffer<4x8xf16>) {{
  %n = host.dim %x axis 1 : !host.buffer<4x?xf16>
  %t = host.alloc temporary "t" : !host.buffer<4x8xf16>
  %y = host.alloc result "y" : !host.buffer<4x8xf16>
  {operation}
}}
"""
RETURN = "\n  host.return %y : !host.buffer<4x8xf16>"

MISTAKES = [
    ("%d = host.dim %x axis 2 : !host.buffer<4x?xf16>", "!host.buffer<4x?xf16> has no axis 2"),
    ('%z = host.alloc result "z" : !host.buffer<?xf16>', "takes 1 extents, 0 are given"),
    ('%z = host.alloc input "z" : !host.buffer<f16>', "a role is expected: one of temporary"),
    ('%z = host.alloc result "z" offset -1 : !host.buffer<f16>', "a planned offset is at least 0"),
    ('%z = host.alloc result "z" : !host.buffer<4xf64>', "f64 is no element type"),
    ('%z = host.alloc result "z" : f16', "a !host.buffer type is expected"),
    ('%z = host.constant "z" resource "r" : !host.buffer<?xf16>', "a constant has a static shape"),
    ("%z = host.view %y : !host.buffer<4x8xf16> -> !host.buffer<33xf16>", "32 elements"),
    ("%z = host.view %y : !host.buffer<4x8xf16> -> !host.buffer<32xf32>", "keeps the element type"),
    ("host.launch @z() grid 1 core vector : ", "there is no kernel @z"),
    ("host.launch @k(%n) grid 1 core vector : index", "@k takes 2 arguments, 1 are given"),
    (
        "host.launch @k(%y, %n) grid 0 core vector : !host.buffer<4x8xf16>, index",
        "a grid has at least one block, not 0",
    ),
    (
        "host.launch @k(%y, %n) grid 1 core sun : !host.buffer<4x8xf16>, index",
        "a kind of core is expected: one of vector, cube, aicore",
    ),
    (
        "host.launch @k(%n, %y) grid 1 core vector : index, !host.buffer<4x8xf16>",
        "argument 0 of @k is index, it takes !tile.global<f16>",
    ),
]


@pytest.mark.parametrize(("operation", "message"), MISTAKES)
def test_mistakes_are_told(operation: str, message: str) -> None:
    text = MODULE.format(operation=operation + RETURN)
    error = complaint(text)
    assert message in error.message
    assert error.location is not None
    assert error.location.line >= place_of(text, operation)[0]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("host.return %x : !host.buffer<4x?xf16>", "@main returns (!host.buffer<4x8xf16>), not"),
        ("host.return %t : !host.buffer<4x8xf16>", "buffer t is temporary, no result"),
        ("host.return", "@main returns (!host.buffer<4x8xf16>), not ()"),
    ],
)
def test_main_returns_fresh_results(returned: str, message: str) -> None:
    assert message in complaint(MODULE.format(operation=returned)).message


def test_an_input_is_no_result() -> None:
    text = MODULE.format(operation="host.return %x : !host.buffer<4x?xf16>")
    text = text.replace("-> (!host.buffer<4x8xf16>)", "-> (!host.buffer<4x?xf16>)")
    assert "is an input or a constant, not a fresh buffer" in complaint(text).message


def test_two_results_are_two_buffers() -> None:
    both = "!host.buffer<4x8xf16>, !host.buffer<4x8xf16>"
    text = MODULE.format(operation=f"host.return %y, %y : {both}")
    text = text.replace("-> (!host.buffer<4x8xf16>)", f"-> ({both})")
    assert "two results are one buffer" in complaint(text).message


def test_types_are_plain() -> None:
    kind = host.BufferType((3, host.DYNAMIC), U8)
    assert str(kind) == "!host.buffer<3x?xui8>"
    assert (kind.shape, kind.dtype, kind.dynamic_count) == ((3, host.DYNAMIC), U8, 1)
    assert str(host.BufferType((), U8)) == "!host.buffer<ui8>"
