"""A tensor-level ``@main`` as plain data: what the search for a smaller program changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pypto.dialects.builder import Builder
from pypto.dialects.constants import ConstantStore
from pypto.dialects.pypto import ConstantOp, TensorOperation
from pypto.dialects.types import ir_type, type_of
from pypto.errors import CompileError
from pypto.ops import ROWS
from pypto.ops.types import TensorType


@dataclass(frozen=True, order=True)
class Ref:
    """A value of a program by its number."""

    number: int


@dataclass(frozen=True)
class Step:
    """An operator of the catalogue: operands are Refs, numbers, None or tuples of Refs."""

    operator: str
    operands: tuple[Any, ...]
    attributes: Mapping[str, Any]
    results: tuple[Ref, ...]

    def reads(self) -> Iterator[Ref]:
        """The values the operator reads, in order."""
        for operand in self.operands:
            if isinstance(operand, tuple):
                yield from operand
            elif isinstance(operand, Ref):
                yield operand


@dataclass(frozen=True)
class Size:
    """How large a program is: its operators, and the elements of its largest tensor."""

    operators: int
    elements: int


@dataclass(frozen=True)
class Program:
    """A program without branches; ``attributes`` are those of its module (name and machine).

    ``types`` are those of all values; behind a change they are known once the program is built.
    """

    arguments: tuple[Ref, ...]
    constants: Mapping[Ref, np.ndarray]
    steps: tuple[Step, ...]
    results: tuple[Ref, ...]
    types: Mapping[Ref, TensorType]
    attributes: Mapping[str, Attribute]

    @property
    def size(self) -> Size:
        """The size; extents known at launch count as 1."""
        elements = (prod(max(1, e) for e in type.shape) for type in self.types.values())
        return Size(len(self.steps), max(elements, default=0))


def read_program(module: ModuleOp, constants: ConstantStore) -> Program | None:
    """The program of a module; None when it is more than one function on tensors."""
    functions = list(module.ops)
    if len(functions) != 1 or not isinstance(main := functions[0], FuncOp) or main.is_declaration:
        return None
    numbers: dict[SSAValue, Ref] = {}

    def named(value: SSAValue) -> Ref:
        return numbers.setdefault(value, Ref(len(numbers)))

    block = main.body.block
    arguments = tuple(map(named, block.args))
    arrays: dict[Ref, np.ndarray] = {}
    steps: list[Step] = []
    for op in block.ops:
        match op:
            case ConstantOp():
                arrays[named(op.result)] = constants[op.resource.data]
            case TensorOperation():
                operands = tuple(_mapped(operand, named) for operand in op.arguments())
                results = tuple(map(named, op.results))
                steps.append(Step(op.row.name, operands, op.python_attributes(), results))
            case ReturnOp():
                return Program(
                    arguments,
                    arrays,
                    tuple(steps),
                    tuple(map(named, op.arguments)),
                    {ref: type_of(value) for value, ref in numbers.items()},
                    dict(module.attributes),
                )
            case _:
                return None
    return None


def build_program(program: Program, constants: ConstantStore) -> ModuleOp:
    """The module of a program, its types inferred anew.

    Raises:
        CompileError: the program breaks a rule of an operator.
    """
    block = Block(arg_types=[ir_type(program.types[ref]) for ref in program.arguments])
    builder = Builder(InsertPoint.at_end(block), constants)
    values: dict[Ref, SSAValue] = dict(zip(program.arguments, block.args, strict=True))
    for ref, array in program.constants.items():
        values[ref] = builder.constant(array)
    for step in program.steps:
        operands = [_mapped(operand, values.__getitem__) for operand in step.operands]
        attributes = dict(step.attributes)
        if step.operator == "reshape":
            elements = prod(type_of(operands[0]).shape)
            attributes["shape"] = fitted_shape(attributes["shape"], elements)
        made = builder.apply(ROWS[step.operator], operands, attributes)
        made = made if isinstance(made, tuple) else (made,)
        if not all(isinstance(value, SSAValue) for value in made):
            raise CompileError("BAD_ARGUMENT", f"{step.operator} of numbers gives no tensor")
        values.update(zip(step.results, made, strict=True))
    returned = [values[ref] for ref in program.results]
    builder.insert(ReturnOp(*returned))
    signature = FunctionType.from_lists(block.arg_types, [value.type for value in returned])
    main = FuncOp("main", signature, Region(block))
    return ModuleOp([main], dict(program.attributes))


def fitted_shape(shape: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """``shape``, or with one extent changed so that it holds ``elements``; the last that can."""
    for axis in reversed(range(len(shape))):
        if prod(shape) == elements:
            break
        others = prod(shape[:axis] + shape[axis + 1 :])
        if others > 0 and elements % others == 0:
            return (*shape[:axis], elements // others, *shape[axis + 1 :])
    return shape


def _mapped(operand: Any, change: Any) -> Any:
    """An operand with its values, alone or in a tuple, changed."""
    if isinstance(operand, tuple):
        return tuple(map(change, operand))
    return change(operand) if isinstance(operand, SSAValue | Ref) else operand
