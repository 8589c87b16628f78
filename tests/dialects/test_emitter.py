"""The Emitter: folding, locations, loops and branches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from pypto.dialects import tik
from pypto.dialects.emitter import Emitter, Index, folded
from pypto.dialects.locations import file_location
from pypto.dialects.scalars import SCALAR_MEANINGS, SCALAR_OPERATIONS, constant_of
from pypto.target.memory import Pipe, Space

PLACE = file_location("kernel.py", 3, 7)
NAMES = ("add", "sub", "mul", "min", "max", "floor_div", "ceil_div", "remainder", "round_up")
MEANINGS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
    "floor_div": lambda a, b: a // b,
    "ceil_div": lambda a, b: -(-a // b),
    "remainder": lambda a, b: a % b,
    "round_up": lambda a, b: -(-a // b) * b,
    "less": lambda a, b: int(a < b),
    "equal": lambda a, b: int(a == b),
}


def evaluate(value: Index, known: dict[SSAValue, int]) -> int:
    """What emitted arithmetic gives."""
    if isinstance(value, int):
        return value
    if value in known:
        return known[value]
    owner = value.owner
    if isinstance(owner, arith.ConstantOp):
        number = constant_of(value)
        assert number is not None
        return number
    assert not isinstance(owner, Block)
    operands = [evaluate(operand, known) for operand in owner.operands]
    if isinstance(owner, tik.CompareOp):
        return SCALAR_MEANINGS[owner.kind.data.value](*operands)
    return SCALAR_MEANINGS[SCALAR_OPERATIONS[type(owner)]](*operands)


@given(
    st.sampled_from(sorted(MEANINGS)),
    st.integers(0, 1000),
    st.integers(1, 100),
    st.booleans(),
    st.booleans(),
)
def test_arithmetic_means_the_same_folded_or_not(
    name: str, a: int, b: int, a_is_known: bool, b_is_known: bool
) -> None:
    block = Block(arg_types=[IndexType(), IndexType()])
    emitter = Emitter.at_end(block, PLACE)
    left = a if a_is_known else block.args[0]
    right = b if b_is_known else block.args[1]
    result = getattr(emitter, name)(left, right)
    assert evaluate(result, dict(zip(block.args, (a, b), strict=True))) == MEANINGS[name](a, b)
    if a_is_known and b_is_known:
        assert isinstance(result, int)
        assert not list(block.ops)


@pytest.mark.parametrize(
    ("name", "other"), [("add", 0), ("sub", 0), ("mul", 1), ("floor_div", 1), ("round_up", 1)]
)
def test_neutral_operands_leave_no_operation(name: str, other: int) -> None:
    block = Block(arg_types=[IndexType()])
    emitter = Emitter.at_end(block)
    value = block.args[0]
    assert getattr(emitter, name)(value, other) is value
    assert emitter.mul(value, 0) == 0
    assert emitter.sub(value, value) == 0
    assert emitter.remainder(value, 1) == 0
    assert emitter.min(value, value) is value
    assert not list(block.ops)


def test_constants_are_seen_through_and_made_once() -> None:
    block = Block()
    emitter = Emitter.at_end(block)
    four = emitter.index(4)
    assert folded(four) == 4
    assert emitter.add(four, 3) == 7
    assert emitter.index(4) is four
    with emitter.for_(0, 9):
        assert emitter.index(4) is four
        inside = emitter.index(11)
        assert emitter.index(11) is inside
    assert emitter.index(11) is not inside
    with emitter.at(InsertPoint.at_start(block)):
        assert emitter.index(4) is not four


def test_operations_get_the_location() -> None:
    block = Block()
    emitter = Emitter.at_end(block, PLACE)
    barrier = emitter.op(tik.BarrierOp, Pipe.V)
    with emitter.at(InsertPoint.before(barrier), file_location("kernel.py", 1, 1)):
        buffer = emitter.value(tik.AllocOp, "a", Space.UB, 512)
    pointer = emitter.offset(emitter.slot(buffer), 32)
    assert emitter.offset(pointer, 0) is pointer
    vadd = emitter.instruction("vadd.f16", dst=pointer, src0=pointer, src1=pointer)
    assert barrier.location == vadd.location == PLACE
    assert buffer.owner.location == file_location("kernel.py", 1, 1)
    assert [op.name for op in block.ops][:2] == ["tik.alloc", "tik.barrier"]
    assert Emitter.after(vadd).location == Emitter.before(vadd).location == PLACE


def test_loops_carry_values() -> None:
    block = Block(arg_types=[IndexType()])
    emitter = Emitter.at_end(block, PLACE)
    count = block.args[0]
    with emitter.for_(0, count, [emitter.index(0)]) as loop:
        loop.yield_(emitter.index(emitter.add(loop.args[0], loop.index)))
    made = loop.results[0].owner
    assert isinstance(made, scf.ForOp)
    made.verify()
    assert made.location == PLACE
    assert [argument.location for argument in made.body.block.args] == [PLACE, PLACE]


@pytest.mark.parametrize("upper", [0, 1])
def test_loops_of_at_most_one_turn_leave_no_loop(upper: int) -> None:
    block = Block(arg_types=[IndexType()])
    emitter = Emitter.at_end(block)
    with emitter.for_(0, upper, [block.args[0]]) as loop:
        assert loop.index == 0
        loop.yield_(emitter.index(emitter.add(loop.args[0], 5)))
    assert not any(isinstance(op, scf.ForOp) for op in block.ops)
    assert evaluate(loop.results[0], {block.args[0]: 2}) == (7 if upper else 2)
    assert bool(list(block.ops)) == bool(upper)


def test_a_loop_yields_what_it_carries() -> None:
    block = Block(arg_types=[IndexType()])
    emitter = Emitter.at_end(block)

    def forgets() -> None:
        with emitter.for_(0, block.args[0], [block.args[0]]):
            pass

    def yields_too_much() -> None:
        with emitter.for_(0, block.args[0]) as loop:
            loop.yield_(block.args[0])

    with pytest.raises(ValueError, match="a loop with carried values needs yield_"):
        forgets()
    with pytest.raises(ValueError, match="the loop carries 0 values, not 1"):
        yields_too_much()


def test_branches_on_known_conditions_leave_no_branch() -> None:
    block = Block(arg_types=[IndexType()])
    emitter = Emitter.at_end(block)
    with emitter.if_(emitter.compare_lt(1, 2)):
        emitter.op(tik.BarrierOp, Pipe.V)
    with emitter.if_(emitter.compare_eq(1, 2)):
        emitter.op(tik.BarrierOp, Pipe.M)
    with emitter.if_(emitter.compare_lt(block.args[0], 2)):
        emitter.op(tik.BarrierOp, Pipe.MTE1)
    assert [op.name for op in block.ops] == [
        "tik.barrier", "arith.constant", "arith.cmpi", "scf.if",
    ]  # fmt: skip
