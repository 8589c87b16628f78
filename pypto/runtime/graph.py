"""Graphs of lazy tensors as IR: the same Builder that the frontend uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pypto.dialects.builder import Builder
from pypto.dialects.constants import ConstantStore
from pypto.dialects.host import MAIN
from pypto.dialects.locations import to_ir
from pypto.dialects.types import ir_type
from pypto.frontend.module import argument_names
from pypto.runtime.lazy import Graph, Node, Tensor

NAME = "pypto.name"


def build_graph_module(graph: Graph) -> tuple[ModuleOp, ConstantStore]:
    """A module whose ``@main`` takes the graph's leaves and returns its root."""
    block = Block(arg_types=[ir_type(leaf.type) for leaf in graph.leaves])
    builder = Builder(InsertPoint.at_end(block))
    results: list[tuple[SSAValue, ...]] = []

    def value(operand: Any) -> Any:
        if isinstance(operand, tuple):
            return tuple(map(value, operand))
        if not isinstance(operand, Tensor):
            return operand
        kind, number, index = graph.place(operand)
        return block.args[number] if kind == "leaf" else results[number][index]

    for node in graph.nodes:
        results.append(apply(builder, node, [value(operand) for operand in node.operands]))
    root = value(graph.root)
    location = to_ir(graph.nodes[-1].location if graph.nodes else None)
    ending = ReturnOp(root)
    ending.location = location
    block.add_op(ending)
    function = FuncOp(
        MAIN,
        FunctionType.from_lists([argument.type for argument in block.args], [root.type]),
        Region(block),
        arg_attrs=argument_names(f"input{index}" for index in range(len(graph.leaves))),
    )
    function.location = location
    for argument in block.args:
        argument.location = location
    return ModuleOp([function], {NAME: StringAttr("lazy")}), builder.constants


def apply(builder: Builder, node: Node, operands: Sequence[Any]) -> tuple[SSAValue, ...]:
    """One recorded application, at the place where it was written."""
    made = builder.apply(node.operator, operands, node.attributes, node.location)
    return made if isinstance(made, tuple) else (made,)
