"""Movement: the same elements in another shape or order."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pypto.errors import CompileError
from pypto.ops.core import composite, primitive
from pypto.ops.creation import check_shape
from pypto.ops.elementwise import ALL
from pypto.ops.kinds import Axes, Axis, Ints, NewAxis, Order, integer, listed
from pypto.ops.types import TensorType, shape_text
from pypto.ops.value import Tensor

moves = functools.partial(primitive, dtypes=ALL, error="moves")


def _reshape_adjust(x: TensorType, shape: tuple[int, ...]) -> dict[str, Any]:
    if shape.count(-1) != 1 or not x.is_static:
        return {}
    known = math.prod(extent for extent in shape if extent != -1)
    if known <= 0 or math.prod(x.shape) % known:
        return {}
    return {"shape": tuple(math.prod(x.shape) // known if e == -1 else e for e in shape)}


def _reshape_type(x: TensorType, shape: tuple[int, ...]) -> TensorType:
    if any(extent < 0 for extent in shape) or math.prod(shape) != math.prod(x.shape):
        raise CompileError(
            "SHAPE_MISMATCH",
            f"{shape_text(x.shape)} has {math.prod(x.shape)} elements, "
            f"shape = {list(shape)} does not",
            fix="keep the number of elements; one extent may be -1",
        )
    return TensorType(shape, x.dtype)


@moves(
    types=_reshape_type,
    reference=lambda x, shape: x.reshape(shape),
    adjust=_reshape_adjust,
    gradient=lambda g, r, x, shape: (g.reshape(x.shape),),
    aliases=("view",),
)
def reshape(x: Tensor, shape: Ints) -> Tensor:
    """The elements of x in row-major order in another shape; one extent may be -1."""
    ...


def _permute_type(x: TensorType, dims: tuple[int, ...]) -> TensorType:
    if len(dims) != x.rank:
        raise CompileError("BAD_ARGUMENT", f"dims = {list(dims)} must name all {x.rank} axes")
    return TensorType(tuple(x.shape[axis] for axis in dims), x.dtype)


@moves(
    types=_permute_type,
    reference=lambda x, dims: np.transpose(x, dims),
    gradient=lambda g, r, x, dims: (g.permute(tuple(map(int, np.argsort(dims)))),),
)
def permute(x: Tensor, dims: Order) -> Tensor:
    """Axis i of the result is axis ``dims[i]`` of x."""
    ...


def _broadcast_adjust(x: TensorType, shape: tuple[int, ...]) -> dict[str, Any]:
    aligned = (-1,) * (len(shape) - x.rank) + x.shape
    pairs = zip(shape, aligned[: len(shape)], strict=True)
    return {"shape": tuple(old if new == -1 else new for new, old in pairs)}


def _broadcast_type(x: TensorType, shape: tuple[int, ...]) -> TensorType:
    tail = shape[len(shape) - x.rank :] if len(shape) >= x.rank else ()
    fits = len(tail) == x.rank and all(a in (1, b) for a, b in zip(x.shape, tail, strict=True))
    if not fits:
        raise CompileError(
            "SHAPE_MISMATCH",
            f"{shape_text(x.shape)} does not broadcast to {shape_text(shape)}",
            fix="every extent must be equal or 1, aligned at the last axis",
        )
    return TensorType(check_shape(shape), x.dtype)


def _broadcast_gradient(g: Tensor, r: Tensor, x: Tensor, shape: tuple[int, ...]) -> tuple[Tensor]:
    new = len(shape) - x.rank
    stretched = [new + i for i, e in enumerate(x.shape) if e == 1 and shape[new + i] != 1]
    return (g.sum((*range(new), *stretched)).reshape(x.shape),)


@moves(
    types=_broadcast_type,
    reference=lambda x, shape: np.broadcast_to(x, shape),
    adjust=_broadcast_adjust,
    gradient=_broadcast_gradient,
    aliases=("broadcast_to", "expand"),
)
def broadcast(x: Tensor, shape: Ints) -> Tensor:
    """x repeated along axes of extent 1 and new leading axes; -1 keeps an extent."""
    ...


def _slice_adjust(
    x: TensorType, start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...] | None
) -> dict[str, Any]:
    step = step if step is not None else (1,) * len(start)
    if not len(start) == len(stop) == len(step) == x.rank:
        raise CompileError("BAD_ARGUMENT", f"start, stop and step must name all {x.rank} axes")
    if any(item <= 0 for item in step):
        raise CompileError(
            "UNSUPPORTED", f"step = {list(step)}: steps must be positive", fix="use a step above 0"
        )
    if not x.is_static:
        return {"step": step}
    parts = zip(start, stop, step, x.shape, strict=True)
    limits = [slice(a, b, c).indices(extent) for a, b, c, extent in parts]
    return {
        "start": tuple(a for a, _, _ in limits),
        "stop": tuple(max(a, b) for a, b, _ in limits),
        "step": step,
    }


def _slice_type(
    x: TensorType, start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...]
) -> TensorType:
    parts = zip(start, stop, step, strict=True)
    return TensorType(tuple(len(range(a, b, c)) for a, b, c in parts), x.dtype)


def _slice_numpy(
    x: np.ndarray, start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...]
) -> np.ndarray:
    return x[tuple(slice(a, b, c) for a, b, c in zip(start, stop, step, strict=True))]


@moves(
    types=_slice_type,
    reference=_slice_numpy,
    adjust=_slice_adjust,
    gradient="its adjoint, a pad with interior, is not a row yet",
)
def slice_(x: Tensor, start: Ints, stop: Ints, step: Ints | None = None) -> Tensor:
    """x[start:stop:step] on every axis, with Python's rules for the limits; steps are positive."""
    ...


