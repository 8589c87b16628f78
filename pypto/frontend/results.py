"""What a function returns: one tensor, or a tuple of them."""

from __future__ import annotations

from typing import Any

from pypto.errors import CompileError
from pypto.frontend.source import FunctionSource
from pypto.frontend.statements import Statements
from pypto.frontend.values import describe, is_data


def returned(statements: Statements, source: FunctionSource) -> list[Any]:
    """The tensors a function returns: one, or a tuple of them."""
    value = statements.run()
    values = list(value) if isinstance(value, tuple | list) else [value]
    with statements.builder.at(source.definition()):
        lifted = [statements.lift(item) if is_data(item) else item for item in values]
    for item in lifted:
        if not is_data(item):
            raise CompileError(
                "BAD_RETURN",
                f"'{source.name}' returns {describe(item)}, not a tensor",
                location=source.definition(),
                fix="return a tensor or a tuple of tensors; pypto.full makes one of a number",
            )
    if not lifted:
        raise CompileError(
            "BAD_RETURN",
            f"'{source.name}' returns an empty tuple",
            location=source.definition(),
            fix="return at least one tensor",
        )
    return lifted
