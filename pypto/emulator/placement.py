"""Where the buffers of an Executable lie in global memory during a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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


class Spans(NamedTuple):
    """Ranges of global memory that a launch may touch, sorted.

    Copies of whole blocks may go on to ``limits``, behind the values that end at ``ends``.
    """

    starts: np.ndarray  # int64[spans]
    ends: np.ndarray
    limits: np.ndarray


@dataclass(frozen=True)
class Placement:
    """Address and size in bytes of every buffer, and the bytes of memory that takes.

    Behind each buffer lies what ``allocated_bytes`` adds: free to touch, holding nothing.
    """

    addresses: tuple[int, ...]
    sizes: tuple[int, ...]
    total: int

    def spans(self, numbers: Sequence[int]) -> Spans:
        """Where the given buffers lie, sorted, those that overlap joined."""
        starts: list[int] = []
        ends: list[int] = []
        limits: list[int] = []
        for number in sorted(set(numbers), key=lambda n: self.addresses[n]):
            if self.sizes[number] == 0:
                continue
            start, size = self.addresses[number], self.sizes[number]
            end, limit = start + size, start + allocated_bytes(size)
            if ends and start < ends[-1]:
                ends[-1], limits[-1] = max(ends[-1], end), max(limits[-1], limit)
            else:
                starts.append(start)
                ends.append(end)
                limits.append(limit)
        return Spans(*(np.array(numbers, np.int64) for numbers in (starts, ends, limits)))


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
    """The parameter table of a launch, part after part: addresses and scalars as int64."""
    values = [
        placement.addresses[a.buffer] + a.byte_offset
        if isinstance(a, BufferArgument)
        else resolve(a, shapes)
        for a in step.all_arguments
    ]
    return np.array(values, np.int64)


def _aligned(address: int) -> int:
    return -(-address // ALIGNMENT) * ALIGNMENT


def _largest(executable: Executable, sizes: Sequence[int], count: int = 3) -> tuple[str, ...]:
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])[:count]
    return tuple(f"buffer {executable.buffers[i].name} takes {sizes[i]} bytes" for i in order)