def _concat_type(xs: tuple[TensorType, ...], dim: int) -> TensorType:
    first = xs[0]
    for other in xs[1:]:
        a, b = list(first.shape), list(other.shape)
        if len(a) != len(b) or a[:dim] + a[dim + 1 :] != b[:dim] + b[dim + 1 :]:
            raise CompileError(
                "SHAPE_MISMATCH",
                f"{shape_text(first.shape)} and {shape_text(other.shape)} "
                f"differ outside axis {dim}",
                fix="make all other extents equal",
            )
    extent = sum(x.shape[dim] for x in xs)
    return TensorType((*first.shape[:dim], extent, *first.shape[dim + 1 :]), first.dtype)


@moves(
    types=_concat_type,
    reference=lambda xs, dim: np.concatenate(xs, axis=dim),
    promotes=("xs",),
    gradient="its adjoint is one slice per operand: written with autodiff, which knows lists",
    aliases=("cat", "concatenate"),
)
def concat(xs: list[Tensor], dim: Axis = 0) -> Tensor:
    """The tensors one behind the other along ``dim``; all other extents must be equal."""
    ...


@composite(
    reference=lambda x, dim0, dim1: np.swapaxes(x, dim0, dim1),
    dtypes=ALL,
    aliases=("swapaxes",),
)
def transpose(x: Tensor, dim0: Axis = -2, dim1: Axis = -1) -> Tensor:
    """x with two axes exchanged, the last two unless given."""
    order = list(range(x.rank))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return permute(x, order)


@composite(reference=np.transpose, dtypes=ALL)
def t(x: Tensor) -> Tensor:
    """A matrix transposed; rank 0 and 1 as they are."""
    if x.rank > 2:
        raise CompileError(
            "SHAPE_MISMATCH", f"rank {x.rank} is above 2", fix="use transpose(dim0, dim1)"
        )
    return permute(x, (1, 0)) if x.rank == 2 else x


