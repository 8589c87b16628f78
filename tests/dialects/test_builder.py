"""The Builder: promotion, constants, locations, errors, decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from pypto.dialects.builder import Builder, expand
from pypto.dialects.constants import ConstantStore
from pypto.dialects.interpret import interpret
from pypto.dialects.locations import file_location
from pypto.dialects.pypto import ConstantOp, TensorOperation
from pypto.dialects.types import ir_type, type_of
from pypto.errors import CompileError, SourceLocation
from pypto.ops import OPERATORS, ROWS
from pypto.ops.types import DYNAMIC, TensorType
from pypto.target.dtypes import BF16, F16, F32, I32, DType
from tests.dialects.test_pypto import first_operation, module_of
from tests.ops.cases import all_calls, apply

LINE_4 = SourceLocation("kernel.py", 4, 9, 14)
EXPANDABLE = {
    row.name: (row, case, dtype, size)
    for row, case, dtype, size in all_calls()
    if row.decomposition is not None and dtype in (row.dtypes[0], F16) and size == "normal"
}


def block_of(*types: TensorType) -> tuple[Block, Builder]:
    block = Block(arg_types=list(map(ir_type, types)))
    return block, Builder(InsertPoint.at_end(block), location=SourceLocation("kernel.py", 3, 1))


def names(block: Block) -> list[str]:
    return [op.name.removeprefix("pypto.") for op in block.ops]


def vector(dtype: DType = F32, *shape: int) -> TensorType:
    return TensorType(shape or (4,), dtype)


def test_promotion_inserts_casts() -> None:
    block, builder = block_of(vector(F16), vector(BF16))
    result = builder.call(OPERATORS["add"], block.args, {})
    assert names(block) == ["cast", "cast", "add"]
    assert type_of(result).dtype == F32


def test_an_operator_is_one_operation() -> None:
    block, builder = block_of(vector(F16, 2, 8))
    builder.call(OPERATORS["layer_norm"], block.args, {"eps": 1e-6})
    assert names(block) == ["layer_norm"]


def test_locations_are_kept() -> None:
    block, builder = block_of(vector(F16), vector(F32))
    builder.call(OPERATORS["mul"], block.args, {}, LINE_4)
    assert {op.location for op in block.ops} == {file_location("kernel.py", 4, 9)}
    value = builder.apply(ROWS["exp"], block.args[:1], {})
    assert value.owner.location == file_location("kernel.py", 3, 1)


def test_errors_carry_the_line_of_the_user() -> None:
    block, builder = block_of(vector(F32, 4), vector(F32, 5))
    with pytest.raises(CompileError) as caught:
        builder.call(OPERATORS["add"], block.args, {}, LINE_4)
    assert caught.value.location == LINE_4
    assert str(caught.value).startswith("kernel.py:4:9: error[SHAPE_MISMATCH]: add: shapes (4,)")
    with pytest.raises(CompileError) as caught, builder.at(file_location("kernel.py", 7, 2)):
        builder.call(OPERATORS["add"], (block.args[0],), {})
    assert caught.value.location == SourceLocation("kernel.py", 7, 2)


def test_operators_called_inside_at_are_built() -> None:
    block, builder = block_of(vector())
    with builder.at(LINE_4):
        x = builder.lift(block.args[0])
        y = 2.0 * x + OPERATORS["arange"](4, dtype=F32)
    assert names(block) == ["mul", "arange", "add"]
    assert y.ssa is block.last_op.results[0]  # pyright: ignore[reportOptionalMemberAccess]
    assert builder.lift(y) is y


def test_numbers_alone_build_nothing() -> None:
    block, builder = block_of()
    assert builder.apply(ROWS["sqrt"], (64,), {}) == 8.0
    assert names(block) == []


def test_constants_are_resources() -> None:
    _, builder = block_of()
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    first, second = builder.constant(array), builder.constant(array.copy())
    assert isinstance(first.owner, ConstantOp)
    assert first.owner.resource == second.owner.resource  # pyright: ignore[reportAttributeAccessIssue]
    assert len(builder.constants) == 1
    assert np.array_equal(builder.constants[first.owner.resource.data], array)


@pytest.mark.parametrize(
    "array",
    [
        np.full((2, 3), 1.5, np.float32),
        np.full(3, -0.0, np.float16),
        np.full(3, np.nan, BF16.numpy),
        np.array(True),
        np.full((2, 2), -7, np.int8),
        np.full((2, 2), 200, np.uint8),
        np.full(1, 2**62 + 1, np.int64),
    ],
    ids=str,
)
def test_one_value_repeated_becomes_full(array: np.ndarray) -> None:
    block, builder = block_of()
    builder.constant(array)
    assert names(block) == ["full"]
    found = run(block, ())[0]
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()


def test_zeros_of_both_signs_are_no_splat() -> None:
    block, builder = block_of()
    builder.constant(np.array([0.0, -0.0], np.float32))
    assert names(block) == ["constant"]


def test_empty_constants_and_captured_arrays() -> None:
    block, builder = block_of(vector())
    builder.constant(np.zeros((0, 3), np.float32))
    builder.call(OPERATORS["add"], (block.args[0], np.arange(4, dtype=np.float32)), {})
    assert names(block) == ["constant", "constant", "add"]
    with pytest.raises(CompileError, match="arrays of float64 are not supported") as caught:
        builder.constant(np.zeros(3), LINE_4)
    assert caught.value.fix == "convert it first, e.g. .astype(np.float32)"
    assert caught.value.location == LINE_4


def run(block: Block, inputs: Any, constants: ConstantStore | None = None) -> tuple[Any, ...]:
    results = block.last_op.results if block.last_op else ()
    block.add_op(ReturnOp(*results))
    function = FuncOp("main", ([a.type for a in block.args], [r.type for r in results]))
    function.body.detach_block(0)
    function.body.add_block(block)
    return interpret(ModuleOp([function]), inputs, constants)


@pytest.mark.parametrize("name", EXPANDABLE)
def test_decompositions(name: str) -> None:
    """Expanding down to primitives without recipe keeps types and locations, and verifies."""
    module = apply(module_of, *EXPANDABLE[name])
    before = [type_of(r) for r in first_operation(module).results]
    op = first_operation(module)
    uses = op.results
    location = op.location
    values = expand(op, Builder(InsertPoint.before(op), location=op.location))
    assert [type_of(value) for value in values] == before
    for result, value in zip(uses, values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()
    while pending := [
        op for op in module.walk() if isinstance(op, TensorOperation) and op.row.decomposition
    ]:
        for op in pending:
            values = Builder(InsertPoint.before(op), location=op.location).expand(op)
            for result, value in zip(op.results, values, strict=True):
                result.replace_all_uses_with(value)
            op.detach()
    module.verify()
    for op in module.walk():
        if isinstance(op, TensorOperation):
            assert op.row.is_primitive
            assert op.location == location


def test_numerics_widen_before_and_narrow_after() -> None:
    block, builder = block_of(vector(F16, 2, 8))
    op = builder.call(OPERATORS["silu"], block.args, {}).owner
    builder.expand(op)
    assert names(block) == ["silu", "cast", "neg", "exp", "add", "div", "cast"]
    assert [type_of(o.results[0]).dtype for o in block.ops][1:] == [F32] * 5 + [F16]


def test_dynamic_extents_pass_elementwise_operators() -> None:
    block, builder = block_of(TensorType((DYNAMIC, 8), F16))
    x = builder.lift(block.args[0])
    y = (x * 2 + x).gelu()
    assert type_of(y.ssa).shape == (DYNAMIC, 8)
    with pytest.raises(CompileError, match="softmax: x is tensor<\\?x8xf16>: dynamic extents"):
        y.softmax()


def test_results_of_several() -> None:
    block, builder = block_of(vector(I32, 6))
    parts = builder.call(OPERATORS["split"], (block.args[0], 3), {})
    assert len(parts) == 3
    assert all(isinstance(part, SSAValue) for part in parts)


def test_a_location_may_be_one_of_the_ir() -> None:
    block, builder = block_of(vector())
    location = file_location("other.py", 1, 2)
    assert isinstance(location, FileLineColLoc)
    assert builder.apply(ROWS["exp"], block.args, {}, location).owner.location == location
