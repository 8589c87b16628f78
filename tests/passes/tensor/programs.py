"""Random tensor programs and their inputs, for tests that run a pass and compare results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pypto.dialects.builder import Builder
from pypto.dialects.constants import ConstantStore
from pypto.dialects.locations import to_ir
from pypto.dialects.types import ir_type, type_of
from pypto.errors import CompileError, SourceLocation
from pypto.ops import ROWS
from pypto.ops.types import TensorType
from pypto.target.dtypes import BF16, F16, F32, I1, I8, I16, I32, U8, DType

UNARY = (
    *("exp", "sqrt", "abs", "tanh", "erf", "neg", "relu", "sigmoid", "gelu", "silu", "square"),
    *("not", "logical_not", "isnan", "sign", "rsqrt", "zeros_like"),
)
BINARY = (
    *("add", "sub", "mul", "div", "max", "min", "eq", "lt", "le", "ne", "gt"),
    *("and", "or", "xor", "logical_and"),
)
NUMBERS = (0, 1, -1, 2, 4, 0.5, 0.0, -0.0, 1.0, -1.0, 0.1, True, False)
# Small dyadic numbers: most sums of them are exact, in whatever order.
VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1.25, 0.75, -0.25)
LARGEST = 500  # elements, of what may still grow
SPECIAL = (np.inf, -np.inf, np.nan, 300.0)


class Program:
    """A module with ``@main``, its inputs and constants."""

    def __init__(
        self, module: ModuleOp, inputs: list[np.ndarray], constants: ConstantStore
    ) -> None:
        self.module = module
        self.inputs = inputs
        self.constants = constants

    def __repr__(self) -> str:
        return f"{self.module}\ninputs: {self.inputs}"


@st.composite
def arrays(draw: Callable[..., Any], tensor: TensorType) -> np.ndarray:
    """An array of a tensor type; special values are rare."""
    size = int(np.prod(tensor.shape))
    if tensor.dtype.is_float:
        one_of = st.sampled_from(VALUES * 4 + SPECIAL)
    elif tensor.dtype == I1:
        one_of = st.booleans()
    else:
        limits = np.iinfo(tensor.dtype.numpy)
        one_of = st.sampled_from([0, 1, 2, 3, 7, 100, int(limits.min), int(limits.max)])
    flat = draw(st.lists(one_of, min_size=size, max_size=size))
    return np.array(flat, tensor.dtype.numpy).reshape(tensor.shape)


@st.composite
def programs(
    draw: Callable[..., Any],
    *,
    dtypes: tuple[DType, ...] = (F32, F16, BF16, I32, I1, I8, U8, I16),
    steps: int = 10,
) -> Program:
    """A module of up to ``steps`` operators over tensors of one domain and its parts."""
    rank = draw(st.integers(0, 3))
    domain = tuple(draw(st.sampled_from([1, 2, 3, 3, 4, 5, 0])) for _ in range(rank))
    types = []
    for _ in range(draw(st.integers(1, 3))):
        shape = tuple(draw(st.sampled_from([extent, extent, 1])) for extent in domain)
        shape = shape[draw(st.integers(0, rank)) if draw(st.booleans()) else 0 :]
        types.append(TensorType(shape, draw(st.sampled_from(dtypes))))
    block = Block(arg_types=[ir_type(tensor) for tensor in types])
    constants = ConstantStore()
    location = SourceLocation("program.py", 1, 1)
    builder = Builder(InsertPoint.at_end(block), constants, location)
    values: list[SSAValue] = list(block.args)
    for _ in range(draw(st.integers(1, steps))):
        try:
            values.extend(_step(draw, builder, values, dtypes))
        except CompileError:
            continue
    count = draw(st.integers(1, 3))
    results = [values[-1], *(draw(st.sampled_from(values)) for _ in range(count - 1))]
    end = ReturnOp(*results)
    end.location = to_ir(location)
    block.add_op(end)
    signature = FunctionType.from_lists(
        [value.type for value in block.args], [value.type for value in results]
    )
    module = ModuleOp([FuncOp("main", signature, Region(block))])
    inputs = [draw(arrays(tensor)) for tensor in types]
    return Program(module, inputs, constants)


def _step(
    draw: Callable[..., Any],
    builder: Builder,
    values: list[SSAValue],
    dtypes: tuple[DType, ...],
) -> list[SSAValue]:
    """One operator on values made so far; a CompileError when it does not take them."""
    x = draw(st.sampled_from(values[-4:] + values))
    tensor = type_of(x)
    rank = tensor.rank
    axes = st.lists(st.integers(0, max(rank - 1, 0)), max_size=rank, unique=True)

    def call(name: str, *args: Any, **kwargs: Any) -> list[SSAValue]:
        made = builder.call(ROWS[name], args, kwargs)
        return list(made) if isinstance(made, tuple) else [made]

    kind = draw(st.sampled_from(_KINDS))
    if kind in ("broadcast", "concat", "matmul") and np.prod(tensor.shape) > LARGEST:
        return []
    match kind:
        case "unary":
            return call(draw(st.sampled_from(UNARY)), x)
        case "binary":
            return call(draw(st.sampled_from(BINARY)), x, draw(st.sampled_from(values)))
        case "number":
            pair = [x, draw(st.sampled_from(NUMBERS))]
            return call(draw(st.sampled_from(BINARY)), *draw(st.permutations(pair)))
        case "select":
            other = draw(st.sampled_from([*values, *NUMBERS]))
            condition = draw(st.sampled_from(values))
            return call("select", condition, x, other)
        case "cast":
            return call("cast", x, draw(st.sampled_from(dtypes)))
        case "reduce":
            name = draw(st.sampled_from(["sum", "amax", "amin", "mean"]))
            return call(name, x, draw(axes), keepdim=draw(st.booleans()))
        case "rows":
            name = draw(st.sampled_from(["softmax", "layer_norm", "rms_norm"]))
            return call(name, x)
        case "reshape":
            shapes = [(-1,), (1, *tensor.shape), (*tensor.shape, 1), (-1, *tensor.shape[-1:])]
            return call("reshape", x, draw(st.sampled_from(shapes)))
        case "permute":
            return call("permute", x, draw(st.permutations(range(rank))))
        case "broadcast":
            return call("broadcast", x, draw(st.sampled_from([(2, *tensor.shape), (-1,) * rank])))
        case "slice":
            start = [draw(st.integers(0, 1)) for _ in range(rank)]
            step = [draw(st.integers(1, 2)) for _ in range(rank)]
            return call("slice", x, start, list(tensor.shape), step)
        case "concat":
            return call("concat", [x, draw(st.sampled_from([x, *values]))], 0)
        case "create":
            if draw(st.booleans()):
                return call("full", tensor.shape, draw(st.sampled_from(NUMBERS)), tensor.dtype)
            return call("arange", tensor.shape[-1] if rank else 3)
        case "constant":
            array = draw(arrays(TensorType(tensor.shape, draw(st.sampled_from(dtypes)))))
            return [builder.constant(array)]
        case _:
            return call("matmul", x, x, ta=draw(st.booleans()), tb=draw(st.booleans()))


_KINDS = (
    *("unary", "unary", "binary", "binary", "number", "number", "select", "cast", "reduce"),
    *("reduce", "rows", "reshape", "permute", "broadcast", "slice", "concat", "create"),
    *("constant", "matmul"),
)
