"""Verifies a module operation by operation, so that the error can name the user's line."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto.dialects.locations import source_of
from pypto.errors import CompileError


def verify_module(module: ModuleOp, what: str) -> None:
    """Raise a CompileError for the first operation of ``module`` that breaks a law.

    ``what`` names the module in the message. Checks every operation's own rules and that every
    value is defined before it is used.
    """
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            raise CompileError(
                "INVALID_IR",
                f"{what} is not valid: {op.name}: {str(error).splitlines()[0]}",
                location=source_of(op),
            ) from error
    _check_order(module, set(), what)


def _check_order(op: Operation, defined: set[SSAValue], what: str) -> None:
    for region in op.regions:
        for block in region.blocks:
            _check_block(block, defined | set(block.args), what)


def _check_block(block: Block, defined: set[SSAValue], what: str) -> None:
    for op in block.ops:
        for number, operand in enumerate(op.operands):
            if operand not in defined:
                raise CompileError(
                    "INVALID_IR",
                    f"{what} is not valid: {op.name}: operand {number} is used before it is"
                    " defined",
                    location=source_of(op),
                )
        _check_order(op, defined, what)
        defined.update(op.results)
