"""Where the buffers of an Executable lie in global memory during a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pypto.errors import DeviceError
from pypto.target.executable import (
    BufferArgument,
    Executable,
    Launch,
    allocated_bytes,
    resolve,
)
from pypto.target.soc import Soc

ALIGNMENT = 512  # a DMA loses bandwidth on less [M]
POISON = 0xFF  # every float type reads NaN


@dataclass(frozen=True)
class Placement:
    """Address and size in bytes of every buffer, and the bytes of memory that takes.

    Behind each buffer lies what ``allocated_bytes`` adds: free to touch, holding nothing.
    """

    addresses: tuple[int, ...]
    sizes: tuple[int, ...]
    total: int

    def spans(self, numbers: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Starts and ends of the given buffers, sorted, those that overlap joined."""
        starts: list[int] = []
        ends: list[int] = []
        for number in sorted(set(numbers), key=lambda n: self.addresses[n]):
            if self.sizes[number] == 0:
                continue
            start = self.addresses[number]
            end = start + allocated_bytes(self.sizes[number])
            if ends and start < ends[-1]:
                ends[-1] = max(ends[-1], end)
            else:
                starts.append(start)
                ends.append(end)
        return np.array(starts, np.int64), np.array(ends, np.int64)


def place(executable: Executable, shapes: Sequence[Sequence[int]], soc: Soc) -> Placement:
    """Planned temporaries at their offsets in a pool, all other buffers one after another."""
    sizes = tuple(buffer.byte_count(shapes) for buffer in executable.buffers)
    planned = [
        buffer.offset + allocated_bytes(size)
        for buffer, size in zip(executable.buffers, sizes, strict=True)
        if buffer.offset is not None
    ]
    top = _aligned(max(planned, default=0))
    addresses = []
    for buffer, size in zip(executable.buffers, sizes, strict=True):
        if buffer.offset is not None:
            addresses.append(buffer.offset)
            continue
        addresses.append(top)
        top = _aligned(top + allocated_bytes(size))
    if top > soc.hbm_bytes:
        raise DeviceError(
            "DEVICE_MEMORY_EXHAUSTED",
            f"the buffers need {top} bytes of HBM, {soc.name} has {soc.hbm_bytes}",
            notes=_largest(executable, sizes),
            fix="use smaller tensors, or split the work into several calls",
        )
    return Placement(tuple(addresses), sizes, top)


def launch_arguments(
    step: Launch, placement: Placement, shapes: Sequence[Sequence[int]]
) -> np.ndarray:
    """The parameter table of a launch: addresses and scalars as int64."""
    values = [
        placement.addresses[a.buffer] + a.byte_offset
        if isinstance(a, BufferArgument)
        else resolve(a, shapes)
        for a in step.arguments
    ]
    return np.array(values, np.int64)


def _aligned(address: int) -> int:
    return -(-address // ALIGNMENT) * ALIGNMENT


def _largest(executable: Executable, sizes: Sequence[int], count: int = 3) -> tuple[str, ...]:
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])[:count]
    return tuple(f"buffer {executable.buffers[i].name} takes {sizes[i]} bytes" for i in order)
