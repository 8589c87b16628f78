"""What compiling gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pypto.target.executable import Executable


@dataclass(frozen=True)
class Compilation:
    """An Executable and the seconds it took to make; 0 when it came from the cache.

    ``form`` is what a kernel's text returns, with tensors that are types only.
    """

    executable: Executable
    seconds: float
    form: Any = None
