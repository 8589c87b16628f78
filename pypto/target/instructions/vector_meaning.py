"""Meaning of the instructions on NumPy bytes."""

from __future__ import annotations


def binary(memory, f, row) -> None:
    raise NotImplementedError


def unary(memory, f, row) -> None:
    raise NotImplementedError


def cast(memory, f, row) -> None:
    raise NotImplementedError


def scalar_binary(memory, f, row) -> None:
    raise NotImplementedError


def duplicate(memory, f, row) -> None:
    raise NotImplementedError


def reduce(memory, f, row) -> None:
    raise NotImplementedError


def compare(memory, f, row) -> None:
    raise NotImplementedError


def compare_scalar(memory, f, row) -> None:
    raise NotImplementedError


def select(memory, f, row) -> None:
    raise NotImplementedError


def block_broadcast(memory, f, row) -> None:
    raise NotImplementedError


def gather(memory, f, row) -> None:
    raise NotImplementedError
