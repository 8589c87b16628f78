"""Runs an Executable on the emulated device: values, time, and if asked a log of instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pypto.emulator.device import Device
from pypto.emulator.launch import LaunchLog, Options, Progress, run_launch
from pypto.emulator.placement import Placement, launch_arguments, place
from pypto.emulator.profile import LaunchProfile, Profile
from pypto.errors import DeviceError
from pypto.target.executable import BufferArgument, Executable, Role
from pypto.target.soc import soc as load_soc

CYCLE_LIMIT = 10**11


@dataclass(frozen=True)
class RunResult:
    """``results`` has the arrays of the executable's results, () when only time was asked.

    ``log`` has one entry per launch when the run was recorded.
    """

    results: tuple[np.ndarray, ...]
    profile: Profile
    log: tuple[LaunchLog, ...] = ()


def run(
    executable: Executable,
    inputs: Sequence[np.ndarray],
    *,
    timing_only: bool = False,
    record: bool = False,
    cycle_limit: int = CYCLE_LIMIT,
    progress: Progress | None = None,
) -> RunResult:
    """Run all steps in order on fresh memory.

    ``timing_only`` computes no data: of ``inputs`` only the shapes count, and there are no
    results. ``cycle_limit`` bounds each launch; ``progress(name, cycle, instructions)`` is called
    every few hundred milliseconds.
    """
    soc = load_soc(executable.soc)
    arrays = [np.asarray(value) for value in inputs]
    shapes = _checked_shapes(executable, arrays)
    placement = place(executable, shapes, soc)
    device = Device.of_size(soc, placement.total, functional=not timing_only)
    if not timing_only:
        _fill(executable, placement, arrays, device.memory)
    options = Options(not timing_only, record, cycle_limit, progress)
    launches: list[LaunchProfile] = []
    logs: list[LaunchLog] = []
    for step in executable.steps:
        touched = [a.buffer for a in step.arguments if isinstance(a, BufferArgument)]
        profile, log = run_launch(
            device,
            executable.programs[step.program],
            step.grid,
            launch_arguments(step, placement, shapes),
            placement.spans(touched),
            options,
        )
        launches.append(profile)
        logs.append(log)
    results = () if timing_only else _results(executable, placement, shapes, device.memory)
    return RunResult(results, Profile(soc, tuple(launches)), tuple(logs) if record else ())


def _checked_shapes(executable: Executable, arrays: list[np.ndarray]) -> list[tuple[int, ...]]:
    """The shapes of the arguments, once they are seen to fit the executable's inputs."""
    if len(arrays) != len(executable.inputs):
        raise DeviceError(
            "INPUT_COUNT", f"{len(arrays)} inputs given, {len(executable.inputs)} wanted"
        )
    shapes = [array.shape for array in arrays]
    for number, array in zip(executable.inputs, arrays, strict=True):
        buffer = executable.buffers[number]
        wanted = buffer.resolved_shape(shapes)
        if array.shape != wanted or array.dtype != buffer.dtype.numpy:
            name = buffer.dtype.public_name
            raise DeviceError(
                "INPUT_MISMATCH",
                f"input {buffer.name} is {array.dtype}{list(array.shape)}, "
                f"the program wants {name}{list(wanted)}",
                fix=f"convert it with .astype({name!r})"
                if array.shape == wanted
                else "pass an array of that shape; extents known at launch only that meet in an "
                "operator must be equal",
            )
    return shapes


def _fill(
    executable: Executable, placement: Placement, arrays: list[np.ndarray], memory: np.ndarray
) -> None:
    """Copy inputs and constants into global memory."""
    contents = dict(zip(executable.inputs, arrays, strict=True))
    for number, buffer in enumerate(executable.buffers):
        if buffer.role is Role.CONSTANT and buffer.constant is not None:
            contents[number] = executable.constants[buffer.constant]
    for number, array in contents.items():
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        start = placement.addresses[number]
        memory[start : start + data.size] = data


def _results(
    executable: Executable,
    placement: Placement,
    shapes: list[tuple[int, ...]],
    memory: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """Copies of the result buffers with their dtypes and shapes."""
    found = []
    for number in executable.results:
        buffer = executable.buffers[number]
        start, size = placement.addresses[number], placement.sizes[number]
        data = memory[start : start + size].copy()
        found.append(data.view(buffer.dtype.numpy).reshape(buffer.resolved_shape(shapes)))
    return tuple(found)
