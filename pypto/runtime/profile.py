"""What one call of a kernel cost, as the JSON object of the command line and as a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pypto.emulator.profile import Profile as DeviceProfile
from pypto.runtime.bound import Work, bounds, largest


@dataclass(frozen=True)
class Accuracy:
    """The largest differences from the expected values, and whether all are tolerable.

    The relative one is in parts of the largest magnitude expected.
    """

    max_abs_error: float
    max_rel_error: float
    ok: bool


@dataclass(frozen=True)
class Profile:
    """Cycles, instructions, pipes with their stalls, bound, and seconds of this computer."""

    kernel: str
    opt_level: int | None
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    device: DeviceProfile
    work: Work
    compile_seconds: float
    host_seconds: float
    accuracy: Accuracy | None = None

    @property
    def cycles(self) -> int:
        return self.device.cycles

    @property
    def time_us(self) -> float:
        return self.device.time_us

    @cached_property
    def bound(self) -> tuple[str, int]:
        """The resource that needs longest, and its cycles."""
        return largest(bounds(self.work, self.device.soc))

    @property
    def bound_us(self) -> float:
        return self.bound[1] / self.device.soc.clock_mhz

    @property
    def roofline_fraction(self) -> float | None:
        """Bound over time; None when no time passed."""
        return self.bound[1] / self.cycles if self.cycles else None

    def with_accuracy(self, accuracy: Accuracy) -> Profile:
        """The same profile with the comparison of the results."""
        return replace(self, accuracy=accuracy)

    def as_json(self) -> dict[str, Any]:
        """Plain values under the names of the command line."""
        device, accuracy = self.device, self.accuracy
        return {
            "kernel": self.kernel,
            "soc": device.soc.name,
            "opt_level": self.opt_level,
            "shapes": [list(shape) for shape in self.shapes],
            "dtypes": list(self.dtypes),
            "cycles": device.cycles,
            "time_us": device.time_us,
            "task_us": device.task_us,
            "instructions": device.instructions,
            "data_instructions": device.data_instructions,
            "cores": device.cores,
            "pipes": {name.upper(): pipe.as_json() for name, pipe in device.pipes().items()},
            "bound": self.bound[0],
            "bound_us": self.bound_us,
            "roofline_fraction": self.roofline_fraction,
            "hbm_bytes": device.hbm_bytes,
            "max_abs_error": accuracy.max_abs_error if accuracy else None,
            "max_rel_error": accuracy.max_rel_error if accuracy else None,
            "ok": accuracy.ok if accuracy else None,
            "compile_seconds": self.compile_seconds,
            "host_seconds": self.host_seconds,
        }

    def table(self) -> str:
        """Time, launches and pipes for people."""
        device = self.device
        level = "" if self.opt_level is None else f" at -O{self.opt_level}"
        types = ", ".join(
            f"{list(shape)} {dtype}" for shape, dtype in zip(self.shapes, self.dtypes, strict=True)
        )
        name, bound = self.bound
        lines = [
            f"{self.kernel}({types}) on {device.soc.name}{level}",
            f"cycles               {device.cycles:,}  "
            f"({counted(len(device.launches), 'launch', 'es')}, {counted(device.cores, 'core')})",
            f"simulated time       {device.time_us:.2f} us  (task {device.task_us:.2f} us "
            "with launch overhead)",
            f"instructions         {device.instructions:,}  ({device.data_instructions:,} on data)",
            f"least possible       {self.bound_us:.2f} us by {name}"
            + (f"  ({bound / self.cycles:.1%} reached)" if self.cycles else ""),
            f"through HBM          {device.hbm_bytes:,} bytes",
        ]
        if self.accuracy is not None:
            verdict = "within" if self.accuracy.ok else "OUT OF"
            lines.append(
                f"largest error        {self.accuracy.max_abs_error:.3g} absolute, "
                f"{self.accuracy.max_rel_error:.3g} relative, {verdict} tolerance"
            )
        lines.append(
            f"this computer        {self.compile_seconds:.2f} s to compile, "
            f"{self.host_seconds:.2f} s to emulate"
        )
        return "\n".join(lines) + "\n\n" + pipe_table(device)


def pipe_table(device: DeviceProfile) -> str:
    """One column per pipe: its cycles over all cores, busy and every stall, adding up to 100 %."""
    pipes = device.pipes()
    kinds = sorted({kind for pipe in pipes.values() for kind in pipe.stalls})
    rows = [
        ("pipe", [name.upper() for name in pipes]),
        ("core-cycles", [f"{pipe.cycles:,}" for pipe in pipes.values()]),
        ("busy", [share(pipe.busy, pipe.cycles) for pipe in pipes.values()]),
    ]
    for kind in kinds:
        parts = [(pipe.stalls.get(kind, 0), pipe.cycles) for pipe in pipes.values()]
        rows.append((stall_text(kind), [share(*part) if part[0] else "" for part in parts]))
    sums = [share(p.busy + sum(p.stalls.values()), p.cycles) for p in pipes.values()]
    rows.append(("sum", sums))
    widths = [max(len(cells[i]) for _, cells in rows) for i in range(len(pipes))]
    lines = (
        f"{heading:<19}"
        + "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        for heading, cells in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def stall_text(kind: str) -> str:
    """``flag_mte2`` as ``waits for MTE2``."""
    cause, _, pipe = kind.partition("_")
    return {
        "dispatch": "nothing dispatched",
        "barrier": "barrier",
        "memory": "memory is busy",
        "bank": "bank conflicts",
        "end": "no work left",
        "cross": "waits for other cores",
        "flag": f"waits for {pipe.upper()}",
        "queue": f"queue of {pipe.upper()} full",
    }.get(cause, kind)


def counted(count: int, noun: str, ending: str = "s") -> str:
    """``1 core``, ``2 cores``."""
    return f"{count} {noun}{'' if count == 1 else ending}"


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""
