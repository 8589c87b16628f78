"""outline: every group of operations becomes a kernel, a function that @main calls."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pypto.dialects.locations import source_of
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.tile import KERNEL
from pypto.errors import CompileError
from pypto.passes.base import Pass
from pypto.passes.core_kinds import core_for
from pypto.passes.tensor.fresh_results import own_results
from pypto.passes.tensor.grouping import ordered_units
from pypto.passes.tensor.kernel_names import KernelNames, plain_location
from pypto.passes.tensor.own_creators import own_creators
from pypto.passes.tensor.units import (
    CUBE,
    GROUP,
    becomes_kernel,
    group_of,
    main_function,
    main_graph,
)
from pypto.passes.tik.kernels import soc_of
from pypto.target.soc import Soc


@dataclass(frozen=True)
class Outline(Pass):
    """Groups (``pypto.group``), and all other operations one by one, become functions.

    Views, constants and empty tensors stay in @main. Kernels that compute the same are one.
    """

    name = "outline"
    exact: ClassVar[bool] = True
    requires: ClassVar[str] = "@main holds primitives that are legal for the machine"
    ensures: ClassVar[str] = (
        "@main holds calls of kernels, views, constants and empty tensors; kernels hold"
        " primitives; every result of @main is a buffer of its own"
    )

    def apply(self, context: Context, module: ModuleOp) -> None:
        main = main_function(module)
        own_results(main)
        own_creators(main)
        graph = main_graph(main)
        unit_of = _units(graph.ops)
        outliner = Outliner(module, main, soc_of(module))
        for unit in ordered_units(unit_of, graph.sources):
            ops = [op for op, its in zip(graph.ops, unit_of, strict=True) if its == unit]
            outliner.take(ops)


def _units(ops: tuple[Operation, ...]) -> list[int]:
    """For each operation the place of the first one of its group, itself when it has none."""
    first: dict[int, int] = {}
    units = []
    for place, op in enumerate(ops):
        group = group_of(op)
        units.append(place if group is None else first.setdefault(group, place))
    return units


@dataclass
class Unit:
    """Operations that become one kernel: what they read, and what others read of them."""

    ops: list[TensorOperation]
    inputs: list[SSAValue] = field(init=False)
    results: list[SSAValue] = field(init=False)

    def __post_init__(self) -> None:
        inside = set(self.ops)
        read = (operand for op in self.ops for operand in op.operands)
        self.inputs = list(dict.fromkeys(value for value in read if value.owner not in inside))
        made = (result for op in self.ops for result in op.results)
        self.results = [v for v in made if any(u.operation not in inside for u in v.uses)]

    def key(self) -> Hashable:
        """Equal for units that compute the same from arguments of the same types."""
        number = {value: index for index, value in enumerate(self.inputs)}
        parts: list[Hashable] = [tuple(value.type for value in self.inputs)]
        for op in self.ops:
            operands = tuple(number[operand] for operand in op.operands)
            properties = frozenset(op.properties.items())
            parts.append((op.name, operands, properties, tuple(op.result_types)))
            for result in op.results:
                number[result] = len(number)
        return (*parts, tuple(number[value] for value in self.results))

    @property
    def location(self) -> LocationAttr:
        """Where its first operation that reads something stands in the user's program."""
        return plain_location(next((op for op in self.ops if op.operands), self.ops[0]).location)


class Outliner:
    """Moves the operations of @main, unit by unit, behind each other or into kernels."""

    def __init__(self, module: ModuleOp, main: FuncOp, soc: Soc) -> None:
        end = main.body.block.last_op
        if end is None:
            raise CompileError("INVALID_IR", "@main does not return", location=source_of(main))
        self.module = module
        self.soc = soc
        self.end = end
        self.names = KernelNames()
        self.kernels: dict[Hashable, FuncOp] = {}

    def take(self, ops: Sequence[Operation]) -> None:
        """The next unit: all it reads has been taken before."""
        kernel_ops = [op for op in ops if isinstance(op, TensorOperation) and becomes_kernel(op)]
        if kernel_ops:
            self._call(Unit(kernel_ops))
            return
        for op in ops:
            op.location = plain_location(op.location)
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(self.end))

    def _call(self, unit: Unit) -> None:
        """A call in the place of a unit that somebody reads."""
        if unit.results:
            key = unit.key()
            kernel = self.kernels.get(key)
            name = self.names.name(unit.ops) if kernel is None else kernel.sym_name.data
            call = CallOp(name, unit.inputs, [value.type for value in unit.results])
            call.location = unit.location
            Rewriter.insert_op(call, InsertPoint.before(self.end))
            for value, result in zip(unit.results, call.results, strict=True):
                result.name_hint = value.name_hint
                for use in list(value.uses):
                    if use.operation not in unit.ops:
                        use.operation.operands[use.index] = result
            if kernel is None:
                self.kernels[key] = self._make_kernel(name, unit)
                return
        for op in reversed(unit.ops):
            Rewriter.erase_op(op)

    def _make_kernel(self, name: str, unit: Unit) -> FuncOp:
        """A function of the unit's operations, which leave @main, at the end of the module."""
        block = Block(arg_types=[value.type for value in unit.inputs])
        argument_of = dict(zip(unit.inputs, block.args, strict=True))
        location = unit.location
        for value, argument in argument_of.items():
            argument.name_hint = value.name_hint
            argument.location = location
        for op in unit.ops:
            op.detach()
            op.attributes.pop(GROUP, None)
            op.location = plain_location(op.location)
            op.operands = [argument_of.get(operand, operand) for operand in op.operands]
            block.add_op(op)
        end = ReturnOp(*unit.results)
        end.location = location
        block.add_op(end)
        types = ([value.type for value in unit.inputs], [value.type for value in unit.results])
        kernel = FuncOp(name, types, Region(block))
        kernel.location = location
        core = core_for(self.soc, multiplies=any(op.row.name in CUBE for op in unit.ops))
        kernel.attributes[KERNEL] = StringAttr(core.value)
        Rewriter.insert_op(kernel, InsertPoint.at_end(self.module.body.block))
        return kernel
