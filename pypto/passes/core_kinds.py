"""Which cores of a machine run a kernel."""

from __future__ import annotations

from pypto.target.memory import CoreKind
from pypto.target.soc import Soc


def core_for(soc: Soc, *, multiplies: bool) -> CoreKind:
    """What runs kernels that multiply matrices, or else work on vectors, on a machine."""
    if soc.is_coupled:
        return CoreKind.AICORE
    return CoreKind.CUBE if multiplies else CoreKind.VECTOR


def cores_for(soc: Soc, *, multiplies: bool) -> int:
    """How many cores run such kernels."""
    return soc.cores(core_for(soc, multiplies=multiplies))
