"""What fills a cache in a test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import pypto
from pypto.runtime.compilation import Compilation
from pypto.runtime.kernel import Kernel, Options

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)


def doubled(x):
    return x * 2


def raised(x, by=1):
    return pypto.exp(x) + by


def made(function: Callable[..., object] = doubled, *types: object, **options: object):
    """The compilation by a kernel that knows of no other."""
    kernel = Kernel(function, Options(**options))  # pyright: ignore[reportArgumentType]
    return kernel.compilation(kernel.argument_types(types or (X,)))


def was_hit(compilation: Compilation) -> bool:
    return compilation.seconds == 0


def only_entry(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path
