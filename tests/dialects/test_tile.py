"""The tile dialect: what it refuses, and what a tile knows of its valid part."""

from __future__ import annotations

import pytest

from pypto.dialects import tile
from pypto.dialects.context import parse_module
from pypto.target.dtypes import F16, F32
from pypto.target.memory import Space
from tests.dialects.invalid import complaint, place_of

KERNEL = """
func.func @k(%g: !tile.global<f16>, %n: index) attributes {{pypto.kernel = "vector"}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %x = tile.load %g[%c0] stride %n valid(%c8, %n) : !tile.global<f16> -> !tile.tile<8x16xf16, ub>
  %row = tile.reduce sum %x axis 0 : !tile.tile<8x16xf16, ub> -> !tile.tile<1x16xf16, ub>
  %i = tile.full 0 valid(%c8, %n) : !tile.tile<8x16xi32, ub>
  %l1 = tile.load %g[%c0] stride %n valid(%c8, %c8)
    : !tile.global<f16> -> !tile.tile<16x32xf16, l1>
  %a = tile.extract %l1[%c0, %c0] valid(%c8, %c8) 
    : !tile.tile<16x32xf16, l1> -> !tile.tile<16x32xf16, l0a>
  %b = tile.extract %l1[%c0, %c0] valid(%c8, %c8) transpose 
    : !tile.tile<16x32xf16, l1> -> !tile.tile<32x16xf16, l0b>
  %acc = tile.accumulator valid(%c8, %c8) : !tile.tile<16x16xf32, l0c>
  {operation}
  func.return
}}
"""

X, ROW, I32 = "!tile.tile<8x16xf16, ub>", "!tile.tile<1x16xf16, ub>", "!tile.tile<8x16xi32, ub>"
L1, A, B = "!tile.tile<16x32xf16, l1>", "!tile.tile<16x32xf16, l0a>", "!tile.tile<32x16xf16, l0b>"
C, GLOBAL = "!tile.tile<16x16xf32, l0c>", "!tile.global<f16>"

