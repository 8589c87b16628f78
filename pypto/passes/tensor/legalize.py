"""legalize: every primitive becomes one that the machine of the module computes as it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.ops import ROWS
from pypto.passes.base import Pass
from pypto.passes.tensor.element_types import NATIVE, is_native
from pypto.passes.tensor.legal_casts import cast, legal_cast
from pypto.passes.tensor.legal_reductions import legal_reduce
from pypto.passes.tensor.machine_limits import refuse_what_is_lacking
from pypto.passes.tensor.rewriting import Pattern, apply_patterns
from pypto.passes.tik.kernels import soc_of
from pypto.target.dtypes import BF16, F32, I1, I32
from pypto.target.instructions import exists


@dataclass(frozen=True)
class Legalize(Pass):
    """Element types without arithmetic are widened, reductions and products take their one form.

    Two-byte results are still rounded after each operator, as its definition says. What the
    machine does not know at all is refused.
    """

    name = "legalize"
    exact: ClassVar[bool] = False
    requires: ClassVar[str] = "no operation of the catalogue has a decomposition"
    ensures: ClassVar[str] = (
        "arithmetic is on element types the vector unit has; casts are single instructions;"
        " reductions keep their axes and reduce one run of neighbours; products have K > 0;"
        " empty tensors come from full only"
    )

    def apply(self, context: Context, module: ModuleOp) -> None:
        machine = soc_of(module)
        refuse_what_is_lacking(module, machine)
        apply_patterns(module, PATTERNS)
        if not exists(f"vcmpv_eq.{I32}", machine.architecture):
            apply_patterns(module, {"eq": (integer_equality,)})


def empty_result(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """A tensor without elements is full of any number."""
    result = type_of(op.results[0])
    if op.row.name == "full" or 0 not in result.shape:
        return None
    attributes = {"shape": result.shape, "value": 0, "dtype": result.dtype}
    return builder.apply(ROWS["full"], (), attributes)


def widen_halves(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """bf16 is computed in f32 and rounded back; numbers are rounded to bf16 first."""
    result = type_of(op.results[0]).dtype
    operands = []
    for argument, parameter in zip(op.arguments(), op.row.operands, strict=True):
        if isinstance(argument, SSAValue):
            is_half = type_of(argument).dtype == BF16
            operands.append(cast(builder, argument, F32) if is_half else argument)
        else:
            is_float = isinstance(argument, float) and parameter.kind.takes_numbers
            operands.append(float(BF16.numpy.type(argument)) if is_float else argument)
    dtypes = [type_of(argument).dtype for argument in op.operands]
    if BF16 not in dtypes:
        return None
    wide = builder.apply(op.row, operands, op.python_attributes())
    return cast(builder, wide, BF16) if result == BF16 else wide


def integer_abs(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """|x| = max(x, -x)."""
    x = op.operands[0]
    if type_of(x).dtype != I32:
        return None
    return builder.apply(ROWS["max"], [x, builder.apply(ROWS["mul"], [x, -1], {})], {})


def integer_order(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """x < y unless min(x, y) = y; x <= y if min(x, y) = x."""
    x, y = op.arguments()
    if is_native(op.row.name, type_of(op.operands[0]).dtype):
        return None
    lower = builder.apply(ROWS["min"], [x, y], {})
    if op.row.name == "le":
        return builder.apply(ROWS["eq"], [lower, x], {})
    return builder.apply(ROWS["not"], [builder.apply(ROWS["eq"], [lower, y], {})], {})


def integer_equality(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """x = y where x - y, which wraps, is 0; no other integer converts to 0."""
    if type_of(op.operands[0]).dtype != I32:
        return None
    difference = builder.apply(ROWS["sub"], list(op.arguments()), {})
    return builder.apply(ROWS["eq"], [cast(builder, difference, F32), 0.0], {})


def exclusive_or(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """x ^ y has the bits of x | y that are not in x & y."""
    x, y = op.arguments()
    either, both = builder.apply(ROWS["or"], [x, y], {}), builder.apply(ROWS["and"], [x, y], {})
    if type_of(either).dtype == I1:
        return builder.apply(ROWS["and"], [either, builder.apply(ROWS["not"], [both], {})], {})
    return builder.apply(ROWS["sub"], [either, both], {})


def empty_product(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """A product over an inner extent of 0 is 0."""
    result = type_of(op.results[0])
    if type_of(op.operands[0]).shape[-2 if op.attribute("ta") else -1] != 0:
        return None
    attributes = {"shape": result.shape, "value": 0.0, "dtype": result.dtype}
    return builder.apply(ROWS["full"], (), attributes)


def join_batch(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """Rows of a batch that meet one matrix are more rows; equal batches are one axis."""
    a, b = op.operands
    result = type_of(op.results[0]).shape
    (*a_batch, m, k), (*b_batch, _, _) = type_of(a).shape, type_of(b).shape
    if not a_batch and not b_batch:
        return None
    if prod(b_batch) == 1 and not op.attribute("ta"):
        a_shape, b_shape = (prod(a_batch) * m, k), type_of(b).shape[-2:]
    elif prod(a_batch) == prod(b_batch) == 1:
        a_shape, b_shape = (m, k), type_of(b).shape[-2:]
    elif a_batch == b_batch and len(a_batch) > 1:
        a_shape, b_shape = ((prod(a_batch), *type_of(v).shape[-2:]) for v in (a, b))
    else:
        return None
    operands = [
        builder.apply(ROWS["reshape"], [a], {"shape": a_shape}),
        builder.apply(ROWS["reshape"], [b], {"shape": b_shape}),
    ]
    product = builder.apply(op.row, operands, op.python_attributes())
    return builder.apply(ROWS["reshape"], [product], {"shape": result})


_OF_HALVES = [name for name in NATIVE if name not in ("and", "or", "not")]

PATTERNS: dict[str, tuple[Pattern, ...]] = {
    **{name: (empty_result,) for name, row in ROWS.items() if row.is_single},
    **dict.fromkeys(_OF_HALVES, (empty_result, widen_halves)),
    "abs": (empty_result, widen_halves, integer_abs),
    **dict.fromkeys(("lt", "le"), (empty_result, widen_halves, integer_order)),
    "xor": (empty_result, exclusive_or),
    "cast": (empty_result, legal_cast),
    "reduce": (empty_result, legal_reduce),
    "matmul": (empty_result, empty_product, join_batch),
}
