"""Runs an Executable on the emulated device: values, time, and if asked a log of instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pypto.emulator.crew import Crew
from pypto.emulator.device import Device
from pypto.emulator.launch import LaunchLog, Options, Progress, run_launch
from pypto.emulator.placement import Placement, launch_arguments, place
from pypto.emulator.profile import LaunchProfile, Profile
from pypto.errors import DeviceError
from pypto.target.executable import BufferArgument, Executable, Launch, Role
from pypto.target.soc import Soc
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
    machine: Soc | None = None,
) -> RunResult:
    """Run all steps in order on fresh memory; ``machine`` stands for the executable's SoC.

    ``timing_only`` computes no data: of ``inputs`` only the shapes count, and there are no
    results. ``cycle_limit`` bounds each launch; ``progress(name, cycle, instructions)`` is called
    every few hundred milliseconds.
    """
    loaded = Loaded.of(executable, inputs, functional=not timing_only, machine=machine)
    options = Options(not timing_only, record, cycle_limit, progress)
    launches: list[LaunchProfile] = []
    logs: list[LaunchLog] = []
    for step in executable.steps:
        profile, log = loaded.launch(step, options)
        launches.append(profile)
        logs.append(log)
    profile = Profile(loaded.device.soc, tuple(launches))
    return RunResult(
        () if timing_only else loaded.results(), profile, tuple(logs) if record else ()
    )


@dataclass(frozen=True)
class Loaded:
    """An Executable in the memory of a device: its buffers lie there, filled or poisoned."""

    executable: Executable
    shapes: list[tuple[int, ...]]
    placement: Placement
    device: Device

    @classmethod
    def of(
        cls,
        executable: Executable,
        inputs: Sequence[np.ndarray],
        *,
        functional: bool = True,
        machine: Soc | None = None,
    ) -> Loaded:
        """Inputs and constants in fresh memory; ``machine`` stands for the executable's SoC."""
        soc = machine or load_soc(executable.soc)
        arrays = [np.asarray(value) for value in inputs]
        shapes = _checked_shapes(executable, arrays)
        placement = place(executable, shapes, soc)
        device = Device.of_size(soc, placement.total, functional=functional)
        if functional:
            _fill(executable, placement, arrays, device.memory)
        return cls(executable, shapes, placement, device)

    def launch(self, step: Launch, options: Options) -> tuple[LaunchProfile, LaunchLog]:
        """Run one step."""
        crew = Crew.of([self.executable.programs[part.program] for part in step.parts], step.grid)
        touched = [a.buffer for a in step.all_arguments if isinstance(a, BufferArgument)]
        arguments = launch_arguments(step, self.placement, self.shapes)
        spans = self.placement.spans(touched)
        return run_launch(self.device, crew, arguments, spans, options)

    def buffer(self, number: int) -> np.ndarray:
        """The elements of a buffer as they lie in memory, in its shape."""
        buffer = self.executable.buffers[number]
        start, size = self.placement.addresses[number], self.placement.sizes[number]
        data = self.device.memory[start : start + size]
        return data.view(buffer.dtype.numpy).reshape(buffer.resolved_shape(self.shapes))

    def results(self) -> tuple[np.ndarray, ...]:
        """Copies of the results."""
        return tuple(self.buffer(number).copy() for number in self.executable.results)


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