MISTAKES = [
    (f"tile.full 0.0 valid(%c9, %n) : {X}", "9 valid rows in a tile of 8"),
    (f"tile.full 0.0 valid(%c8, %n) : {L1}", "tile.full fills ub, not l1"),
    (f"tile.full 0.0 valid(%c8) : {X}", "valid takes rows and columns"),
    (f"tile.iota %c0 steps(1, 1) valid(%c8, %n) : {X}", "tile.iota makes an i32 tile in ub"),
    (
        f"tile.load %g[%c0] stride %n valid(%c8, %n) : {GLOBAL} -> {I32}",
        "a load keeps the element type: !tile.global<f16> is not !tile.tile<8x16xi32, ub>",
    ),
    (
        f"tile.load %g[%c0] stride %n valid(%c8, %c8) : {GLOBAL} -> {A}",
        "tile.load fills ub or l1, not l0a",
    ),
    (
        f"tile.load %g[%c0] stride %n valid(%c8, %n) slots 0 : {GLOBAL} -> {X}",
        "slots is at least 1, not 0",
    ),
    (f"tile.store %l1, %g[%c0] stride %n : {L1}, {GLOBAL}", "tile.store empties ub or l0c, not l1"),
    (f"tile.store %i, %g[%c0] stride %n : {I32}, {GLOBAL}", "a store keeps the element type"),
    (f"tile.store %x, %g[%c0] stride %n relu : {X}, {GLOBAL}", "is done from l0c only"),
    (
        f"tile.store %x, %g[%c0] stride %n merge exact : {X}, {GLOBAL}",
        "what lies behind a row is written back or not touched, not both",
    ),
    (f"tile.transpose %x : {X} -> {X}", f"the transpose of {X} is 16x8, not {X}"),
    (
        f"tile.transpose %x : {X} -> !tile.tile<16x8xi32, ub>",
        "tile.transpose keeps the element type",
    ),
    (
        "%z = tile.full 0 valid(%c8, %c8) : !tile.tile<8x8xi8, ub>\n  tile.transpose %z : "
        "!tile.tile<8x8xi8, ub> -> !tile.tile<8x8xi8, ub>",
        "tile.transpose moves elements of 2 or 4 bytes, not i8",
    ),
    (
        f"tile.apply add %x, %row : {X}, {ROW} -> {X}",
        "operands of tile.apply add have one shape: !tile.tile<1x16xf16, ub> is not "
        "!tile.tile<8x16xf16, ub>; use tile.broadcast",
    ),
    (f"tile.apply add %x, %nothing : {X} -> {X}", "expected 1 operand types but had 2"),
    (f"tile.apply add 1.0, 2.0 : {X} -> {X}", "at most one operand of tile.apply is a number"),
    (
        f"tile.apply select %x, 2.0, %x : {X}, {X} -> {X}",
        "a number stands for the first or for the last operand",
    ),
    (f"tile.apply abs %acc : {C} -> {C}", "tile.apply works in ub, not in l0c"),
    (f"tile.apply gelu %x : {X} -> {X}", "gelu is no elementwise primitive"),
    (f"tile.apply sum %x : {X} -> {X}", "sum is no elementwise primitive"),
    (f"tile.apply add %x : {X} -> {X}", "add takes 2 operands, 1 are given"),
    (
        f"tile.broadcast %x valid(%c8, %n) : {X} -> !tile.tile<16x16xf16, ub>",
        "!tile.tile<8x16xf16, ub> does not broadcast to !tile.tile<16x16xf16, ub>",
    ),
    (f"tile.reduce product %x axis 0 : {X} -> {ROW}", "is expected: one of sum, max, min"),
    (f"tile.reduce sum %x axis 2 : {X} -> {ROW}", "a tile has axes 0 and 1, not 2"),
    (f"tile.reduce sum %x axis 1 : {X} -> {ROW}", "leaves 8x1, not !tile.tile<1x16xf16, ub>"),
    (f"tile.gather %x[%x] : {X}, {X} -> {X}", "the byte offsets of a gather are i32 in ub"),
    (f"tile.gather %x[%i] : {X}, {I32} -> {ROW}", "a gather has the shape of its offsets"),
    (
        f"tile.extract %x[%c0, %c0] valid(%c8, %c8) : {X} -> {A}",
        "tile.extract goes from l1 to l0a or l0b",
    ),
    ("tile.store %x, %h[%c0] stride %n : !tile.tile<8x16xf16, ub>, !tile.global", "'<' expected"),
    ("tile.store %x, %h[%c0] stride %n : !tile.tile<8x16xf16, ub>, !tile.global<f8>", "type"),
    (f"tile.drain %x : {X} -> {X}", f"tile.drain goes from l0c to ub: {X} -> {X}"),
    (f"tile.drain %acc : {C} -> {C}", f"tile.drain goes from l0c to ub: {C} -> {C}"),
    (f"tile.drain %acc : {C} -> {X}", f"a drain keeps the shape: {C} is not {X}"),
    (
        f"tile.drain %acc : {C} -> !tile.tile<16x16xi32, ub>",
        "l0c is drained as f16, bf16, f32, not as !tile.tile<16x16xi32, ub>",
    ),
    (
        f"%d = tile.drain %acc : {C} -> !tile.tile<16x16xf16, ub>\n  "
        "%r = tile.full 0.0 valid(%c1, %c8) : !tile.tile<16x16xf16, ub>\n  tile.apply add %d, %r :"
        " !tile.tile<16x16xf16, ub>, !tile.tile<16x16xf16, ub> -> !tile.tile<16x16xf16, ub>",
        "valid extents differ: [1, 8]",
    ),
    (f"tile.accumulator valid(%c8, %c8) : {X}", "an accumulator lives in l0c, not in ub"),
    (f"tile.mma %acc, %b, %a init %c1 : {C}, {B}, {A} -> {C}", "takes l0c, l0a, l0b; got"),
    (
        f"tile.mma %acc, %a, %half init %c1 : {C}, {A}, !tile.tile<16x16xf16, l0b> -> {C}",
        "shapes of a product do not fit",
    ),
    ("tile.full 0.0 valid(%c1, %c1) : !tile.tile<0x4xf16, ub>", "at least 1x1, not 0x4"),
    ("tile.full 0.0 valid(%c1, %c1) : !tile.tile<4x?xf16, ub>", "at least 1x1"),
    ("tile.full 0.0 valid(%c1, %c1) : !tile.tile<4xf16, ub>", "a tile has rank 2, not 1"),
    ("tile.full 0.0 valid(%c1, %c1) : !tile.tile<4x4xf16, gm>", "tiles live in ub, l1"),
    ("tile.full 0.0 valid(%c1, %c1) : !tile.tile<4x4xf16, moon>", "a memory space is expected"),
    ("tile.full 0.0 valid(%c1, %c1) : !tile.tile<4x4xf64, ub>", "f64 is no element type"),
    ("tile.full 0.0 valid(%c1, %c1) : !tile.tile<4x4xf16, l0c>", "l0c holds f32, not f16"),
    ("tile.full 0.0 valid(%c1, %c1) : !tile.tile<4x4xi8, l0a>", "l0a holds f16, bf16, f32, not i8"),
    ("tile.full 1 valid(%c1, %c1) : !tile.tile<4x4xi1, l1>", "bit masks live in ub, not in l1"),
    (
        f"%r = tile.full 0.0 valid(%c1, %n) : {X}\n  tile.apply add %x, %r : {X}, {X} -> {X}",
        "valid extents differ: [1, 8]",
    ),
]


