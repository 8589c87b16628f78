"""The tensor level's text and verifier: every row prints, parses back and is checked."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.builder import Builder
from pypto.dialects.context import parse_module, print_module
from pypto.dialects.pypto import TensorOperation, op_class
from pypto.dialects.types import abstract_type, ir_type
from pypto.errors import CompileError, SourceLocation
from pypto.ops import ROWS, Operator
from pypto.ops.numpy_evaluator import NumpyEvaluator
from pypto.ops.types import DYNAMIC, TensorType
from pypto.ops.value import Tensor
from pypto.target.dtypes import DTYPES, F16, F32
from tests.ops.cases import all_calls, apply, label

CALLS: dict[str, list[Any]] = {}
for entry in all_calls():
    CALLS.setdefault(entry[0].name, []).append(entry)
LOCATION = SourceLocation("kernel.py", 3, 5)


def module_of(row: Operator[..., Any], operands: Any, attributes: Any) -> ModuleOp:
    """A module whose function applies a row to its arguments."""
    tensors: list[Tensor] = []

    def collect(operand: Any) -> Any:
        if isinstance(operand, tuple | list):
            return tuple(map(collect, operand))
        if hasattr(operand, "__array__"):
            tensors.append(NumpyEvaluator().lift(operand))
            return len(tensors) - 1, "argument"
        return operand

    def place(operand: Any) -> Any:
        if isinstance(operand, tuple) and operand[-1:] == ("argument",):
            return block.args[operand[0]]
        return tuple(map(place, operand)) if isinstance(operand, tuple) else operand

    places = [collect(operand) for operand in operands]
    block = Block(arg_types=[ir_type(tensor.type) for tensor in tensors])
    builder = Builder(InsertPoint.at_end(block), location=LOCATION)
    results = builder.apply(row, [place(p) for p in places], attributes)
    results = results if isinstance(results, tuple) else (results,)
    block.add_op(ReturnOp(*results))
    types = [result.type for result in results]
    return ModuleOp([FuncOp("main", ([a.type for a in block.args], types), Region(block))])


def first_operation(module: ModuleOp) -> TensorOperation:
    return next(op for op in module.walk() if isinstance(op, TensorOperation))


@pytest.mark.parametrize("name", ROWS)
def test_text_round_trip(name: str) -> None:
    for entry in CALLS[name]:
        module = apply(module_of, *entry)
        module.verify()
        text = print_module(module)
        again = parse_module(text, "test.mlir")
        again.verify()
        assert again.is_structurally_equivalent(module), label(entry)
        assert print_module(again) == text
        assert 'loc("kernel.py":3:5)' in text


@pytest.mark.parametrize("name", ROWS)
def test_generic_text_round_trip(name: str) -> None:
    module = apply(module_of, *CALLS[name][0])
    text = str(module)
    again = parse_module(text, "test.mlir")
    assert again.is_structurally_equivalent(module)


@pytest.mark.parametrize("name", ROWS)
def test_every_operation_is_pure_and_knows_its_row(name: str) -> None:
    cls = op_class(name)
    assert cls.has_trait(Pure)
    op = first_operation(apply(module_of, *CALLS[name][0]))
    assert op.name == f"pypto.{op.row.name}"
    assert op_class(op.row.name) is type(op)


def body_of(text: str) -> str:
    head = "func.func @main(%x: tensor<2x8xf16>, %w: tensor<8xf16>) {"
    return parse_and_print(f"{head}\n{text}\nfunc.return\n}}")


def parse_and_print(text: str) -> str:
    module = parse_module(text, "test.mlir")
    module.verify()
    return str(module)


@pytest.mark.parametrize(
    "line",
    [
        "%0 = pypto.mul %x, 2.0 : (tensor<2x8xf16>) -> tensor<2x8xf16>",
        "%0 = pypto.sub 1.0e-06, %x : (tensor<2x8xf16>) -> tensor<2x8xf16>",
        "%0 = pypto.max %x, -inf : (tensor<2x8xf16>) -> tensor<2x8xf16>",
        "%0 = pypto.add %x, nan : (tensor<2x8xf16>) -> tensor<2x8xf16>",
        "%0 = pypto.add %x, -0.0 : (tensor<2x8xf16>) -> tensor<2x8xf16>",
        "%0 = pypto.layer_norm %x, _, %w, eps = 1.0e-06 : "
        "(tensor<2x8xf16>, tensor<8xf16>) -> tensor<2x8xf16>",
        "%0 = pypto.layer_norm %x, _, _, begin = 0 : (tensor<2x8xf16>) -> tensor<2x8xf16>",
        "%0 = pypto.concat [%x, %x], dim = 1 : "
        "(tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x16xf16>",
        "%0 = pypto.reduce %x, kind = \"sum\", dims = [1] : (tensor<2x8xf16>) -> tensor<2xf16>",
        "%0 = pypto.softmax %x : (tensor<2x8xf16>) -> tensor<2x8xf16>",
        "%0 = pypto.cast %x, dtype = ui8, round = \"floor\" : (tensor<2x8xf16>) -> tensor<2x8xui8>",
        "%0, %1 = pypto.split %x, sections = 2 : "
        "(tensor<2x8xf16>) -> (tensor<1x8xf16>, tensor<1x8xf16>)",
        "%0 = pypto.split %x, sections = [8], dim = 1 : (tensor<2x8xf16>) -> tensor<2x8xf16>",
        "%0 = pypto.full shape = [], value = true : () -> tensor<i1>",
        "%0 = pypto.full shape = [2], value = 3 : () -> tensor<2xi32>",
        "%0 = pypto.neg %x {note = \"kept\"} : (tensor<2x8xf16>) -> tensor<2x8xf16>",
        '%0 = pypto.constant {resource = "sha256-00"} : tensor<2x8xf16>',
    ],
)  # fmt: skip
def test_text_form(line: str) -> None:
    assert line in body_of(line)


def test_defaults_are_hidden_when_written() -> None:
    line = "%0 = pypto.softmax %x, dim = -1 : (tensor<2x8xf16>) -> tensor<2x8xf16>"
    assert "pypto.softmax %x : (" in body_of(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pypto.nonsense %x : (tensor<2x8xf16>) -> tensor<2x8xf16>", "pypto.nonsense"),
        ("pypto.exp %x, %x : (tensor<2x8xf16>) -> tensor<2x8xf16>", "an attribute is expected"),
        ("pypto.exp %x : tensor<2x8xf16>", "function type expected"),
        ("pypto.softmax %x, dim = 2 : (tensor<2x8xf16>) -> tensor<2x8xf16>", "out of range"),
        ("pypto.softmax %x, dim = 1, dim = 1 : (tensor<2x8xf16>) -> tensor<2x8xf16>", "once"),
        ("pypto.concat [%x : (tensor<2x8xf16>) -> tensor<2x8xf16>", "Expected ']'"),
        ("pypto.cast %x, dtype = f64 : (tensor<2x8xf16>) -> tensor<2x8xf64>", "no element type"),
        ("pypto.reduce %x : (tensor<2x8xf16>) -> tensor<f16>", "needs the argument 'kind'"),
    ],
)
def test_syntax_errors_have_a_place(line: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        body_of(f"%0 = {line}")
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.line == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "pypto.exp %x : (tensor<2x8xf16>) -> tensor<2x8xf32>",
            "the results are tensor<2x8xf32>; exp gives tensor<2x8xf16>",
        ),
        (
            "pypto.add %x, %w : (tensor<2x8xf16>, tensor<8xf16>) -> tensor<8xf16>",
            "the results are tensor<8xf16>; add gives tensor<2x8xf16>",
        ),
        ("pypto.add %x, 1 : (tensor<2x8xf16>) -> tensor<2x8xf16>", "f16: write 1.0"),
        ("pypto.add 1, 2 : () -> tensor<i32>", "add: needs a tensor among x, y"),
        ("pypto.add %x, _ : (tensor<2x8xf16>) -> tensor<2x8xf16>", "needs the argument 'y'"),
        ("pypto.not %x : (tensor<2x8xf16>) -> tensor<2x8xf16>", "x is f16; supported: i1, i32"),
        (
            "pypto.matmul %x, %x : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x2xf16>",
            "inner extents differ: 8 and 2",
        ),
        (
            "pypto.split %x, sections = 2 : (tensor<2x8xf16>) -> tensor<1x8xf16>",
            "split gives tensor<1x8xf16>, tensor<1x8xf16>",
        ),
    ],
)  # fmt: skip
def test_verifier(line: str, message: str) -> None:
    with pytest.raises(VerifyException) as caught:
        body_of(f"%0 = {line}")
    assert message in str(caught.value)


def test_operands_of_a_promoting_row_share_their_type() -> None:
    text = """func.func @main(%x: tensor<4xf16>, %y: tensor<4xf32>) {
        %0 = pypto.add %x, %y : (tensor<4xf16>, tensor<4xf32>) -> tensor<4xf16>
        func.return
    }"""
    with pytest.raises(VerifyException, match="operands are f16 and f32"):
        parse_and_print(text)


def test_attributes_must_be_in_normal_form() -> None:
    from xdsl.dialects.builtin import IntegerAttr, i64

    module = apply(module_of, *CALLS["softmax"][0])
    op = first_operation(module)
    op.properties["dim"] = IntegerAttr(-1, i64)
    with pytest.raises(VerifyException, match="dim = -1 is not in normal form: 1"):
        op.verify()


def test_broken_operations_still_print() -> None:
    from xdsl.dialects.builtin import IntegerAttr, i64

    op = first_operation(apply(module_of, *CALLS["softmax"][0]))
    op.properties["dim"] = IntegerAttr(9, i64)
    assert "dim = 9" in str(op)
    op.properties["dim"] = StringAttr("last")
    assert 'dim = "last"' in str(op)


def test_operand_or_scalar() -> None:
    block = Block(arg_types=[ir_type(TensorType((4,), F16))])
    builder = Builder(InsertPoint.at_end(block))
    x = block.args[0]
    op = builder.apply(ROWS["mul"], (x, 2), {}).owner
    assert op.operand_or_scalar("x") is x
    assert op.operand_or_scalar("y") == 2.0
    assert isinstance(op.operand_or_scalar("y"), float)
    clip = builder.apply(ROWS["clip"], (x, None, 1), {}).owner
    assert clip.arguments() == (x, None, 1)
    joined = builder.apply(ROWS["concat"], ((x, x),), {}).owner
    assert joined.arguments() == ((x, x),)
    assert joined.python_attributes() == {"dim": 0}
    assert joined.attribute("dim") == 0


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_types_go_both_ways(dtype: Any) -> None:
    for shape in ((), (0,), (3, DYNAMIC, 4)):
        tensor = TensorType(shape, dtype)
        assert abstract_type(ir_type(tensor)) == tensor
    assert "ui8" in str(ir_type(TensorType((), DTYPES["u8"])))


def test_only_tensors_of_the_machine_are_types() -> None:
    from xdsl.dialects.builtin import IndexType, f64
    from xdsl.dialects.builtin import TensorType as IrTensorType

    with pytest.raises(VerifyException, match="a tensor is expected, not index"):
        abstract_type(IndexType())
    with pytest.raises(VerifyException, match="f64 is no element type"):
        abstract_type(IrTensorType(f64, [2]))


def test_values_are_ssa() -> None:
    block = Block(arg_types=[ir_type(TensorType((4,), F32))])
    result = Builder(InsertPoint.at_end(block)).apply(ROWS["exp"], block.args, {})
    assert isinstance(result, SSAValue)
