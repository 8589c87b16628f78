"""Canonical forms of movement, conversion and reduction; each pattern keeps every bit."""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from pypto.dialects.builder import Builder
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.ops import ROWS
from pypto.ops.types import broadcast_shapes
from pypto.passes.tensor.element_types import converts_directly, keeps_all_values
from pypto.passes.tensor.rewriting import Pattern, defining


def same_type(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """A change of shape, extent, order or element type that changes nothing."""
    (x,) = op.operands
    return x if x.type == op.results[0].type else None


def move_full(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """One number everywhere is the same number everywhere in any other shape."""
    full = defining(op.operands[0], "full")
    if full is None:
        return None
    result = type_of(op.results[0])
    attributes = {"shape": result.shape, "value": full.attribute("value"), "dtype": result.dtype}
    return builder.apply(ROWS["full"], (), attributes)


def reshape_of_reshape(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """Only the last shape counts."""
    inner = defining(op.operands[0], "reshape")
    if inner is None:
        return None
    return builder.apply(op.row, inner.operands, op.python_attributes())


def permute_of_permute(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """Two changes of order are one."""
    inner = defining(op.operands[0], "permute")
    if inner is None:
        return None
    first, second = inner.attribute("dims"), op.attribute("dims")
    return builder.apply(op.row, inner.operands, {"dims": tuple(first[axis] for axis in second)})


def permute_as_reshape(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """When only axes of extent 1 move, the elements keep their order."""
    shape, dims = type_of(op.operands[0]).shape, op.attribute("dims")
    moving = [axis for axis in dims if shape[axis] != 1]
    if moving != sorted(moving) or dims == tuple(range(len(dims))):
        return None
    return builder.apply(ROWS["reshape"], op.operands, {"shape": type_of(op.results[0]).shape})


def permute_in_place(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """Axes in their own order stay."""
    dims = op.attribute("dims")
    return op.operands[0] if dims == tuple(range(len(dims))) else None


def broadcast_of_broadcast(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """Only the last extents count."""
    inner = defining(op.operands[0], "broadcast")
    if inner is None:
        return None
    return builder.apply(op.row, inner.operands, op.python_attributes())


def slice_of_slice(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """A part of a part is a part."""
    inner = defining(op.operands[0], "slice")
    if inner is None or 0 in type_of(op.results[0]).shape:
        return None
    start, step, stop = [], [], []
    outer = zip(inner.attribute("start"), inner.attribute("step"), strict=True)
    own = zip(op.attribute("start"), op.attribute("step"), strict=True)
    for (a, b), (c, d), extent in zip(outer, own, type_of(op.results[0]).shape, strict=True):
        start.append(a + b * c)
        step.append(b * d)
        stop.append(start[-1] + (extent - 1) * step[-1] + 1)
    attributes = {"start": tuple(start), "stop": tuple(stop), "step": tuple(step)}
    return builder.apply(op.row, inner.operands, attributes)


def concat_of_one(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """Empty parts vanish; one part alone is the whole."""
    (parts,) = op.arguments()
    filled = tuple(part for part in parts if 0 not in type_of(part).shape)
    if len(filled) == 1:
        return filled[0]
    if len(filled) in (0, len(parts)):
        return None
    return builder.apply(op.row, [filled], op.python_attributes())


def cast_of_cast(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """A conversion behind one that loses nothing starts from the first type."""
    inner = defining(op.operands[0], "cast")
    if inner is None:
        return None
    source, between = type_of(inner.operands[0]).dtype, type_of(op.operands[0]).dtype
    target = type_of(op.results[0]).dtype
    if not keeps_all_values(source, between):
        return None
    if source == target:
        return inner.operands[0]
    # Floats saturate in integers and integers wrap, so the family must stay; a pair without an
    # instruction of its own would only be opened again.
    same_family = source.is_float == between.is_float and source.kind != "b"
    if not same_family or not converts_directly(source, target):
        return None
    return builder.apply(op.row, inner.operands, op.python_attributes())


def reduce_nothing(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """Over axes of extent 1 every element is its own maximum; a sum of -0.0 alone may be 0.0."""
    source = type_of(op.operands[0])
    if prod(source.shape[axis] for axis in op.attribute("dims")) != 1:
        return None
    if op.attribute("kind") == "sum" and source.dtype.is_float:
        return None
    return builder.apply(ROWS["reshape"], op.operands, {"shape": type_of(op.results[0]).shape})


def keep_reduced_axes(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """A reshape that brings the reduced axes back as 1 is a reduction that keeps them."""
    inner = defining(op.operands[0], "reduce")
    if inner is None or inner.attribute("keepdim"):
        return None
    dims = inner.attribute("dims")
    shape = type_of(inner.operands[0]).shape
    kept = tuple(1 if axis in dims else extent for axis, extent in enumerate(shape))
    if type_of(op.results[0]).shape != kept:
        return None
    attributes = {**inner.python_attributes(), "keepdim": True}
    return builder.apply(inner.row, inner.operands, attributes)


def broadcast_implicitly(op: TensorOperation, builder: Builder) -> SSAValue | None:
    """An elementwise operation broadcasts by itself."""
    arguments = list(op.arguments())
    tensors = [place for place, value in enumerate(arguments) if isinstance(value, SSAValue)]
    for place in tensors:
        inner = defining(arguments[place], "broadcast")
        if inner is None:
            continue
        source = inner.operands[0]
        rest = [type_of(arguments[other]).shape for other in tensors if other != place]
        if broadcast_shapes(type_of(source).shape, *rest) == type_of(op.results[0]).shape:
            arguments[place] = source
            return builder.apply(op.row, arguments, op.python_attributes())
    return None


MOVEMENT: dict[str, tuple[Pattern, ...]] = {
    **{name: (broadcast_implicitly,) for name, row in ROWS.items() if row.elementwise},
    "reshape": (same_type, move_full, reshape_of_reshape, keep_reduced_axes),
    "permute": (move_full, permute_of_permute, permute_in_place, permute_as_reshape),
    "broadcast": (same_type, move_full, broadcast_of_broadcast),
    "slice": (same_type, move_full, slice_of_slice),
    "concat": (concat_of_one,),
    "cast": (same_type, cast_of_cast),
    "reduce": (reduce_nothing,),
}
