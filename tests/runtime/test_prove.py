"""Every kind of mistake a pass may make is named; passes that make none pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    UnknownLoc,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

import pypto
from pypto.dialects import tik, tile
from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.errors import CompileError
from pypto.ops import ROWS
from pypto.passes.base import Pass
from pypto.passes.pipelines import PIPELINES
from pypto.passes.tensor.canonicalize import Canonicalize
from pypto.passes.tensor.expand_recipes import ExpandRecipes
from pypto.passes.tensor.fuse import Fuse
from pypto.passes.tik.insert_sync import InsertSync
from pypto.passes.tik.lower_to_tik import LowerToTik
from pypto.passes.tik.place_buffers import PlaceBuffers
from pypto.passes.tile.tile_kernels import TileKernels
from pypto.runtime import prove as runtime_prove
from pypto.runtime.prove import BrokenPass, Divergence, prove
from pypto.runtime.prove_run import execute
from tests.runtime.proving import (
    X,
    built,
    chain,
    compiled,
    softmax,
    two_kernels,
    wrong_scalars,
)

Change = Callable[[ModuleOp], None]


def broken(
    kind: type[Pass],
    change: Change,
    function: Callable[..., object],
    *inputs: np.ndarray,
    level: str = "O2",
    pipeline: str | None = None,
) -> BrokenPass:
    """The error for a pass that, when it is done, makes a change to the module."""
    right = kind.apply

    def apply(self, context, module) -> None:
        right(self, context, module)
        change(module)

    module, constants = built(function, *inputs)
    with patch.object(kind, "apply", apply), pytest.raises(BrokenPass) as caught:
        prove(module, constants, pipeline or PIPELINES[level], inputs)
    assert caught.value.code == "PASS_BROKE_PROGRAM"
    assert caught.value.fix is not None
    return caught.value


def first(module: ModuleOp, kind: type) -> Any:
    """The first operation of a kind."""
    return next(op for op in module.walk() if isinstance(op, kind))


def add_more(module: ModuleOp) -> None:
    """x + 1 becomes x + 2."""
    for op in module.walk():
        if isinstance(op, TensorOperation) and op.row.name == "add":
            op.properties["y"] = FloatAttr(2.0, 64)


def test_an_exact_pass_that_changes_bits() -> None:
    error = broken(Canonicalize, add_more, chain, X)
    before = chain_result(X)[0, 0]
    found = error.divergence
    assert found == Divergence("canonicalize", "bits", 0, (0, 0), float(before), float(before + 1))
    assert str(error) == (
        "error[PASS_BROKE_PROGRAM]: pass 'canonicalize' changed result 0 of chain at [0, 0]: "
        f"{before} became {before + 1}\n"
        "note: the pass is exact: every bit must stay as it was\n"
        "note: 185 of 185 elements of the result are wrong\n"
        "note: the inputs are the arguments given\n"
        "fix: run 'pyptoc bisect' on the kernel for the smallest program this pass breaks, or look "
        "at the IR before and behind it with --dump-ir DIR"
    )


def chain_result(x: np.ndarray) -> np.ndarray:
    return np.exp(x) * np.float32(2) + np.float32(1)


def test_the_sign_of_a_zero_is_a_bit() -> None:
    x = np.array([[1.0, 0.0]], np.float32)

    def to_positive(module: ModuleOp) -> None:
        for op in module.walk():
            if isinstance(op, TensorOperation) and op.row.name == "mul":
                op.properties["y"] = FloatAttr(0.0, 64)

    error = broken(Canonicalize, to_positive, times_zero, x)
    assert error.divergence == Divergence("canonicalize", "bits", 0, (0, 0), -0.0, 0.0)


def times_zero(x):
    return x * -0.0


def test_a_pass_that_leaves_its_bounds() -> None:
    error = broken(ExpandRecipes, double, softmax, X)
    found = error.divergence
    assert (found.pass_name, found.kind, found.result) == ("expand-recipes", "bound", 0)
    assert found.before is not None
    assert found.after == pytest.approx(2 * found.before)
    assert re.fullmatch(r"the input of the pipeline allows 0\.\d+ to 0\.\d+ there", error.notes[0])


def double(module: ModuleOp) -> None:
    """What @main returns is multiplied by 2."""
    last = first(module, ReturnOp)
    builder = Builder(InsertPoint.before(last), location=last.location)
    last.operands[0] = builder.apply(ROWS["mul"], [last.operands[0], 2.0], {})


def test_single_elements_are_found() -> None:
    """Tiles that end too early: their last elements are not written at all."""

    def shorten(module: ModuleOp) -> None:
        for load in [op for op in module.walk() if isinstance(op, tile.LoadOp)]:
            one = arith.ConstantOp(IntegerAttr.from_index_int_value(1))
            less = arith.SubiOp(load.valid_columns, one.result)
            for op in (one, less):
                op.location = load.location
            Rewriter.insert_op([one, less], InsertPoint.before(load))
            load.operands[4] = less.result

    error = broken(TileKernels, shorten, chain, X)
    found = error.divergence
    assert (found.pass_name, found.kind) == ("tile-kernels", "bound")
    assert found.before is not None
    assert np.isfinite(found.before)
    assert str(found.after) == "nan"
    assert error.message.endswith("became nan")
    assert re.match(r"\d\d? of 185 elements of the result are wrong", error.notes[1])


@pytest.mark.parametrize("kind", [LowerToTik, PlaceBuffers])
def test_the_kernel_is_named(kind) -> None:
    names = [
        op.sym_name.data
        for op in compiled(two_kernels, X).ops
        if isinstance(op, FuncOp) and op.sym_name.data != "main"
    ]
    assert len(names) > 1
    (scaled,) = [name for name in names if "mul" in name or "fused" in name]
    error = broken(kind, lambda module: wrong_scalars(module, scaled), two_kernels, X)
    assert error.divergence.pass_name == kind.name
    assert error.divergence.kind == ("bound" if kind is LowerToTik else "bits")
    assert f"kernel {scaled!r} is wrong behind the pass" in error.notes


def test_the_kernel_is_named_when_tensors_become_tiles() -> None:
    def spoil(module: ModuleOp) -> None:
        for op in module.walk():
            if isinstance(op, tile.ApplyOp) and op.operator.data == "mul":
                op.scalar = FloatAttr(4.0, 64)

    error = broken(TileKernels, spoil, two_kernels, X)
    assert any(re.fullmatch(r"kernel '.*' is wrong behind the pass", note) for note in error.notes)


def test_a_broken_law() -> None:
    def forget(module: ModuleOp) -> None:
        for op in module.walk():
            if op.name.startswith("tik.v"):
                op.location = UnknownLoc()

    error = broken(LowerToTik, forget, chain, X)
    assert error.divergence == Divergence("lower-to-tik", "law")
    assert error.message == (
        "the module behind pass 'lower-to-tik' is not valid: tik.vexp.f32: the operation has no "
        "source location"
    )


def test_a_module_that_does_not_read_back() -> None:
    """A number of another width prints alike."""

    def narrow(module: ModuleOp) -> None:
        apply = next(
            op for op in module.walk() if isinstance(op, tile.ApplyOp) and op.scalar is not None
        )
        apply.scalar = FloatAttr(2.0, f32)

    error = broken(TileKernels, narrow, chain, X)
    assert error.divergence == Divergence("tile-kernels", "text")
    assert error.message == (
        "what pass 'tile-kernels' leaves is another module after printing and parsing"
    )
    assert error.notes == ("the text of tile.apply does not tell all of its attributes",)


def test_a_module_that_does_not_parse() -> None:
    with patch.object(tile.ReduceOp, "print", lambda self, printer: printer.print_string(" ?")):
        error = broken(TileKernels, lambda module: None, softmax, X)
    assert error.divergence == Divergence("tile-kernels", "text")
    assert error.message == (
        "what pass 'tile-kernels' leaves does not parse: a kind of reduction is expected: one of "
        "sum, max, min"
    )
    assert "tile.reduce ?" in error.notes[0]


def test_a_dropped_flag_is_a_hazard() -> None:
    """Even where the timing of the machine hides it."""

    def drop(module: ModuleOp) -> None:
        for op in list(module.walk()):
            if isinstance(op, tik.FlagOp) and op.target.value == "mte3":
                Rewriter.erase_op(op)

    error = broken(InsertSync, drop, chain, X)
    assert error.divergence == Divergence("insert-sync", "hazard")
    assert error.message.startswith("pass 'insert-sync' left a hazard: RACE_RAW: ")
    assert any(note.startswith("first ") for note in error.notes)


def test_blocks_that_do_the_same_task_are_a_hazard() -> None:
    """Even where the order of the interpreter hides it: the pass that flags come from is right."""

    def repeat(module: ModuleOp) -> None:
        for op in list(module.walk()):
            if isinstance(op, tik.BlockIndexOp | tik.BlockCountOp):
                number = int(isinstance(op, tik.BlockCountOp))
                same = arith.ConstantOp(IntegerAttr.from_index_int_value(number))
                same.location = op.location
                Rewriter.replace_op(op, same)

    error = broken(TileKernels, repeat, softmax, X)
    assert error.divergence == Divergence("tile-kernels", "hazard")
    assert error.message == (
        "pass 'tile-kernels' left a hazard: RACE_WAW: kernel fused_softmax_0: blocks 0 and 1 "
        "of 5 store to the same bytes"
    )
    assert error.location is not None


def test_a_pass_that_fails() -> None:
    def fail(module: ModuleOp) -> None:
        raise KeyError("no such thing")

    error = broken(Fuse, fail, chain, X)
    assert error.divergence == Divergence("fuse", "crash")
    assert error.message == "pass 'fuse' failed: KeyError: 'no such thing'"
    assert error.notes == (f"fuse requires: {Fuse.requires}",)


def test_a_pass_that_makes_an_invalid_operation() -> None:
    def fail(module: ModuleOp) -> None:
        raise VerifyException("a tensor is expected")

    error = broken(Canonicalize, fail, chain, X)
    assert error.divergence == Divergence("canonicalize", "crash")
    assert error.message == "pass 'canonicalize' failed: VerifyException: a tensor is expected"
    assert error.notes == ()


def test_a_program_that_cannot_be_executed_any_more() -> None:
    def move(module: ModuleOp) -> None:
        load = first(module, tile.LoadOp)
        far = arith.ConstantOp(IntegerAttr.from_index_int_value(1000))
        far.location = load.location
        Rewriter.insert_op(far, InsertPoint.before(load))
        load.operands[1] = far.result

    error = broken(TileKernels, move, chain, X)
    assert error.divergence == Divergence("tile-kernels", "crash")
    assert re.match(
        "what pass 'tile-kernels' leaves cannot be executed: TILE_OUT_OF_RANGE: kernel .*, block 0 "
        "of .*: tile.load touches elements 1000 to 10.. of a tensor of 185",
        error.message,
    )
    assert error.location is not None


def test_a_result_of_another_shape() -> None:
    def transpose(module: ModuleOp) -> None:
        main = first(module, FuncOp)
        last = first(module, ReturnOp)
        last.operands[0] = main.body.block.args[0]
        outputs = [value.type for value in last.operands]
        main.function_type = FunctionType.from_lists(main.function_type.inputs, outputs)

    error = broken(Canonicalize, transpose, by_rows, X)
    assert error.divergence == Divergence("canonicalize", "bits", 0)
    assert error.message == (
        "pass 'canonicalize' changed result 0 from float32[5] to float32[5, 37]"
    )


def test_a_lost_result() -> None:
    def lose(module: ModuleOp) -> None:
        main, last = first(module, FuncOp), first(module, ReturnOp)
        last.operands = last.operands[:1]
        outputs = [value.type for value in last.operands]
        main.function_type = FunctionType.from_lists(main.function_type.inputs, outputs)

    error = broken(Canonicalize, lose, two_kernels, X)
    assert error.divergence == Divergence("canonicalize", "bits")
    assert error.message == "pass 'canonicalize' made 1 results of 2"


def test_a_change_that_the_text_does_not_tell() -> None:
    """The text is that of before, the module is not."""

    def hide(module: ModuleOp) -> None:
        main = first(module, FuncOp)
        main.properties["arg_attrs"] = ArrayAttr([])

    def nothing():
        return pypto.ones((3, 7), pypto.float32)

    error = broken(Canonicalize, hide, nothing)
    assert error.divergence == Divergence("canonicalize", "text")


def test_what_fails_in_the_execution() -> None:
    """Whatever it is, it is the doing of the pass that was last."""

    def fail(module: ModuleOp, *rest: Any) -> Any:
        if "spoilt" in module.attributes:
            raise ValueError("operands could not be broadcast")
        return execute(module, *rest)

    def spoil(module: ModuleOp) -> None:
        module.attributes["spoilt"] = UnitAttr()

    with patch.object(runtime_prove, "execute", fail):
        error = broken(Fuse, spoil, chain, X)
    assert error.divergence == Divergence("fuse", "crash")
    assert error.message == (
        "what pass 'fuse' leaves cannot be executed: ValueError: operands could not be broadcast"
    )


def by_rows(x):
    return pypto.sum(x, -1)


def test_refusals_stay_what_they_are() -> None:
    """A pass that says what the machine cannot do has not broken the program."""

    def refuse(module: ModuleOp) -> None:
        raise CompileError("UNSUPPORTED", "not on this machine", fix="take another")

    module, constants = built(chain, X)
    with (
        patch.object(Fuse, "apply", lambda self, context, module: refuse(module)),
        pytest.raises(CompileError) as caught,
    ):
        prove(module, constants, PIPELINES["O2"], (X,))
    assert not isinstance(caught.value, BrokenPass)
    assert caught.value.notes == ("in pass 'fuse'",)
