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
from pypto.frontend.functions import call_form
from pypto.frontend.values import plain_array
from pypto.ops.types import DYNAMIC, TensorType
from pypto.runtime.annotations import (
    Declared,
    Dimensions,
    NamedType,
    annotations_of,
    declared_type,
    describe,
    fits,
    resolved,
)
from pypto.target.dtypes import DTYPES, DType, dtype_of

STATIC_TYPES = (bool, int, float, str, type(None), DType, np.dtype)


def is_static(value: Any) -> bool:
    """Whether a value is known while compiling.

    That is a number, a text, an element type, NumPy's included, or a tuple or list of such.
    """
    if isinstance(value, tuple | list):
        return all(map(is_static, value))
    if isinstance(value, type):
        return issubclass(value, np.generic)
    return isinstance(value, STATIC_TYPES)


def least_bytes(type: TensorType) -> int:
    """Bytes in global memory, dynamic extents counted as one."""
    return prod(1 if extent == DYNAMIC else extent for extent in type.shape) * type.dtype.bytes


def array_of(value: Any, name: str) -> np.ndarray:
    """The array given for parameter ``name``."""
    if isinstance(value, tuple | list) and any(hasattr(item, "__array__") for item in value):
        raise CompileError(
            "UNSUPPORTED_ARGUMENT",
            f"argument {name!r} is a {type(value).__name__} of arrays",
            fix="give every array a parameter of its own, or pass np.stack of them",
        )
    array = plain_array(value, f"argument {name!r}")
    if array.dtype.kind == "O" and not hasattr(value, "__array__"):
        raise CompileError(
            "UNSUPPORTED_ARGUMENT",
            f"argument {name!r} is a {type(value).__name__}, not an array or a number",
            fix="make the kernel inside a function that takes the object, and capture it",
        )
    return array


def type_of(array: np.ndarray, name: str) -> TensorType:
    """The type of an array; ``name`` is the parameter it is passed for."""
    dtype = dtype_of(array.dtype)
    if dtype is not None:
        return TensorType(tuple(array.shape), dtype)
    kind, fix = array.dtype.name, "convert it to one of these with .astype"
    if array.dtype.kind in "US":
        kind, fix = "an array of texts", "pass numbers in place of the texts"
    elif array.dtype.kind == "O":
        kind, fix = "an array of objects", f"pass {name}.astype(np.float32)"
    elif array.dtype.kind == "c":
        fix = "pass real and imaginary parts as float32 arrays"
    elif not array.dtype.isnative:
        kind = f"{array.dtype.name} in the byte order of another machine ({array.dtype.str})"
        fix = f"pass {name}.astype(np.{array.dtype.name})"
    elif kind == "float64":
        fix = f"pass {name}.astype(np.float32)"
    raise CompileError(
        "UNSUPPORTED_DTYPE",
        f"argument {name!r} is {kind}, which the device does not have",
        notes=(f"element types: {', '.join(d.public_name for d in DTYPES.values())}",),
        fix=fix,
    )


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel with the type its annotation gives, if it gives one.

    One that is ``optional`` also takes None.
    """

    name: str
    type: Declared | None
    default: Any = inspect.Parameter.empty
    optional: bool = False

    def takes(self, value: Any) -> bool:
        """Whether a value is taken as it is, known while compiling."""
        return (self.type is None and is_static(value)) or (value is None and self.optional)


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of a kernel function, in order."""
    with blaming(function):
        annotations = annotations_of(function)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        annotation = annotations.get(name)
        declared = declared_type(annotation)
        optional = parameter.default is None or declared is not annotation
        one = Parameter(name, declared, parameter.default, optional)
        if parameter.kind in stars:
            raise CompileError(
                "UNSUPPORTED_PARAMETER",
                f"{function.__name__}: a kernel cannot take {stars[parameter.kind]}{name}",
                location=place_of(function, one),
                fix="name every parameter; helpers that a kernel calls may take any number",
            )
        found.append(one)
    return tuple(found)


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
    parameters = parameters_of(function)
    form = inspect.signature(function)
    try:
        bound = form.bind(*args, **kwargs)
    except TypeError as error:
        raise CompileError(
            "BAD_ARGUMENTS",
            f"{function.__name__}: {error}",
            location=place_of(function),
            fix=f"call it as {call_form(function.__name__, form)}",
        ) from error
    bound.apply_defaults()
    types: list[Any] = []
    arrays: list[np.ndarray] = []
    dimensions = Dimensions()
    for parameter in parameters:
        value = bound.arguments[parameter.name]
        if parameter.takes(value):
            types.append(value)
            continue
        with blaming(function, parameter):
            array = array_of(value, parameter.name)
            types.append(type_for(parameter, type_of(array, parameter.name), dimensions))
        arrays.append(array)
    return Call(tuple(types), tuple(arrays))


