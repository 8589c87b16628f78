"""Where the operators of a kernel's text go: into the IR, or to an evaluator at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from pypto.errors import CompileError, SourceLocation
from pypto.ops.value import Evaluator, Tensor, using


class Door(Protocol):
    """Where operators go: the Builder that makes IR of them, or an evaluator that computes."""

    def at(self, location: SourceLocation | None) -> AbstractContextManager[None]:
        """Operators called inside belong to ``location``; errors get it."""
        ...

    def lift(self, value: Any) -> Tensor:
        """An array as a tensor that operators go here with."""
        ...


class Computing:
    """The door behind which an evaluator computes at once."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    @contextmanager
    def at(self, location: SourceLocation | None) -> Iterator[None]:
        """Operators called inside are computed; errors get ``location``."""
        try:
            with using(self.evaluator):
                yield
        except CompileError as error:
            if error.location is None:
                error.location = location
            raise

    def lift(self, value: Any) -> Tensor:
        """An array as a tensor of the evaluator."""
        own = isinstance(value, Tensor) and value.evaluator is self.evaluator
        return value if own else self.evaluator.lift(value)
