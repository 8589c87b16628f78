"""Annotations that describe the fields of instruction families.

Ranges are those of the 2201 C wrappers and pages of the vendor's asc-devkit [V].
"""

from __future__ import annotations

from typing import Annotated, Any

from pypto.target.instruction import Field, Kind, RowFacts
from pypto.target.memory import Space


def address(
    space: Space, role: str, align: int = 32, state: str = "", clobbers: bool = False
) -> Field:
    """A byte address in ``space``."""
    return Field(
        kind=Kind.ADDRESS, space=space, role=role, align=align, state=state, clobbers=clobbers
    )


def value(default: int | None = None, low: int = 0, high: int = 65535) -> Field:
    """A plain integer in ``low``..``high``."""
    return Field(default=default, low=low, high=high)


def state(register: str, default: int, low: int = -(2**63), high: int = 2**63 - 1) -> Field:
    """A value taken from a mode register at dispatch."""
    return Field(kind=Kind.STATE, default=default, state=register, low=low, high=high)


UbRead = Annotated[int, address(Space.UB, "r")]
UbReadAny = Annotated[int, address(Space.UB, "r", align=1)]
UbWrite = Annotated[int, address(Space.UB, "w")]
UbMasked = Annotated[int, address(Space.UB, "w", clobbers=True)]
UbUpdated = Annotated[int, address(Space.UB, "rw", clobbers=True)]
UbElement = Annotated[int, address(Space.UB, "w", align=2, clobbers=True)]
# CMPMASK lies at the start of the vector pipe's registers.
CompareMaskRead = Annotated[
    int, Field(kind=Kind.ADDRESS, space=Space.VR, role="r", default=0, high=0)
]
CompareMaskWrite = Annotated[
    int, Field(kind=Kind.ADDRESS, space=Space.VR, role="w", default=0, high=0)
]
GmRead = Annotated[int, address(Space.GM, "r", align=1)]
GmWrite = Annotated[int, address(Space.GM, "w", align=1)]
L1Read = Annotated[int, address(Space.L1, "r")]
L1Write = Annotated[int, address(Space.L1, "w")]

Scalar = Annotated[int, Field(kind=Kind.SCALAR, low=-(2**31), high=2**32 - 1)]
Repeat = Annotated[int, value(1, high=255)]
Flag = Annotated[int, value(0, high=1)]
Off = Annotated[int, value(0, high=0)]
Gap = Annotated[int, value(0)]
Bursts = Annotated[int, value(1, high=4095)]

# Strides of vector instructions, in 32-byte blocks. Binary operations have 8-bit strides, the
# others 16-bit ones. A block stride of 0 is undefined for a destination.
ByteDstBlock = Annotated[int, value(1, low=1, high=255)]
ByteBlock = Annotated[int, value(1, high=255)]
ByteRepeat = Annotated[int, value(8, high=255)]
DstBlock = Annotated[int, value(1, low=1)]
Block = Annotated[int, value(1)]
RepeatStride = Annotated[int, value(8)]

# Mode 0 (norm): bit i of the mask stands for lane i of every repeat.
# Mode 1 (count): mask_low holds the number of elements and the repeat field is ignored.
MaskMode = Annotated[int, state("mask_mode", 0, 0, 1)]
MaskHigh = Annotated[int, state("mask_high", -1)]
MaskLow = Annotated[int, state("mask_low", -1)]
# 1: halves and bfloat16 saturate: too large becomes the largest number, NaN 0. 0: IEEE.
Saturation = Annotated[int, state("saturation", 0, 0, 1)]
PadValue = Annotated[int, state("pad_value", 0)]
# Operation (none, add, max, min) + 4 * element type (f32, f16, bf16, i32, i16, i8).
Atomic = Annotated[int, state("atomic", 0, 0, 23)]
# 0: lines are kept in L2; 1: what is not there passes it by (SetL2CacheHint disabled [V]).
L2Mode = Annotated[int, state("l2_mode", 0, 0, 1)]
# Bit 0: f32 factors of mad are rounded to hf32; bit 1: towards zero, not to nearest even.
Hf32 = Annotated[int, state("hf32", 0, 0, 3)]
# One scale for all columns, and where in FB one for each column lies; see quantisation.
QuantPre = Annotated[int, state("quant_pre", 0)]
QuantWords = Annotated[int, address(Space.FB, "r", align=128, state="quant_words")]
# The image load3d reads, from bit 0: width 16, height 16, then 8 each of left, right, top and
# bottom border.
Fmatrix = Annotated[int, state("fmatrix", 0)]
FmatrixB = Annotated[int, state("fmatrix_b", 0)]
# The element of the border of an image; its low bits where elements are narrower.
Padding = Annotated[int, state("padding", 0)]


def stream_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    """A transfer to or from GM: one cycle of the pipe, the rest is the memory system's time."""
    return 1, 1
