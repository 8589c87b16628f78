"""The value protocol of operator bodies: one class of tensors, one interface of evaluators."""

from __future__ import annotations

import contextlib
import contextvars
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from pypto.errors import CompileError
from pypto.ops.types import DYNAMIC, TensorType
from pypto.target.dtypes import DType

if TYPE_CHECKING:
    from pypto.ops.core import Operator

Scalar: TypeAlias = "Tensor | int | float | bool"
Operand: TypeAlias = "Scalar | np.ndarray"


class UnknownExtent:
    """An extent known at launch only, where a program asks for it: every use is refused."""

    def __repr__(self) -> str:
        return "?"

    def _refuse(self, *_: Any) -> NoReturn:
        raise CompileError(
            "DYNAMIC_SHAPE",
            "an extent that is known at launch only is needed here",
            fix="give the extent in the annotation in place of pypto.DYNAMIC",
        )

    __index__ = __int__ = __float__ = __bool__ = __neg__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __pow__ = __rpow__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse
    __hash__ = object.__hash__


UNKNOWN_EXTENT = UnknownExtent()


class Tensor:
    """A tensor of some evaluator: its type, and Python operators that call the catalogue."""

    __slots__ = ("evaluator", "type")
    __array_ufunc__ = None  # ndarray + tensor is left to the tensor

    def __init__(self, evaluator: Evaluator, type: TensorType) -> None:
        self.evaluator = evaluator
        self.type = type

    def __repr__(self) -> str:
        return str(self.type)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents; one known at launch only refuses to be computed with."""
        shape = self.type.shape
        if self.type.is_static:
            return shape
        return tuple(UNKNOWN_EXTENT if e == DYNAMIC else e for e in shape)  # pyright: ignore[reportReturnType]

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def rank(self) -> int:
        return self.type.rank

    ndim = rank

    @property
    def T(self) -> Tensor:
        return self._call("t")

    def _call(self, operator: str, *arguments: Any, **keywords: Any) -> Any:
        from pypto.ops import OPERATORS

        return OPERATORS[operator](self, *arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        """Operators are methods of their first operand: ``x.sum(dim=-1)``."""
        from pypto.ops import OPERATORS

        operator = OPERATORS.get(name)
        if operator is None or not operator.is_method:
            raise AttributeError(f"a tensor has no attribute {name!r}")
        return lambda *arguments, **keywords: operator(self, *arguments, **keywords)

    if TYPE_CHECKING:

        def __class_getitem__(cls, parameters: tuple[Any, Any]) -> Any:
            """``Tensor[shape, dtype]`` is an annotation; type checkers read it as a tensor."""

    def __getitem__(self, key: Any) -> Tensor:
        from pypto.ops.movement import get_item

        return get_item(self, key)

    def __bool__(self) -> NoReturn:
        raise CompileError(
            "DATA_DEPENDENT",
            "the truth of a tensor is not known when the program is built",
            fix="use pypto.where(condition, x, y)",
        )

    def __iter__(self) -> NoReturn:
        raise CompileError(
            "BAD_ARGUMENT", "a tensor is not iterable", fix="use pypto.split(x, parts, dim)"
        )

    __hash__ = object.__hash__

    def __add__(self, other: Operand) -> Tensor:
        return self._call("add", other)

    def __radd__(self, other: Operand) -> Tensor:
        return _reflected("add", other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return self._call("sub", other)

    def __rsub__(self, other: Operand) -> Tensor:
        return _reflected("sub", other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return self._call("mul", other)

    def __rmul__(self, other: Operand) -> Tensor:
        return _reflected("mul", other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        return self._call("div", other)

    def __rtruediv__(self, other: Operand) -> Tensor:
        return _reflected("div", other, self)

    def __pow__(self, other: Operand) -> Tensor:
        return self._call("pow", other)

    def __rpow__(self, other: Operand) -> Tensor:
        return _reflected("pow", other, self)

    def __matmul__(self, other: Tensor | np.ndarray) -> Tensor:
        return self._call("matmul", other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return _reflected("matmul", other, self)

    def __neg__(self) -> Tensor:
        return self._call("neg")

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return self._call("abs")

    def __invert__(self) -> Tensor:
        return self._call("bitwise_not")

    def __and__(self, other: Operand) -> Tensor:
        return self._call("bitwise_and", other)

    def __rand__(self, other: Operand) -> Tensor:
        return _reflected("bitwise_and", other, self)

    def __or__(self, other: Operand) -> Tensor:
        return self._call("bitwise_or", other)

    def __ror__(self, other: Operand) -> Tensor:
        return _reflected("bitwise_or", other, self)

    def __xor__(self, other: Operand) -> Tensor:
        return self._call("bitwise_xor", other)

    def __rxor__(self, other: Operand) -> Tensor:
        return _reflected("bitwise_xor", other, self)

    def __lt__(self, other: Operand) -> Tensor:
        return self._call("lt", other)

    def __le__(self, other: Operand) -> Tensor:
        return self._call("le", other)

    def __gt__(self, other: Operand) -> Tensor:
        return self._call("gt", other)

    def __ge__(self, other: Operand) -> Tensor:
        return self._call("ge", other)

    def __eq__(self, other: Operand) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._call("eq", other)

    def __ne__(self, other: Operand) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._call("ne", other)


def _reflected(operator: str, left: Any, right: Tensor) -> Any:
    from pypto.ops import OPERATORS

    return OPERATORS[operator](left, right)


class Evaluator(ABC):
    """What an operator does: compute on NumPy, infer types, record IR or a lazy graph."""

    def lift(self, operand: Any) -> Tensor:
        """An array as a tensor of this evaluator."""
        raise CompileError(
            "BAD_ARGUMENT",
            f"a tensor is expected here, not {type(operand).__name__}",
            fix="give a tensor, an array or a number",
        )

    def apply(
        self, operator: Operator, operands: Sequence[Any], attributes: Mapping[str, Any]
    ) -> Any:
        """Normalise the arguments, promote the operands, then evaluate.

        ``operands`` has one entry per operand parameter: a tensor or array, a Python number, None
        when absent, or a tuple of tensors. The result is a tensor, or a tuple of them.
        """
        lifted = tuple(self._lifted(operand) for operand in operands)
        return operator.dispatch(self, lifted, attributes)

    @abstractmethod
    def evaluate(
        self,
        operator: Operator,
        operands: tuple[Any, ...],
        attributes: dict[str, Any],
        result_types: tuple[TensorType, ...],
    ) -> tuple[Tensor, ...]:
        """The results of normalised operands and attributes, of the types given."""

    def _lifted(self, operand: Any) -> Any:
        if isinstance(operand, (tuple, list)):
            return tuple(self._lifted(item) for item in operand)
        if isinstance(operand, np.generic):
            return operand.item()
        if operand is None or isinstance(operand, (Tensor, bool, int, float)):
            return operand
        if isinstance(operand, UnknownExtent):
            operand._refuse()
        return self.lift(operand)


_current: contextvars.ContextVar[Evaluator | None] = contextvars.ContextVar(
    "pypto_evaluator", default=None
)


@contextlib.contextmanager
def using(evaluator: Evaluator) -> Iterator[None]:
    """Operators without a tensor operand (``full``, ``arange``) go to ``evaluator`` inside."""
    token = _current.set(evaluator)
    try:
        yield
    finally:
        _current.reset(token)


_default: list[Evaluator] = []


def set_default_evaluator(evaluator: Evaluator) -> None:
    """Calls outside of any body (on arrays, or creating tensors) go to ``evaluator``."""
    _default[:] = [evaluator]


def current_evaluator(operands: Sequence[Any]) -> Evaluator:
    """The evaluator of the first tensor operand, else the one in use, else the default."""
    for operand in operands:
        for item in operand if isinstance(operand, (tuple, list)) else (operand,):
            if isinstance(item, Tensor):
                return item.evaluator
    found = _current.get() or (_default[0] if _default else None)
    if found is None:
        raise CompileError(
            "BAD_ARGUMENT", "there is no tensor among the operands and no evaluator in use"
        )
    return found
