"""Runs a tensor-level module on NumPy arrays: the oracle, and the error it may be off by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.symbol_table import SymbolTable

from pypto.dialects.constants import ConstantStore
from pypto.dialects.pypto import ConstantOp, TensorOperation
from pypto.errors import CompileError
from pypto.ops.intervals import Interval, IntervalEvaluator
from pypto.ops.numpy_evaluator import NumpyEvaluator
from pypto.ops.value import Evaluator


def interpret(
    module: ModuleOp,
    inputs: Sequence[np.ndarray],
    constants: ConstantStore | None = None,
    *,
    function: str = "main",
) -> tuple[np.ndarray, ...]:
    """The results of a function by the references of the catalogue, each rounded to its type."""
    results = _Run(module, NumpyEvaluator(), constants).start(function, inputs)
    return tuple(tensor.array for tensor in results)


def derive_bounds(
    module: ModuleOp,
    inputs: Sequence[np.ndarray],
    constants: ConstantStore | None = None,
    *,
    function: str = "main",
) -> tuple[Interval, ...]:
    """For each result its exact value and the interval a correct program stays in.

    ``ops/intervals.py`` says how it is derived; ``Interval.contains(array)`` judges a result.
    """
    results = _Run(module, IntervalEvaluator(), constants).start(function, inputs)
    return tuple(tensor.interval for tensor in results)


class _Run:
    """One run of a module on one evaluator."""

    def __init__(
        self, module: ModuleOp, evaluator: Evaluator, constants: ConstantStore | None
    ) -> None:
        self.symbols = SymbolTable(module)
        self.evaluator = evaluator
        self.constants = ConstantStore() if constants is None else constants
        self.running: list[str] = []

    def start(self, name: str, inputs: Sequence[np.ndarray]) -> tuple[Any, ...]:
        """Run a function on arrays."""
        return self.function(name, [self.evaluator.lift(np.asarray(array)) for array in inputs])

    def function(self, name: str, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Run a function on tensors of the evaluator."""
        function = self.symbols.lookup(name)
        if not isinstance(function, FuncOp) or function.is_declaration:
            raise CompileError("UNKNOWN_NAME", f"the module has no function @{name}")
        block = function.body.block
        if len(arguments) != len(block.args):
            raise CompileError(
                "BAD_ARGUMENT", f"@{name} takes {len(block.args)} inputs, {len(arguments)} given"
            )
        if name in self.running:
            raise CompileError("UNSUPPORTED", f"@{name} calls itself, without an end")
        self.running.append(name)
        values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
        for op in block.ops:
            if isinstance(op, ReturnOp):
                self.running.pop()
                return tuple(values[operand] for operand in op.operands)
            values.update(zip(op.results, self._operation(op, values), strict=True))
        raise CompileError("IR_SYNTAX", f"@{name} does not return")

    def _operation(self, op: Operation, values: dict[SSAValue, Any]) -> tuple[Any, ...]:
        match op:
            case ConstantOp():
                return (self.evaluator.lift(self.constants[op.resource.data]),)
            case CallOp():
                return self.function(op.callee.string_value(), [values[v] for v in op.operands])
            case TensorOperation():
                operands = _resolved(op.arguments(), values)
                results = self.evaluator.apply(op.row, operands, op.python_attributes())
                return results if isinstance(results, tuple) else (results,)
            case _:
                raise CompileError(
                    "UNSUPPORTED",
                    f"{op.name} cannot be run at tensor level",
                    fix="interpret the module before it is lowered to tiles",
                )


def _resolved(operands: tuple[Any, ...], values: dict[SSAValue, Any]) -> tuple[Any, ...]:
    return tuple(
        _resolved(operand, values)
        if isinstance(operand, tuple)
        else (values[operand] if isinstance(operand, SSAValue) else operand)
        for operand in operands
    )
