"""The form of the catalogue: an Operator is one row; two decorators make rows from functions.

A *composite* is its Python body: signature, documentation and decomposition in one. A *primitive*
has a type rule, a NumPy reference and an error bound; it stays whole until tiling, or until its
*recipe*, a late body in the same protocol, is opened.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, ParamSpec, TypeVar, overload

import numpy as np

from pypto.errors import CompileError
from pypto.ops import kinds
from pypto.ops.binding import REQUIRED, Parameter, bind_arguments, parameters_of
from pypto.ops.kinds import Axes, Kind
from pypto.ops.operands import abstract_operands, map_tensors, tensors_of
from pypto.ops.types import TensorType, is_half, promote
from pypto.ops.value import Evaluator, Tensor, current_evaluator, set_default_evaluator, using
from pypto.ops.weak import default_dtype, weak_scalar
from pypto.target.dtypes import F32, DType

__all__ = [
    "ROWS",
    "TYPES",
    "Operator",
    "Parameter",
    "composite",
    "primitive",
    "set_default_evaluator",
    "tensors_of",
]

P = ParamSpec("P")
R = TypeVar("R")

ROWS: dict[str, Operator] = {}  # by name in the IR

# A number: units in the last place of the result, operands propagate elementwise.
# "moves": elements are copied. "recipe": as its recipe. A function: see ops/bounds.py.
ErrorBound = float | Literal["moves", "recipe"] | Callable[..., Any]


@dataclass(eq=False)
class Operator(Generic[P, R]):
    """One row of the catalogue; calling it applies it on the evaluator of its operands.

    ``promotes`` names the operands that are brought to one element type. ``adjust(*operand types,
    **attributes)`` completes the normal form of attributes. Rows whose ``numerics`` is f32 compute
    halves in f32 and round once. ``elementwise`` rows also take Python numbers alone; ``dynamic``
    rows take extents known at launch only.
    """

    name: str
    body: Callable[..., Any]
    dtypes: tuple[DType, ...]
    reference: Callable[..., Any]
    aliases: tuple[str, ...] = ()
    types: Callable[..., Any] | None = None
    error: ErrorBound = "recipe"
    gradient: Callable[..., Any] | str = "derived from the body"
    recipe: Callable[..., Any] | None = None
    elementwise: bool = False
    dynamic: bool = False
    promotes: tuple[str, ...] = ()
    numerics: Literal["f32"] | None = None
    saturates: bool = False  # halves clip at their largest number, NaN gives 0 (FIXPIPE)
    adjust: Callable[..., Mapping[str, Any]] | None = None
    parameters: tuple[Parameter, ...] = field(init=False)
    is_single: bool = field(init=False)
    _known_types: dict[Any, tuple[TensorType, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        signature = inspect.signature(self.body)
        self.parameters = parameters_of(self.name, signature)
        self.is_single = signature.return_annotation == "Tensor"
        self.__doc__ = self.body.__doc__
        self.__name__ = self.name
        self.__wrapped__ = self.body
        if not self.body.__doc__:
            raise TypeError(f"{self.name}: a row needs a docstring")

    @property
    def is_primitive(self) -> bool:
        return self.types is not None

    @property
    def decomposition(self) -> Callable[..., Any] | None:
        """What ``expand`` opens: the body of a composite, the recipe of a primitive, if any."""
        return self.recipe if self.is_primitive else self.body

    @functools.cached_property
    def operands(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.kind.is_operand)

    @functools.cached_property
    def attributes(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if not p.kind.is_operand)

    @property
    def is_method(self) -> bool:
        """Whether ``x.name(…)`` means this operator."""
        return bool(self.operands) and self.operands[0].kind is not Kind.TENSORS

    @functools.cached_property
    def signature(self) -> str:
        """The call as documentation writes it."""
        texts = []
        for p in self.parameters:
            default = "" if p.default is REQUIRED else f" = {p.default!r}"
            texts.append(f"{p.name}: {p.kind}{default}")
        return f"{self.name}({', '.join(texts)})"

    def __repr__(self) -> str:
        return f"<pypto operator {self.signature}>"

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    @overload
    def __call__(self, *args: Any, dim: Axes, **kwargs: Any) -> R: ...

    @overload
    def __call__(self, *args: Any, axis: Axes, **kwargs: Any) -> R: ...

    def __call__(self, *args: Any, **kwargs: Any) -> R:
        operands, attributes = self.bind(args, kwargs)
        if self._is_static(operands):
            return self.fold(operands, attributes)
        with self.blame():
            evaluator = current_evaluator(operands)
        return evaluator.apply(self, operands, attributes)

    def bind(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Operands in parameter order (None where absent) and the attributes given by the user."""
        with self.blame():
            bound = bind_arguments(self.parameters, args, kwargs)
        operands = tuple(bound.get(p.name, p.default) for p in self.operands)
        return operands, {p.name: bound[p.name] for p in self.attributes if p.name in bound}

    def dispatch(
        self, evaluator: Evaluator, operands: tuple[Any, ...], attributes: Mapping[str, Any]
    ) -> Any:
        """Apply on an evaluator: normalise, promote, check, evaluate."""
        if self._is_static(operands):
            return self.fold(operands, attributes)
        with self.blame(operands):
            operands = self._promoted(evaluator, operands)
            abstract = abstract_operands(operands)
            normal = self.normalise(abstract, attributes)
            result_types = self.infer(abstract, normal)
        results = evaluator.evaluate(self, operands, normal, result_types)
        return results[0] if self.is_single else results

    def normalise(self, operands: Sequence[Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Every attribute in its one spelling, given the operands' types."""
        first = operands[0] if operands else None
        if isinstance(first, tuple) and not first:
            raise self._refuse(f"needs at least one tensor in {self.operands[0].name!r}")
        first = first[0] if isinstance(first, tuple) else first
        first = first if isinstance(first, TensorType) else None
        unknown = attributes.keys() - {p.name for p in self.attributes}
        if unknown:
            raise self._refuse(f"has no attribute {', '.join(sorted(unknown))}")
        normal = {}
        for p in self.attributes:
            value = attributes.get(p.name, p.default)
            if value is REQUIRED:
                raise self._refuse(f"needs the argument {p.name!r}")
            normal[p.name] = kinds.normalise(p.kind, p.name, value, first)
        if self.adjust is not None:
            normal |= self.adjust(*operands, **normal)
        return normal

    def infer(
        self, operands: tuple[Any, ...], attributes: Mapping[str, Any]
    ) -> tuple[TensorType, ...]:
        """The result types of operand types (numbers for weak scalars) and normal attributes."""
        key = (_typed(operands), tuple((k, _typed(v)) for k, v in attributes.items()))
        found = self._known_types.get(key)
        if found is None:
            self._check(operands)
            found = self._infer(operands, attributes)
            if len(self._known_types) > 4096:
                self._known_types.clear()
            self._known_types[key] = found
        return found

    def _infer(
        self, operands: tuple[Any, ...], attributes: Mapping[str, Any]
    ) -> tuple[TensorType, ...]:
        if self.types is not None:
            types = self.types(*operands, **attributes)
            return (types,) if isinstance(types, TensorType) else tuple(types)
        values = TYPES.values(operands)
        results = self._run(TYPES, values, attributes)
        narrow = self._narrow_dtype(operands)
        return tuple(
            r.type.with_dtype(narrow) if narrow and r.dtype == F32 else r.type for r in results
        )

    def open(
        self,
        evaluator: Evaluator,
        operands: tuple[Any, ...],
        attributes: Mapping[str, Any],
        result_types: tuple[TensorType, ...],
    ) -> tuple[Tensor, ...]:
        """Run the decomposition; rows of ``numerics`` f32 widen halves before and narrow after."""
        results = self._run(evaluator, operands, attributes)
        with using(evaluator):
            return tuple(
                r if r.dtype == t.dtype else ROWS["cast"](r, t.dtype)
                for r, t in zip(results, result_types, strict=True)
            )

    def _run(
        self, evaluator: Evaluator, operands: tuple[Any, ...], attributes: Mapping[str, Any]
    ) -> tuple[Tensor, ...]:
        decomposition = self.decomposition
        if decomposition is None:
            raise TypeError(f"{self.name} is a primitive without a recipe")
        with using(evaluator):
            if self.numerics == "f32":
                operands = map_tensors(operands, _widened)
            results = decomposition(*operands, **attributes)
        return (results,) if isinstance(results, Tensor) else tuple(results)

    def _narrow_dtype(self, operands: tuple[Any, ...]) -> DType | None:
        if self.numerics is None:
            return None
        floats = [t.dtype for t in tensors_of(operands) if t.dtype.is_float]
        dtype = promote(floats) if floats else F32
        return dtype if is_half(dtype) else None

    def fold(self, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
        """The result of Python numbers only, a Python number: ``pypto.sqrt(x.shape[-1])``."""
        if not self.elementwise:
            raise self._refuse(f"needs a tensor, not {kinds.describe(operands[0])}")
        operands = tuple(o.item() if isinstance(o, np.generic) else o for o in operands)
        normal = self.normalise(operands, attributes)
        if not self.is_primitive:
            return self.body(*operands, **normal)
        with np.errstate(all="ignore"):
            return np.asarray(self.reference(*map(np.asarray, operands), **normal)).item()

    def _is_static(self, operands: tuple[Any, ...]) -> bool:
        given = [operand for operand in operands if operand is not None]
        return bool(given) and all(isinstance(o, (bool, int, float, np.generic)) for o in given)

    def _promoted(self, evaluator: Evaluator, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        if not self.promotes:
            return operands
        chosen = [p.name in self.promotes for p in self.operands]
        taking = [operand for operand, yes in zip(operands, chosen, strict=True) if yes]
        dtypes = [tensor.type.dtype for tensor in tensors_of(taking)]
        numbers = [operand for operand in taking if isinstance(operand, (bool, int, float))]
        if not dtypes and not numbers:
            return operands
        target = promote(dtypes) if dtypes else default_dtype(numbers)
        result = []
        for operand, yes in zip(operands, chosen, strict=True):
            if not yes or operand is None:
                result.append(operand)
            elif isinstance(operand, (bool, int, float)):
                result.append(weak_scalar(operand, target))
            else:
                cast = functools.partial(_cast_to, evaluator, target)
                result.append(map_tensors((operand,), cast)[0])
        if not dtypes:
            index = chosen.index(True)
            attributes = {"shape": (), "value": result[index], "dtype": target}
            result[index] = evaluator.apply(ROWS["full"], (), attributes)
        return tuple(result)

    def _check(self, operands: tuple[Any, ...]) -> None:
        pairs = list(zip(self.operands, operands, strict=True))
        for parameter, operand in pairs:
            self._check_operand(parameter, operand)
        if self.promotes:
            self._check_promoted([o for p, o in pairs if p.name in self.promotes])

    def _check_operand(self, p: Parameter, operand: Any) -> None:
        if operand is None and not p.kind.is_optional:
            raise self._refuse(f"needs the argument {p.name!r}")
        if isinstance(operand, (bool, int, float)) and not p.kind.takes_numbers:
            raise self._refuse(f"needs a tensor for {p.name!r}, not {operand!r}")
        if isinstance(operand, tuple) != (p.kind is Kind.TENSORS):
            expected = "a list of tensors" if p.kind is Kind.TENSORS else "one tensor"
            raise self._refuse(f"needs {expected} for {p.name!r}")
        for tensor in tensors_of((operand,)):
            checked = p.name in self.promotes or not self.promotes
            if checked and tensor.dtype not in self.dtypes:
                supported = ", ".join(map(str, self.dtypes))
                raise CompileError(
                    "DTYPE_MISMATCH",
                    f"{p.name} is {tensor.dtype}; supported: {supported}",
                    fix=f"convert it, e.g. .cast(pypto.{self.dtypes[-1].public_name})",
                )
            if self.is_primitive and not self.dynamic and not tensor.is_static:
                raise CompileError(
                    "DYNAMIC_SHAPE",
                    f"{p.name} is {tensor}: dynamic extents are not supported here",
                    fix="give the shape in the annotation, or call with arrays",
                )

    def _check_promoted(self, operands: list[Any]) -> None:
        """Operands that are promoted together have one element type, numbers its form."""
        dtypes = list(dict.fromkeys(tensor.dtype for tensor in tensors_of(operands)))
        if not dtypes:
            raise self._refuse(f"needs a tensor among {', '.join(self.promotes)}")
        if len(dtypes) > 1:
            raise CompileError(
                "DTYPE_MISMATCH", f"operands are {' and '.join(map(str, dtypes))}, not of one type"
            )
        for operand in operands:
            if isinstance(operand, (bool, int, float)):
                stored = weak_scalar(operand, dtypes[0])
                if type(stored) is not type(operand):
                    raise CompileError(
                        "DTYPE_MISMATCH",
                        f"{operand!r} stands for an element of {dtypes[0]}: write {stored!r}",
                    )

    @contextlib.contextmanager
    def blame(self, operands: Sequence[Any] = ()) -> Iterator[None]:
        """Errors inside name this operator and the types of its operands."""
        try:
            yield
        except CompileError as error:
            if not error.message.startswith(f"{self.name}: "):
                error.message = f"{self.name}: {error.message}"
            if error.code == "BAD_ARGUMENT" and error.fix is None:
                error.fix = f"call it as {self.signature}"
            types = ", ".join(str(tensor.type) for tensor in tensors_of(operands))
            if types:
                error.notes = (f"operands of {self.name}: {types}",)
            raise

    def _refuse(self, message: str) -> CompileError:
        fix = f"call it as {self.signature}"
        return CompileError("BAD_ARGUMENT", f"{self.name}: {message}", fix=fix)


class TypesEvaluator(Evaluator):
    """Evaluates to types only."""

    def values(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """Operand types as tensors of this evaluator."""
        return map_tensors(operands, lambda t: Tensor(self, t))

    def evaluate(
        self,
        operator: Operator,
        operands: tuple[Any, ...],
        attributes: dict[str, Any],
        result_types: tuple[TensorType, ...],
    ) -> tuple[Tensor, ...]:
        return tuple(Tensor(self, t) for t in result_types)


TYPES = TypesEvaluator()


def _widened(tensor: Tensor) -> Tensor:
    return ROWS["cast"](tensor, F32) if is_half(tensor.dtype) else tensor


def _cast_to(evaluator: Evaluator, dtype: DType, tensor: Tensor) -> Tensor:
    if tensor.dtype == dtype:
        return tensor
    return evaluator.apply(ROWS["cast"], (tensor,), {"dtype": dtype})


def _typed(value: Any) -> Any:
    """A key in which 1, 1.0 and True differ."""
    if isinstance(value, tuple):
        return tuple(map(_typed, value))
    return (type(value), value)


def _row_name(body: Callable[..., Any]) -> str:
    return body.__name__.rstrip("_")


def _register(row: Operator[P, R]) -> Operator[P, R]:
    if row.name in ROWS:
        raise TypeError(f"the operator {row.name} exists twice")
    ROWS[row.name] = row
    return row


def primitive(
    *,
    types: Callable[..., Any],
    reference: Callable[..., Any],
    dtypes: tuple[DType, ...],
    error: ErrorBound,
    gradient: Callable[..., Any] | str,
    **columns: Any,
) -> Callable[[Callable[P, R]], Operator[P, R]]:
    """Make a primitive row; its body is the docstring only.

    ``types(*operand types, **attributes)`` gives the result types; ``reference(*arrays,
    **attributes)`` the values (halves arrive as f32, results are rounded to their type);
    ``gradient(grad, result, *operands, **attributes)`` one gradient per operand, or why not.
    """

    def make(body: Callable[P, R]) -> Operator[P, R]:
        row = Operator(
            name=_row_name(body),
            body=body,
            dtypes=dtypes,
            reference=reference,
            types=types,
            error=error,
            gradient=gradient,
            **columns,
        )
        return _register(row)

    return make


def composite(
    *, reference: Callable[..., Any], dtypes: tuple[DType, ...], **columns: Any
) -> Callable[[Callable[P, R]], Operator[P, R]]:
    """Make a composite row: the body is signature, documentation and decomposition."""

    def make(body: Callable[P, R]) -> Operator[P, R]:
        row = Operator(
            name=_row_name(body),
            body=body,
            dtypes=dtypes,
            reference=reference,
            **columns,
        )
        return _register(row)

    return make
