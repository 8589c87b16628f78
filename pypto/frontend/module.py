"""From a function and the types of its arguments to a module of the tensor level."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

from pypto.dialects.builder import Builder, IrTensor
from pypto.dialects.constants import ConstantStore
from pypto.dialects.locations import to_ir
from pypto.dialects.types import ir_type
from pypto.frontend.form import evaluate
from pypto.frontend.functions import plain_function
from pypto.frontend.source import function_source
from pypto.frontend.structure import leaves
from pypto.ops.types import TensorType


def build_module(
    function: Callable[..., Any], types: Sequence[Any], *, name: str
) -> tuple[ModuleOp, ConstantStore]:
    """Compile a function to ``@main`` of a new module.

    ``types`` has one entry per parameter: a TensorType, or the value of a parameter that is static.
    The second result holds the bytes of the constants. The module carries ``name``; its results
    are the tensors of what the function returns, in order.

    Raises:
        CompileError: at the line of the function that cannot be compiled.
    """
    function = plain_function(function)
    source = function_source(function)
    parameters = list(inspect.signature(function).parameters)
    tensors = {n: t for n, t in zip(parameters, types, strict=True) if isinstance(t, TensorType)}
    block = Block(arg_types=[ir_type(type) for type in tensors.values()])
    constants = ConstantStore()
    builder = Builder(InsertPoint.at_end(block), constants, source.definition())
    values: dict[str, IrTensor] = {}
    for parameter, argument in zip(tensors, block.args, strict=True):
        argument.name_hint = parameter
        argument.location = to_ir(source.parameter(parameter))
        values[parameter] = builder.lift(argument)
    returned = evaluate(function, types, builder, lambda parameter, _: values[parameter])
    results = [leaf.ssa for leaf in leaves(returned) if isinstance(leaf, IrTensor)]
    builder.insert(ReturnOp(*results))
    signature = FunctionType.from_lists(block.arg_types, [result.type for result in results])
    main = FuncOp("main", signature, Region(block), arg_attrs=argument_names(tensors))
    main.location = to_ir(source.definition())
    module = ModuleOp([main], {"pypto.name": StringAttr(name)})
    return module, constants


def argument_names(names: Iterable[str]) -> ArrayAttr[DictionaryAttr] | None:
    """The names of the parameters, as attributes that survive printing; None without any."""
    attributes = [DictionaryAttr({"pypto.name": StringAttr(name)}) for name in names]
    return ArrayAttr(attributes) if attributes else None
