"""Runs an Executable on the emulated device and says what it cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pypto.emulator.run import run as emulate
from pypto.runtime.hazards import prove_ordered
from pypto.runtime.memory import check_fits
from pypto.runtime.profile import Profile
from pypto.runtime.results import filled
from pypto.runtime.timeline import write_timeline
from pypto.runtime.work import work_of
from pypto.target.executable import Executable
from pypto.target.loaded_values import first_use


@dataclass(frozen=True)
class Run:
    """The results of one call and what it cost.

    ``form`` is what a kernel's text returns, with tensors that are types only.
    """

    results: tuple[np.ndarray, ...]
    profile: Profile
    form: Any = None

    @property
    def value(self) -> Any:
        """What the kernel returns, in the form its text gives it."""
        return filled(self.form, self.results)


def execute(
    executable: Executable,
    inputs: Sequence[np.ndarray],
    *,
    kernel: str,
    opt_level: int | None = None,
    compile_seconds: float = 0.0,
    timing_only: bool = False,
    check_hazards: bool = False,
    compiled: bool = True,
    timeline: Path | None = None,
) -> Run:
    """Run on fresh device memory.

    ``check_hazards`` proves every launch free of races, by the stricter laws of compiled programs
    if ``compiled``; ``timeline`` names a Chrome trace to write; with ``timing_only`` there are no
    results.
    """
    shapes = [array.shape for array in inputs]
    sizes = [buffer.byte_count(shapes) for buffer in executable.buffers if buffer.offset is None]
    check_fits(executable.soc, sizes, f"the total of all buffers of {kernel}")
    follows_data = any(first_use(program) is not None for program in executable.programs)
    if check_hazards and not follows_data:
        prove_ordered(executable, shapes, compiled=compiled)
    start = time.perf_counter()
    result = emulate(
        executable,
        inputs,
        timing_only=timing_only,
        record=timeline is not None or (check_hazards and follows_data),
    )
    seconds = time.perf_counter() - start
    if check_hazards and follows_data:
        prove_ordered(executable, shapes, compiled=compiled, log=result.log)
    if timeline is not None:
        write_timeline(result, timeline)
    profile = Profile(
        kernel=kernel,
        opt_level=opt_level,
        shapes=tuple(shapes),
        dtypes=tuple(executable.buffers[n].dtype.public_name for n in executable.inputs),
        device=result.profile,
        work=work_of(executable, result.profile, shapes),
        compile_seconds=compile_seconds,
        host_seconds=seconds,
    )
    return Run(result.results, profile)
