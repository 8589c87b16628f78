"""What a kernel gives back: the Python value its text returns, filled with arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, get_args, get_origin

from pypto.errors import CompileError
from pypto.frontend.structure import is_record, is_structure, map_leaves, parts
from pypto.frontend.values import is_tensor
from pypto.ops.types import TensorType
from pypto.runtime.annotations import (
    Dimensions,
    annotations_of,
    declared_type,
    describe,
    field_annotations,
    fits,
)


def filled(form: Any, results: Iterable[Any]) -> Any:
    """The form of a result with a value in place of every tensor."""
    values: Iterator[Any] = iter(results)
    return map_leaves(form, lambda leaf: next(values) if is_tensor(leaf) else leaf)


def form_key(form: Any) -> str:
    """A text that differs for forms that place results differently."""
    if is_tensor(form):
        return str(form.type)
    if not is_structure(form):
        return f"{type(form).__name__} {form!r}"
    inner = ", ".join(f"{name}: {form_key(part)}" for name, part in parts(form))
    return f"{type(form).__module__}.{type(form).__qualname__}({inner})"


def check_result(
    function: Callable[..., Any], form: Any, dimensions: Dimensions, shapes: Sequence[Any] = ()
) -> None:
    """Raise unless a result is of the type its annotation declares.

    ``shapes`` are those of the arrays, once they are known; extents known at launch only agree
    with anything before.
    """
    annotation = annotations_of(function).get("return")
    _check(function, annotation, form, "the result", dimensions, iter(shapes))


def _check(
    function: Callable[..., Any],
    annotation: Any,
    form: Any,
    what: str,
    dimensions: Dimensions,
    shapes: Iterator[Any],
) -> None:
    declared = declared_type(annotation)
    if is_tensor(form):
        shape = next(shapes, form.type.shape)
        if declared is not None:
            given = TensorType(tuple(shape), form.type.dtype)
            if not fits(declared, given, early=True) or declared.dtype != given.dtype:
                raise CompileError(
                    "RESULT_MISMATCH",
                    f"{what} of {function.__name__} is {describe(given)}, declared as "
                    f"{describe(declared)}",
                    fix="declare what the kernel returns, or convert it before 'return'",
                )
            dimensions.meet(declared, given, what)
        return
    if declared is not None:
        raise CompileError(
            "RESULT_MISMATCH",
            f"{what} of {function.__name__} is a {type(form).__name__}, declared as "
            f"{describe(declared)}",
            fix="annotate a tuple as tuple[Tensor[…], Tensor[…]]",
        )
    if is_structure(form):
        for (name, part), inner in zip(parts(form), _inner(annotation, form), strict=True):
            _check(function, inner, part, f"{what}{name}", dimensions, shapes)


def _inner(annotation: Any, form: Any) -> list[Any]:
    """The annotations of the parts of a structure; None where there is none."""
    if is_record(form):
        fields = field_annotations(type(form))
        return [fields.get(name.removeprefix(".")) for name, _ in parts(form)]
    count = len(parts(form))
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if origin is tuple and len(arguments) == count and ... not in arguments:
        return list(arguments)
    if origin in (tuple, list, dict) and arguments:
        return [arguments[0] if origin is tuple else arguments[-1]] * count
    return [None] * count
