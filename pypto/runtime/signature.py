"""Argument types of a kernel: from its annotations, and from the values of a call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from pypto.errors import CompileError, SourceLocation
from pypto.ops.types import DYNAMIC, TensorType
from pypto.target.dtypes import DTYPES, DType, dtype_of

STATIC_TYPES = (bool, int, float, str, tuple, list, type(None), DType)


def describe(type: TensorType) -> str:
    """A tensor type as annotations write it: ``(128, 768) float16``."""
    extents = ["DYNAMIC" if extent == DYNAMIC else str(extent) for extent in type.shape]
    return f"({', '.join(extents)}{',' if len(extents) == 1 else ''}) {type.dtype.public_name}"


def accepts(declared: TensorType, given: TensorType) -> bool:
    """Whether a value of type ``given`` may be passed where ``declared`` is."""
    return (
        declared.dtype == given.dtype
        and declared.rank == given.rank
        and all(e in (DYNAMIC, o) for e, o in zip(declared.shape, given.shape, strict=True))
    )


def least_bytes(type: TensorType) -> int:
    """Bytes in global memory, dynamic extents counted as one."""
    return prod(1 if extent == DYNAMIC else extent for extent in type.shape) * type.dtype.bytes


def type_of(array: np.ndarray, name: str) -> TensorType:
    """The type of an array; ``name`` is the parameter it is passed for."""
    dtype = dtype_of(array.dtype)
    if dtype is not None:
        return TensorType(tuple(array.shape), dtype)
    advice = {
        "float64": "pass {name}.astype(np.float32)",
        "complex128": "pass real and imaginary parts as float32 arrays",
    }.get(array.dtype.name, "convert it to one of these with .astype")
    raise CompileError(
        "UNSUPPORTED_DTYPE",
        f"argument {name!r} is {array.dtype.name}, which the device does not have",
        notes=(f"element types: {', '.join(d.public_name for d in DTYPES.values())}",),
        fix=advice.format(name=name),
    )


def tensor_type(shape: Any, dtype: Any) -> TensorType:
    """The type written ``Tensor[shape, dtype]``."""
    extents = (shape,) if isinstance(shape, int) else shape
    valid = isinstance(extents, tuple | list) and all(
        isinstance(e, int) and (e >= 0 or e == DYNAMIC) for e in extents
    )
    if not valid:
        raise CompileError(
            "BAD_ANNOTATION",
            f"{shape!r} is not a shape",
            fix="write a tuple of integers or pypto.DYNAMIC: Tensor[(128, 768), pypto.float16]",
        )
    element = _element(dtype)
    if element is None:
        raise CompileError(
            "UNSUPPORTED_DTYPE",
            f"{dtype!r} is no element type of the device",
            fix=f"use one of {', '.join(f'pypto.{d.public_name}' for d in DTYPES.values())}",
        )
    return TensorType(tuple(int(e) for e in extents), element)


def _element(dtype: Any) -> DType | None:
    if isinstance(dtype, DType):
        return dtype
    try:
        return dtype_of(dtype)
    except TypeError:  # NumPy knows no such type
        return None


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel with the type its annotation gives, if it gives one."""

    name: str
    type: TensorType | None
    default: Any = inspect.Parameter.empty


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of a kernel function, in order."""
    annotations = _annotations(function)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise CompileError(
                "UNSUPPORTED_PARAMETER",
                f"{function.__name__}: a kernel cannot take *{name}",
                fix="name every parameter",
            )
        annotation = annotations.get(name)
        declared = annotation if isinstance(annotation, TensorType) else None
        found.append(Parameter(name, declared, parameter.default))
    return tuple(found)


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return inspect.get_annotations(function, eval_str=True)
    except (NameError, AttributeError, SyntaxError) as error:
        raise CompileError(
            "BAD_ANNOTATION",
            f"the annotations of {function.__name__} cannot be read: {error}",
            fix="annotate with pypto.Tensor or pypto.Tensor[(128, 768), pypto.float16]",
        ) from error


@dataclass(frozen=True)
class Call:
    """What a kernel is compiled for, and the arrays it is called with.

    ``types`` has one entry per parameter: a TensorType, or a static Python value.
    """

    types: tuple[Any, ...]
    arrays: tuple[np.ndarray, ...]

    @property
    def known_types(self) -> tuple[Any, ...]:
        """The same types with every extent as it is in this call."""
        shapes = iter(array.shape for array in self.arrays)
        return tuple(
            TensorType(next(shapes), one.dtype) if isinstance(one, TensorType) else one
            for one in self.types
        )


def bind(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
    """Match the values of a call with the parameters and their annotations."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise CompileError(
            "BAD_ARGUMENTS",
            f"{function.__name__}: {error}",
            fix=f"call it as {function.__name__}{inspect.signature(function)}",
        ) from error
    bound.apply_defaults()
    types: list[Any] = []
    arrays: list[np.ndarray] = []
    for parameter in parameters_of(function):
        value = bound.arguments[parameter.name]
        if isinstance(value, STATIC_TYPES) and parameter.type is None:
            types.append(value)
            continue
        array = np.asarray(value)
        with blaming(function, parameter):
            given = type_of(array, parameter.name)
            check_declared(parameter, given)
        types.append(parameter.type or given)
        arrays.append(array)
    return Call(tuple(types), tuple(arrays))