def _squeeze_numpy(x: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    return np.squeeze(x, axis=tuple(axis for axis in dims if x.shape[axis] == 1))


@composite(reference=_squeeze_numpy, dtypes=ALL)
def squeeze(x: Tensor, dims: Axes = None) -> Tensor:
    """x without the axes ``dims`` (all when None) of extent 1; other axes stay."""
    gone = [axis for axis in listed(dims) if x.shape[axis] == 1]
    return reshape(x, [extent for axis, extent in enumerate(x.shape) if axis not in gone])


@composite(reference=lambda x, dim: np.expand_dims(x, dim), dtypes=ALL, aliases=("expand_dims",))
def unsqueeze(x: Tensor, dim: NewAxis) -> Tensor:
    """x with a new axis of extent 1 at ``dim``."""
    return reshape(x, (*x.shape[:dim], 1, *x.shape[dim:]))


def _flatten_shape(shape: tuple[int, ...], start_dim: int, end_dim: int) -> tuple[int, ...]:
    return (*shape[:start_dim], math.prod(shape[start_dim : end_dim + 1]), *shape[end_dim + 1 :])


@composite(
    reference=lambda x, start_dim, end_dim: x.reshape(_flatten_shape(x.shape, start_dim, end_dim)),
    dtypes=ALL,
)
def flatten(x: Tensor, start_dim: Axis = 0, end_dim: Axis = -1) -> Tensor:
    """x with the axes ``start_dim`` to ``end_dim`` joined into one."""
    if start_dim > end_dim:
        raise CompileError("BAD_ARGUMENT", f"start_dim = {start_dim} is behind end_dim = {end_dim}")
    return reshape(x, _flatten_shape(x.shape, start_dim, end_dim))


@composite(reference=lambda xs, dim: np.stack(xs, axis=dim), dtypes=ALL)
def stack(xs: list[Tensor], dim: NewAxis = 0) -> Tensor:
    """Tensors of one shape along a new axis ``dim``."""
    return concat([unsqueeze(x, dim) for x in xs], dim)


def _split_sizes(extent: int, sections: int | tuple[int, ...]) -> tuple[int, ...]:
    if isinstance(sections, int):
        if sections <= 0 or extent % sections:
            raise CompileError(
                "SHAPE_MISMATCH",
                f"an extent of {extent} has no {sections} equal parts",
                fix="give the list of extents",
            )
        return (extent // sections,) * sections
    if sum(sections) != extent or any(size < 0 for size in sections):
        raise CompileError(
            "SHAPE_MISMATCH",
            f"the extents {list(sections)} do not add up to {extent}",
            fix="give the number of equal parts, or extents that add up",
        )
    return sections


def _split_numpy(
    x: np.ndarray, sections: int | tuple[int, ...], dim: int
) -> tuple[np.ndarray, ...]:
    ends = np.cumsum(_split_sizes(x.shape[dim], sections))
    return tuple(np.split(x, ends[:-1], axis=dim))


@composite(reference=_split_numpy, dtypes=ALL)
def split(x: Tensor, sections: int | Sequence[int], dim: Axis = 0) -> tuple[Tensor, ...]:
    """x cut along ``dim``: into ``sections`` equal parts, or into parts of the extents listed."""
    parts, start = [], 0
    for size in _split_sizes(x.shape[dim], sections):  # pyright: ignore[reportArgumentType]
        low, high = [0] * x.rank, list(x.shape)
        low[dim], high[dim] = start, start + size
        parts.append(slice_(x, low, high))
        start += size
    return tuple(parts)


def get_item(x: Tensor, key: Any) -> Tensor:
    """``x[key]`` with integers, slices, ``None`` and ``...``, by NumPy's rules."""
    keys = key if isinstance(key, tuple) else (key,)
    named = sum(item is not None and item is not Ellipsis for item in keys)
    if named > x.rank:
        raise CompileError("BAD_ARGUMENT", f"{named} indices for a tensor of rank {x.rank}")
    if not any(item is Ellipsis for item in keys):
        keys = (*keys, Ellipsis)
    start, stop, step, shape = [], [], [], []
    for item in keys:
        axis = len(start)
        if item is None:
            shape.append(1)
        elif item is Ellipsis:
            rest = x.rank - named
            start += [0] * rest
            stop += list(x.shape[axis : axis + rest])
            step += [1] * rest
            shape += list(x.shape[axis : axis + rest])
        elif isinstance(item, slice):
            first, last, stride = _slice_limits(item, x.shape[axis])
            start.append(first)
            stop.append(last)
            step.append(stride)
            shape.append(len(range(first, last, stride)))
        else:
            place = _index(item, x.shape[axis], axis)
            start.append(place)
            stop.append(place + 1)
            step.append(1)
    whole = (start, stop, step) == ([0] * x.rank, list(x.shape), [1] * x.rank)
    part = x if whole else slice_(x, start, stop, step)
    return part if tuple(shape) == part.shape else reshape(part, shape)


def _slice_limits(item: slice, extent: int) -> tuple[int, int, int]:
    parts = [
        part if part is None else integer("a limit of a slice", part)
        for part in (item.start, item.stop, item.step)
    ]
    if parts[2] is not None and parts[2] <= 0:
        raise CompileError("UNSUPPORTED", f"a slice with step {parts[2]}", fix="use a step above 0")
    first, last, stride = slice(*parts).indices(extent)
    return first, max(first, last), stride


def _index(item: Any, extent: int, axis: int) -> int:
    if isinstance(item, (list, bool)) or hasattr(item, "__array__") or isinstance(item, Tensor):
        raise CompileError(
            "UNSUPPORTED",
            "indexing with arrays or tensors is not supported",
            fix="use integers, slices, None and ...",
        )
    place = integer("an index", item)
    if not -extent <= place < extent:
        raise CompileError(
            "BAD_ARGUMENT",
            f"index {place} is out of range for axis {axis} of extent {extent}",
            fix=f"count from 0 to {extent - 1}, or from -1 to {-extent} from the end"
            if extent
            else "the axis is empty",
        )
    return place % extent