def type_for(parameter: Parameter, given: TensorType, dimensions: Dimensions) -> TensorType:
    """The type to compile for when a value of type ``given`` is passed for ``parameter``.

    Raises:
        CompileError: the value is not of the declared type, or a named extent differs.
    """
    declared = parameter.type
    if declared is None:
        return given
    same_shape = fits(declared, given)
    if not same_shape or declared.dtype != given.dtype:
        raise CompileError(
            "WRONG_DTYPE" if same_shape else "SHAPE_MISMATCH",
            f"argument {parameter.name!r} is {describe(given)}, declared as {describe(declared)}",
            fix=f"pass {parameter.name}.astype({declared.dtype.public_name!r})"
            if same_shape
            else "pass a tensor of the declared shape, or declare the extent pypto.DYNAMIC",
        )
    dimensions.meet(declared, given, repr(parameter.name))
    return resolved(declared, given)


def dimensions_of(function: Callable[..., Any], types: Sequence[Any]) -> Dimensions:
    """What the names in a function's annotations stand for when it is called with ``types``."""
    dimensions = Dimensions()
    for parameter, given in zip(parameters_of(function), types, strict=True):
        if parameter.type is not None and isinstance(given, TensorType):
            dimensions.meet(parameter.type, given, repr(parameter.name))
    return dimensions


@contextmanager
def blaming(function: Callable[..., Any], parameter: Parameter | None = None) -> Iterator[None]:
    """Errors inside point at the ``def`` line, or at the parameter there."""
    try:
        yield
    except CompileError as error:
        error.location = place_of(function, parameter)
        raise


def place_of(
    function: Callable[..., Any], parameter: Parameter | None = None
) -> SourceLocation | None:
    """Where a function or a parameter is defined; None when the text is not to be had."""
    from pypto.frontend.source import function_source

    try:
        source = function_source(function)
        return source.definition() if parameter is None else source.parameter(parameter.name)
    except CompileError:
        return None


def declared_types(function: Callable[..., Any]) -> tuple[Any, ...] | None:
    """The argument types when the annotations and defaults give all of them, else None."""
    types: list[Any] = []
    for parameter in parameters_of(function):
        if isinstance(parameter.type, TensorType):
            types.append(parameter.type)
        elif parameter.type is not None or parameter.default is inspect.Parameter.empty:
            return None
        else:
            types.append(default_type(parameter))
    return tuple(types)


def default_type(parameter: Parameter) -> Any:
    """The type of a parameter's default, or the default itself when it is static."""
    if parameter.takes(parameter.default):
        return parameter.default
    return type_of(array_of(parameter.default, parameter.name), parameter.name)


def bind_types(function: Callable[..., Any], given: Sequence[Any]) -> tuple[Any, ...]:
    """Types, arrays or static values, one per parameter, as the types to compile for."""
    parameters = parameters_of(function)
    if len(given) > len(parameters):
        raise CompileError(
            "BAD_ARGUMENTS",
            f"{function.__name__} takes {len(parameters)} arguments, {len(given)} are given",
            location=place_of(function),
            fix=f"call it as {call_form(function.__name__, inspect.signature(function))}",
        )
    values = [*given, *(p.default for p in parameters[len(given) :])]
    dimensions = Dimensions()
    types = []
    for parameter, value in zip(parameters, values, strict=True):
        with blaming(function, parameter):
            types.append(_type_for(function, parameter, value, dimensions))
    return tuple(types)


def _type_for(
    function: Callable[..., Any], parameter: Parameter, value: Any, dimensions: Dimensions
) -> Any:
    if value is inspect.Parameter.empty and isinstance(parameter.type, TensorType):
        return parameter.type
    if value is inspect.Parameter.empty or isinstance(value, NamedType):
        raise CompileError(
            "BAD_ARGUMENTS",
            f"{function.__name__}: no type for parameter {parameter.name!r}",
            fix="pass an array or pypto.Tensor[(128, 768), pypto.float16] for it",
        )
    if parameter.takes(value):
        return value
    if not isinstance(value, TensorType):
        value = type_of(array_of(value, parameter.name), parameter.name)
    return type_for(parameter, value, dimensions)


def key(types: Sequence[Any]) -> tuple[Any, ...]:
    """A key in which 1, 1.0 and True differ."""
    return tuple((type(value).__name__, repr(value)) for value in types)