@contextmanager
def blaming(function: Callable[..., Any], parameter: Parameter) -> Iterator[None]:
    """Errors inside point at the parameter in the ``def`` line."""
    try:
        yield
    except CompileError as error:
        error.location = place_of(function, parameter)
        raise


def place_of(function: Callable[..., Any], parameter: Parameter) -> SourceLocation | None:
    """Where a parameter is declared; None when the text of the function is not to be had."""
    from pypto.frontend.module import parameter_location
    from pypto.frontend.source import function_source

    try:
        return parameter_location(function_source(function), parameter.name)
    except CompileError:
        return None


def check_declared(parameter: Parameter, given: TensorType) -> None:
    """Raise unless a value of type ``given`` may be passed for ``parameter``."""
    declared = parameter.type
    if declared is None or accepts(declared, given):
        return
    same_shape = accepts(declared.with_dtype(given.dtype), given)
    raise CompileError(
        "WRONG_DTYPE" if same_shape else "SHAPE_MISMATCH",
        f"argument {parameter.name!r} is {describe(given)}, declared as {describe(declared)}",
        fix=f"pass {parameter.name}.astype({declared.dtype.public_name!r})"
        if same_shape
        else "pass a tensor of the declared shape, or declare the extent pypto.DYNAMIC",
    )


def declared_types(function: Callable[..., Any]) -> tuple[Any, ...] | None:
    """The argument types when the annotations and defaults give all of them, else None."""
    types = [
        parameter.type if parameter.type is not None else parameter.default
        for parameter in parameters_of(function)
    ]
    return None if inspect.Parameter.empty in types else tuple(types)


def bind_types(function: Callable[..., Any], given: Sequence[Any]) -> tuple[Any, ...]:
    """Types, arrays or static values, one per parameter, as the types to compile for."""
    parameters = parameters_of(function)
    if len(given) > len(parameters):
        raise CompileError(
            "BAD_ARGUMENTS",
            f"{function.__name__} takes {len(parameters)} arguments, {len(given)} are given",
        )
    values = [*given, *(p.default for p in parameters[len(given) :])]
    return tuple(
        _type_for(function, parameter, value)
        for parameter, value in zip(parameters, values, strict=True)
    )


def _type_for(function: Callable[..., Any], parameter: Parameter, value: Any) -> Any:
    if value is inspect.Parameter.empty:
        if parameter.type is None:
            raise CompileError(
                "BAD_ARGUMENTS", f"{function.__name__}: no type for parameter {parameter.name!r}"
            )
        return parameter.type
    if isinstance(value, STATIC_TYPES):
        return value
    given = value
    if not isinstance(value, TensorType):
        given = type_of(np.asarray(value), parameter.name)
    check_declared(parameter, given)
    return parameter.type or given


def key(types: Sequence[Any]) -> tuple[Any, ...]:
    """A key in which 1, 1.0 and True differ."""
    return tuple((type(value).__name__, repr(value)) for value in types)
