"""Random operands: numbers, areas, masks and strides for one row of the instruction table."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from pypto.target.instruction import Instruction
from pypto.target.instructions.vector_footprint import lanes_per_repeat
from pypto.target.memory import SPACES, Space
from pypto.target.quantisation import scale_word

AREA = 8192  # bytes between the operands of a sampled instruction
MEMORY = 5 * AREA

Values = dict[str, int]
Memories = dict[Space, np.ndarray]


class Draw:
    """Random small legal fields for one row."""

    def __init__(self, row: Instruction, seed: int) -> None:
        self.row = row
        self.random = np.random.default_rng([seed, zlib.crc32(row.mnemonic.encode())])
        self.areas = 0
        self.partial = False  # the mask has holes

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def choose(self, *options: Any) -> Any:
        return options[self.number(0, len(options) - 1)]

    def area(self, align: int = 32) -> int:
        """An address in an area of its own."""
        self.areas += 1
        return (self.areas - 1) * AREA + self.number(0, 3) * align

    def mask(self) -> Values:
        """Every kind of mask: all lanes, a prefix, holes, a count."""
        kind = self.choose("all", "prefix", "holes", "count", "count")
        lanes = lanes_per_repeat(self.row.facts)
        if kind == "count":
            count = self.number(0, 3 * lanes)
            return {"mask_mode": 1, "mask_high": 0, "mask_low": count}
        bits = {"all": 2**128 - 1, "prefix": 2 ** self.number(0, lanes) - 1}.get(kind)
        if bits is None:
            bits = int.from_bytes(self.random.bytes(16), "little")
            self.partial = True
        high, low = signed(bits >> 64), signed(bits & (2**64 - 1))
        return {"mask_mode": 0, "mask_high": high, "mask_low": low}

    def modes(self) -> Values:
        """A mask and the other mode registers of vector instructions."""
        return {**self.mask(), "saturation": self.number(0, 1)}

    def strides(self, *operands: str) -> Values:
        """Block and repeat strides; the first operand is the destination."""
        values = {}
        for position, name in enumerate(operands):
            contiguous = self.choose(True, False)
            values[f"{name}_block"] = 1 if contiguous else self.number(position == 0, 3)
            values[f"{name}_repeat"] = 8 if contiguous else self.number(0, 24)
        return values

    def repeat(self) -> int:
        return self.number(0, 4)

    def scalar(self) -> int:
        return self.number(0, 2 ** min(32, 8 * self.row.dtype.bytes) - 1)


def signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


Sampler = Callable[[Draw], Values]
Samplers = dict[str, Sampler]


def register_in(samplers: Samplers) -> Callable[..., Callable[[Sampler], Sampler]]:
    """``of_family(names)`` for a table: makes a function the sampler of these families."""

    def of_family(*names: str) -> Callable[[Sampler], Sampler]:
        def register(sampler: Sampler) -> Sampler:
            samplers.update(dict.fromkeys(names, sampler))
            return sampler

        return register

    return of_family


def scale(draw: Draw) -> int:
    """A scale that leaves numbers of the accumulator near the range of bytes."""
    multiplier = draw.random.normal() * 2.0 ** draw.number(-26, -8)
    shift = draw.choose(None, draw.number(1, 16))
    return scale_word(multiplier, draw.number(-256, 255), bool(draw.number(0, 1)), shift)


def random_memories(draw: Draw, fields: Any) -> Memories:
    memories = {space: draw.random.integers(0, 256, MEMORY, np.uint8) for space in SPACES}
    if draw.row.family.name in ("gather", "gather_blocks"):
        reach = 4 if draw.row.family.name == "gather" else 32
        count = (MEMORY - fields.offsets) // 4
        offsets = draw.random.integers(0, MEMORY - fields.base - reach, count).astype(np.uint32)
        stop = fields.offsets + 4 * count
        memories[Space.UB][fields.offsets : stop] = offsets.view(np.uint8)
    if draw.row.family.name.endswith("_scales") and draw.number(0, 1):
        words = np.array([scale(draw) for _ in range(fields.n)], np.int64)
        memories[Space.FB][fields.words : fields.words + words.nbytes] = words.view(np.uint8)
    return memories
