"""How a broken law is told."""

from __future__ import annotations

from xdsl.ir import Operation


class BrokenLaw(Exception):
    """An operation that breaks a law; the message says how."""

    def __init__(self, op: Operation, message: str) -> None:
        super().__init__(message)
        self.op = op
