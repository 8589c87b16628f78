"""Meaning of the instructions on NumPy bytes."""

from __future__ import annotations


def copy_in(memory, f, row) -> None:
    raise NotImplementedError


def copy_out(memory, f, row) -> None:
    raise NotImplementedError


def copy_ub(memory, f, row) -> None:
    raise NotImplementedError


def nd2nz(memory, f, row) -> None:
    raise NotImplementedError


def load2d(memory, f, row) -> None:
    raise NotImplementedError


def load2d_transpose(memory, f, row) -> None:
    raise NotImplementedError
