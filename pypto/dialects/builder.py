"""The one Builder: the only door through which operators enter the IR.

The AST frontend, lazy tensors and importers all call ``Builder.apply``: arguments are normalised,
operands promoted, shapes and element types checked, and errors carry the user's line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.builder import Builder as XdslBuilder
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from pypto.dialects.constants import ConstantStore
from pypto.dialects.locations import from_ir, to_ir
from pypto.dialects.pypto import ConstantOp, TensorOperation, make
from pypto.dialects.types import ir_type, type_of
from pypto.errors import CompileError, SourceLocation
from pypto.ops import ROWS, Operator
from pypto.ops.types import TensorType, tensor_type_of
from pypto.ops.value import Evaluator, Tensor, using

Location: TypeAlias = SourceLocation | LocationAttr | None


class IrTensor(Tensor):
    """A tensor of the IR, as operator bodies see it."""

    __slots__ = ("ssa",)

    def __init__(self, evaluator: Evaluator, ssa: SSAValue) -> None:
        super().__init__(evaluator, type_of(ssa))
        self.ssa = ssa


class _IrEvaluator(Evaluator):
    """Evaluates operators to operations put in by a Builder."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def lift(self, operand: Any) -> Tensor:
        if isinstance(operand, SSAValue) or hasattr(operand, "__array__"):
            return self._builder.lift(operand)
        return super().lift(operand)

    def evaluate(
        self,
        operator: Operator[..., Any],
        operands: tuple[Any, ...],
        attributes: dict[str, Any],
        result_types: tuple[TensorType, ...],
    ) -> tuple[Tensor, ...]:
        op = make(operator, _unwrapped(operands), attributes, map(ir_type, result_types))
        return tuple(IrTensor(self, result) for result in self._builder.insert(op).results)


class Builder:
    """Builds tensor-level operations at an insertion point; all carry the current location."""

    def __init__(
        self,
        insertion_point: InsertPoint,
        constants: ConstantStore | None = None,
        location: Location = None,
    ) -> None:
        self.constants = ConstantStore() if constants is None else constants
        self._builder = XdslBuilder(insertion_point)
        self._location = _ir_location(location)
        self._evaluator = _IrEvaluator(self)

    @contextlib.contextmanager
    def at(self, location: Location) -> Iterator[None]:
        """Operators called inside are built here; operations and errors carry ``location``.

        None leaves the location as it is.
        """
        before = self._location
        if location is not None:
            self._location = _ir_location(location)
        try:
            with using(self._evaluator):
                yield
        except CompileError as error:
            if error.location is None:
                precise = isinstance(location, SourceLocation)
                error.location = location if precise else from_ir(self._location)
            raise
        finally:
            self._location = before

    def apply(
        self,
        operator: Operator[..., Any],
        operands: Sequence[Any],
        attributes: Mapping[str, Any],
        location: Location = None,
    ) -> Any:
        """Add an operator; gives its value, a tuple of values, or a number (of numbers only).

        ``operands`` has one entry per operand parameter, as ``Operator.bind`` gives them: a value
        or array, a Python number, None when absent, or a sequence of values.
        """
        with self.at(location):
            return _unwrapped(self._evaluator.apply(operator, operands, attributes))

    def call(
        self,
        operator: Operator[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        location: Location = None,
    ) -> Any:
        """Bind a call's arguments by the row's signature and apply."""
        with self.at(location):
            with operator.blame():
                operands, attributes = operator.bind(args, kwargs)
            return _unwrapped(self._evaluator.apply(operator, operands, attributes))

    def constant(self, array: Any, location: Location = None) -> SSAValue:
        """An array as a constant; an array of one value repeated becomes ``pypto.full``."""
        with self.at(location):
            array = np.asarray(array)
            tensor = tensor_type_of(array)
            bits = array.view(f"u{array.itemsize}")
            if array.size and np.all(bits == bits.flat[0]):
                number = array.flat[0].item()
                attributes = {"shape": tensor.shape, "value": number, "dtype": tensor.dtype}
                return self.apply(ROWS["full"], (), attributes)
            return self.insert(ConstantOp(self.constants.add(array), ir_type(tensor))).results[0]

    def lift(self, value: Any) -> IrTensor:
        """A value or an array as operator bodies see it: operators on it are built here."""
        if isinstance(value, IrTensor):
            return value
        ssa = value if isinstance(value, SSAValue) else self.constant(value)
        return IrTensor(self._evaluator, ssa)

    def expand(self, op: TensorOperation) -> tuple[SSAValue, ...]:
        """Run the body of a composite, or the recipe of a primitive, here; gives the results."""
        row = op.row
        with self.at(op.location):
            operands = _mapped(op.arguments(), SSAValue, self.lift)
            types = tuple(type_of(result) for result in op.results)
            return _unwrapped(row.open(self._evaluator, operands, op.python_attributes(), types))

    def insert(self, op: Operation) -> Operation:
        """Put an operation in, with the current location."""
        op.location = self._location
        return self._builder.insert(op)


def expand(op: TensorOperation, builder: Builder) -> tuple[SSAValue, ...]:
    """The results of an operation's decomposition, built by ``builder``."""
    return builder.expand(op)


def _ir_location(location: Location) -> LocationAttr:
    return location if isinstance(location, LocationAttr) else to_ir(location)


def _mapped(values: tuple[Any, ...], kind: type, function: Any) -> tuple[Any, ...]:
    return tuple(
        _mapped(value, kind, function)
        if isinstance(value, tuple)
        else (function(value) if isinstance(value, kind) else value)
        for value in values
    )


def _unwrapped(value: Any) -> Any:
    if isinstance(value, tuple):
        return _mapped(value, IrTensor, lambda tensor: tensor.ssa)
    return value.ssa if isinstance(value, IrTensor) else value
