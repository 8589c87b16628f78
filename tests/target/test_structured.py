"""Programs written by hand: what their blocks compute, and what building them refuses."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.emulator.run import run
from pypto.errors import CompileError
from pypto.target.dtypes import F16, I32
from pypto.target.expressions import Operand, ceil_div, larger, smaller
from pypto.target.memory import CoreKind, Pipe, Space
from pypto.target.one_launch import one_launch
from pypto.target.program import Program
from pypto.target.rows import REGISTER_COUNT
from pypto.target.soc import soc
from pypto.target.structured import StructuredBuilder

SOC = "ascend910b1"
LANES = 64  # of i32 in a repeat


def stored(builder: StructuredBuilder, out: Operand, values: list[Operand]) -> None:
    """Store integers of the program, each at the front of a repeat of its own."""
    place = builder.local("place", Space.UB, 256)
    for i, value in enumerate(values):
        builder.issue("vector_dup.i32", dst=place, scalar=value)
        builder.sync(Pipe.V, Pipe.MTE3)
        builder.issue("copy_ubuf_to_gm_align.b32", dst=out + i * 256, src=place, length=256)
        builder.sync(Pipe.MTE3, Pipe.V)


def numbers(program: Program, count: int, scalars: dict[str, int] | None = None) -> list[int]:
    executable = one_launch(SOC, [program], 1, {"out": (count, LANES)}, scalars)
    (result,) = run(executable, []).results
    return result[:, 0].tolist()


def test_expressions() -> None:
    builder = StructuredBuilder("k", CoreKind.VECTOR)
    out, a, b = builder.buffer("out", I32, writes=True), builder.scalar("a"), builder.scalar("b")
    values = [
        a + b, a - b, a * b, a // b, a % b, a << 2, a >> 1, a & 6, a | 16, 100 - a, 3 + a,
        100 // b, smaller(a, b), larger(a, b), ceil_div(a, 4), (a + 1) * (b - 1) - a * (b + 2),
    ]  # fmt: skip
    stored(builder, out, values)
    found = numbers(builder.build(), len(values), {"a": 13, "b": 5})
    a, b = 13, 5
    assert found == [
        18, 8, 65, 2, 3, 52, 6, 4, 29, 87, 16, 20, 5, 13, 4, (a + 1) * (b - 1) - a * (b + 2),
    ]  # fmt: skip


def test_known_integers_cost_no_rows() -> None:
    builder = StructuredBuilder("k", CoreKind.VECTOR)
    builder.set(builder.block, builder.block + 0)
    assert builder.block * 1 is builder.block
    assert builder.block + 0 is builder.block
    assert 0 + builder.block is builder.block
    assert smaller(3, 4) == 3
    assert ceil_div(9, 4) == 3
    assert len(builder.build().rows) == 2


@pytest.mark.parametrize(("start", "stop", "step"), [(0, 5, 1), (3, 12, 4), (5, 5, 1), (7, 2, 1)])
@pytest.mark.parametrize("given", ["known", "computed"])
def test_loops(start: int, stop: int, step: int, given: str) -> None:
    """The turns of a loop and the last index, with bounds known and from registers."""
    builder = StructuredBuilder("k", CoreKind.VECTOR)
    out, zero = builder.buffer("out", I32, writes=True), builder.scalar("zero")
    extra: Operand = 0 if given == "known" else zero
    turns, last = builder.value(0), builder.value(-1)
    with builder.loop(start + extra, stop + extra, step + extra) as i:
        builder.set(turns, turns + 1)
        builder.set(last, i)
    stored(builder, out, [turns, last & 255])
    indices = list(range(start, stop, step))
    found = numbers(builder.build(), 2, {"zero": 0})
    assert found == [len(indices), indices[-1] if indices else 255]


@pytest.mark.parametrize(("a", "b"), [(1, 2), (2, 2), (3, 2)])
def test_branches(a: int, b: int) -> None:
    builder = StructuredBuilder("k", CoreKind.VECTOR)
    out, left, right = (
        builder.buffer("out", I32, writes=True), builder.scalar("a"), builder.scalar("b"),
    )  # fmt: skip
    results = []
    conditions = [
        left < right, left <= right, left > right, left >= right, left.equals(right),
        left.differs(right),
    ]  # fmt: skip
    for condition in conditions:
        result = builder.value(0)
        results.append(result)
        with builder.when(condition):
            builder.set(result, 1)
        with builder.otherwise():
            builder.set(result, 2)
    with builder.when(left < right):
        builder.set(results[0], results[0] + 10)
    stored(builder, out, list(results))
    found = numbers(builder.build(), len(results), {"a": a, "b": b})
    truths = [a < b, a <= b, a > b, a >= b, a == b, a != b]
    expected = [1 if truth else 2 for truth in truths]
    expected[0] += 10 if a < b else 0
    assert found == expected


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_a_ring_between_three_pipes(slots: int) -> None:
    """Every block negates its tiles, whatever the number of slots."""
    builder = StructuredBuilder("negate", CoreKind.VECTOR)
    x, y = builder.buffer("x", F16), builder.buffer("y", F16, writes=True)
    source = builder.ring("source", Space.UB, 256, slots, filler=Pipe.MTE2, drainer=Pipe.V)
    target = builder.ring("target", Space.UB, 256, slots, filler=Pipe.V, drainer=Pipe.MTE3)
    minus_one = int(np.float16(-1).view(np.uint16))
    with source.cycle(), target.cycle(), builder.loop(0, 5) as i:
        offset = builder.value((builder.block * 5 + i) * 256)
        with source.filling(i) as tile:
            builder.issue("copy_gm_to_ubuf_align.b16", dst=tile, src=x + offset, length=256)
        with source.draining(i) as tile, target.filling(i) as result:
            builder.issue("vmuls.f16", dst=result, src=tile, scalar=minus_one)
        with target.draining(i) as result:
            builder.issue("copy_ubuf_to_gm_align.b16", dst=y + offset, src=result, length=256)
    program = builder.build()
    assert len(program.rows) < 70
    executable = one_launch(SOC, [program], 3, {"x": (15, 128), "y": (15, 128)})
    values = np.arange(15 * 128, dtype=np.float16).reshape(15, 128)
    (result,) = run(executable, [values]).results
    np.testing.assert_array_equal(result, -values)


def test_scalar_loads_and_stores() -> None:
    """An integer that went through memory, at addresses computed while the program runs."""
    builder = StructuredBuilder("k", CoreKind.VECTOR)
    out, a = builder.buffer("out", I32, writes=True), builder.scalar("a")
    with builder.scope():
        builder.issue("st_ub.b32", address=a * 4, value=a + 30)
        found = builder.load("ld_ub.i32", a * 4, "found")
        stored(builder, out, [found])
    assert numbers(builder.build(), 1, {"a": 100}) == [130]


def test_values_give_their_registers_back() -> None:
    builder = StructuredBuilder("k", CoreKind.VECTOR)
    for _ in range(100):
        with builder.scope():
            kept = builder.value(builder.block + 1)
            builder.set(builder.blocks, kept * 2 + builder.block * (kept - 1))
    builder.build().validate(soc(SOC))


def test_refusals() -> None:
    builder = StructuredBuilder("k", CoreKind.VECTOR)
    with builder.scope():
        gone = builder.value(0, "counter")
    with pytest.raises(CompileError, match="value counter is used behind the block that made it"):
        builder.set(builder.block, gone + 1)
    with pytest.raises(CompileError, match="`otherwise` does not stand right behind a `when`"):
        builder.otherwise().__enter__()
    with pytest.raises(TypeError, match="has no value while it is built; use `when`"):
        bool(builder.block < 3)
    with pytest.raises(TypeError, match="has no value while it is built; use `when`"):
        bool(builder.block)


def test_running_out_of_registers() -> None:
    builder = StructuredBuilder("k", CoreKind.VECTOR)
    for i in range(REGISTER_COUNT - 3):
        builder.value(i, f"v{i}")
    with pytest.raises(CompileError) as caught:
        builder.value(0, "one more")
    error = caught.value
    assert error.code == "OUT_OF_REGISTERS"
    assert error.message == ("program k: all 32 registers are taken, none is left for one more")
    assert error.notes[0].startswith("held by block, blocks, sub_block, v0, v1")
    assert error.fix == (
        "open a scope around values that are used briefly, or use the expression itself"
    )


def test_one_launch_wants_every_parameter() -> None:
    builder = StructuredBuilder("k", CoreKind.VECTOR)
    builder.buffer("x", F16)
    builder.scalar("n")
    program = builder.build()
    with pytest.raises(CompileError, match="no buffer is given for parameter x"):
        one_launch(SOC, [program], 1, {}, {"n": 1})
    with pytest.raises(CompileError, match="no scalar is given for parameter n"):
        one_launch(SOC, [program], 1, {"x": (4,)})
    with pytest.raises(CompileError, match="buffer z has 0 element types in 0 parameters"):
        one_launch(SOC, [program], 1, {"x": (4,), "z": (4,)}, {"n": 1})