@pytest.mark.parametrize(("operation", "message"), MISTAKES)
def test_mistakes_are_told(operation: str, message: str) -> None:
    half = "%half = tile.extract %l1[%c0, %c0] valid(%c8, %c8) : "
    half += f"{L1} -> !tile.tile<16x16xf16, l0b>\n  "
    text = KERNEL.format(operation=(half if "%half" in operation else "") + operation)
    error = complaint(text)
    assert message in error.message
    assert error.location is not None
    assert error.location.line >= place_of(text, operation)[0]


def test_a_nested_loop_shares_an_outer_tile_with_one_pipe() -> None:
    text = KERNEL.format(
        operation=f"""scf.for %j = %c0 to %n step %c1 {{
    %t = tile.load %g[%c0] stride %n valid(%c8, %n) : {GLOBAL} -> {X}
    scf.for %k = %c0 to %n step %c1 {{
      %u = tile.apply add %t, %x : {X}, {X} -> {X}
      tile.store %t, %g[%c0] stride %n : {X}, {GLOBAL}
    }}
  }}"""
    )
    error = complaint(text)
    assert "a tile held outside this loop meets pipe mte3 besides v" in error.message
    assert error.location is not None
    assert (error.location.line, error.location.column) == place_of(text, "tile.store %t")


def test_a_carried_tile_keeps_its_valid_part() -> None:
    text = KERNEL.format(
        operation=f"""%z = scf.for %j = %c0 to %n step %c1 iter_args(%t = %x) -> ({X}) {{
    %u = tile.full 0.0 valid(%c1, %n) : {X}
    scf.yield %u : {X}
  }}"""
    )
    assert "valid extents differ: [1, 8]" in complaint(text).message


def test_tiles_and_instructions_do_not_mix() -> None:
    text = KERNEL.format(
        operation="""%buffer = tik.alloc "a" bytes 64 : !tik.buffer<ub>
  %p = tik.slot %buffer[%c0] : !tik.buffer<ub>
  tik.vadd.f16 dst = %p, src0 = %p, src1 = %p"""
    )
    assert "a machine instruction stands among tile operations" in complaint(text).message


def test_the_valid_part_follows_from_the_root() -> None:
    text = KERNEL.format(
        operation=f"""%sum = tile.apply add %x, 1.0 : {X} -> {X}
  %column = tile.reduce max %sum axis 1 : {X} -> !tile.tile<8x1xf16, ub>
  %turned = tile.transpose %sum : {X} -> !tile.tile<16x8xf16, ub>
  %flat = tile.reduce max %turned axis 0 : !tile.tile<16x8xf16, ub> -> !tile.tile<1x8xf16, ub>
  %z = scf.for %j = %c0 to %n step %c1 iter_args(%t = %acc) -> ({C}) {{
    %m = tile.mma %t, %a, %b init %c1 : {C}, {A}, {B} -> {C}
    scf.yield %m : {C}
  }}"""
    )
    function = parse_module(text, "module.mlir").body.block.first_op
    assert function is not None
    n = function.regions[0].block.args[1]
    found = {
        result.name_hint: tile.valid_shape(result)
        for op in function.walk()
        for result in op.results
        if tile.is_tile(result)
    }
    assert found["sum"] == (8, n)
    assert found["column"] == (8, 1)
    assert found["row"] == (1, n)
    assert found["turned"] == (n, 8)
    assert found["flat"] == (1, 8)
    assert found["m"] == found["z"] == (8, 8)


def test_types_are_plain() -> None:
    kind = tile.TileType(16, 32, F16, Space.L1)
    assert str(kind) == "!tile.tile<16x32xf16, l1>"
    assert (kind.shape, kind.dtype, kind.space) == ((16, 32), F16, Space.L1)
    assert kind.with_shape(1, 32) == tile.TileType(1, 32, F16, Space.L1)
    assert tile.GlobalType(F32).dtype is F32
