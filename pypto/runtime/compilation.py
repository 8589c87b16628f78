"""What compiling gives."""

from __future__ import annotations

from dataclasses import dataclass

from pypto.target.executable import Executable


@dataclass(frozen=True)
class Compilation:
    """An Executable and the seconds it took to make; 0 when it came from the cache."""

    executable: Executable
    seconds: float
