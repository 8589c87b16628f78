"""What fuse, outline and tiling agree on: which operations share a kernel, and its loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from pypto.dialects.host import MAIN
from pypto.dialects.locations import source_of
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.errors import CompileError
from pypto.passes.tensor.iteration_space import (
    IterationSpace,
    Member,
    Shape,
    iteration_space,
)

GROUP = "pypto.group"
VIEWS = ("reshape",)
CREATORS = ("full", "iota")
CUBE = ("matmul",)
# One instruction or two per tile: cheaper to repeat than to launch and to store.
CHEAP = (
    *("cast", "add", "sub", "mul", "max", "min", "abs", "broadcast"),
    *("eq", "lt", "le", "select", "and", "or", "not"),
)


def main_function(module: ModuleOp) -> FuncOp:
    """The function of a module that holds its tensor program."""
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == MAIN:
            return op
    raise CompileError(
        "NO_MAIN", f"the module has no function @{MAIN}", fix=f"name one function @{MAIN}"
    )


def becomes_kernel(op: Operation) -> bool:
    """Whether an operation of @main is computed by a kernel; views and empty tensors are not."""
    if not isinstance(op, TensorOperation) or op.row.name in VIEWS:
        return False
    return not all(0 in type_of(result).shape for result in op.results)


def is_fusible(op: object) -> TypeGuard[TensorOperation]:
    """Whether an operation may share a vector kernel with others; creators stand beside."""
    if not isinstance(op, TensorOperation) or not becomes_kernel(op):
        return False
    elementwise = op.row.elementwise and op.row.name not in CREATORS
    return elementwise or op.row.name in ("broadcast", "reduce")


def is_creator(op: object) -> TypeGuard[TensorOperation]:
    """Whether an operation makes its result from nothing, so that each kernel makes its own."""
    return isinstance(op, TensorOperation) and op.row.name in CREATORS


def group_of(op: Operation) -> int | None:
    """The group an operation was put in, None when it was left alone."""
    group = op.attributes.get(GROUP)
    return group.value.data if isinstance(group, IntegerAttr) else None


@dataclass(frozen=True)
class MainGraph:
    """The operations of @main except its return, and for each the places of those it reads."""

    ops: tuple[Operation, ...]
    sources: tuple[tuple[int, ...], ...]


def main_graph(main: FuncOp) -> MainGraph:
    """The graph of @main as it is now."""
    ops = tuple(main.body.block.ops)[:-1]
    place: dict[SSAValue, int] = {
        result: index for index, op in enumerate(ops) for result in op.results
    }
    read = ({place[value] for value in _read_by(op) if value in place} for op in ops)
    return MainGraph(ops, tuple(tuple(sorted(places)) for places in read))


def _read_by(op: Operation) -> Iterator[SSAValue]:
    """The operands of an operation and of all operations inside it."""
    return (operand for inner in op.walk() for operand in inner.operands)


def members_of(
    operations: Sequence[TensorOperation],
    shape: Callable[[SSAValue], Shape] = lambda value: type_of(value).shape,
) -> list[Member]:
    """The operations of a kernel in the form of its arithmetic; creators count as values only.

    ``shape`` may tell extents known at launch apart; as they stand in types they are all equal.
    """
    place: dict[SSAValue, int] = {op.results[0]: i for i, op in enumerate(operations)}
    return [
        Member(
            operands=position_shape(op) or tuple(shape(operand) for operand in op.operands),
            result=shape(op.results[0]),
            sources=tuple(place[operand] for operand in op.operands if operand in place),
            reduced=op.attribute("dims") if op.row.name == "reduce" else (),
            cheap=op.row.name in CHEAP or is_creator(op),
        )
        for op in operations
    ]


def position_shape(op: TensorOperation) -> tuple[Shape, ...]:
    """What ``iota`` is made from, as a shape: positions along one axis. Empty for all others."""
    if op.row.name != "iota":
        return ()
    shape, dim = type_of(op.results[0]).shape, op.attribute("dim")
    return (tuple(extent if axis == dim else 1 for axis, extent in enumerate(shape)),)


def kernel_space(operations: Sequence[TensorOperation]) -> IterationSpace:
    """The iteration space of a vector kernel."""
    space = iteration_space(members_of(operations))
    if space is None:
        raise CompileError(
            "NO_COMMON_LOOPS",
            f"{', '.join(op.row.name for op in operations)} cannot share one kernel:"
            " their shapes do not broadcast, or they reduce over different axes",
            location=source_of(operations[0]),
            fix="group operations with the pass 'fuse'",
        )
    return space
