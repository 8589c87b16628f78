"""Instructions that add to their destination: vmla, vmadd, vmaddrelu and vaxpy.

Sources may be halves where the destination is f32; lanes are counted on the wider type. The
product is rounded, then the sum [A]; halves are computed in f32 and rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from pypto.target import numerics
from pypto.target.dtypes import F16, F32, DType
from pypto.target.instruction import Instruction, family
from pypto.target.instructions import vector_footprint as shape
from pypto.target.instructions.bytes import element, read, write
from pypto.target.instructions.fields import (
    Block,
    ByteBlock,
    ByteDstBlock,
    ByteRepeat,
    DstBlock,
    MaskHigh,
    MaskLow,
    MaskMode,
    Repeat,
    RepeatStride,
    Saturation,
    Scalar,
    UbRead,
    UbUpdated,
)
from pypto.target.instructions.vector import F16_F32, instruction
from pypto.target.instructions.vector_meaning import (
    Memories,
    active_lanes,
    place,
    relu,
    saturated,
)
from pypto.target.memory import Space

HEAD = 24


class Fused(NamedTuple):
    """dst[i] = op(src0[i], src1[i], dst[i])."""

    dst: UbUpdated
    src0: UbRead
    src1: UbRead
    repeat: Repeat
    dst_block: ByteDstBlock
    src0_block: ByteBlock
    src1_block: ByteBlock
    dst_repeat: ByteRepeat
    src0_repeat: ByteRepeat
    src1_repeat: ByteRepeat
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow
    saturation: Saturation


class FusedScalar(NamedTuple):
    """dst[i] = src[i] * scalar + dst[i]; ``scalar`` holds the bits of an element of the source."""

    dst: UbUpdated
    src: UbRead
    scalar: Scalar
    repeat: Repeat
    dst_block: DstBlock
    src_block: Block
    dst_repeat: RepeatStride
    src_repeat: RepeatStride
    mask_mode: MaskMode
    mask_high: MaskHigh
    mask_low: MaskLow
    saturation: Saturation


FUSED_FORM = family(
    "fused",
    Fused,
    shape.binary_footprint,
    shape.vector_cycles,
    conflicts=shape.binary_conflicts,
)
FUSED_SCALAR = family(
    "fused_scalar",
    FusedScalar,
    shape.unary_footprint,
    shape.vector_cycles,
    conflicts=shape.unary_conflicts,
)

FUSED_OPERATIONS: dict[str, Callable[..., np.ndarray]] = {
    "vmla": lambda a, b, d: a * b + d,
    "vmadd": lambda a, b, d: a * d + b,
    "vmaddrelu": lambda a, b, d: relu(a * d + b),
}


def in_single(
    function: Callable[..., np.ndarray], dtype: DType, *operands: np.ndarray
) -> np.ndarray:
    """``function`` of f32 values, rounded to the dtype."""
    with np.errstate(all="ignore"):
        return numerics.nearest(function(*(a.astype(np.float32) for a in operands)), dtype)


def fused(memory: Memories, f: Any, row: Instruction) -> None:
    ub, source, function = memory[Space.UB], row.source_dtype, FUSED_OPERATIONS[row.op_name]
    for i, lanes in active_lanes(f, row):
        a = read(ub, place(f.src0, f.src0_block, f.src0_repeat, i, lanes, source), source)
        b = read(ub, place(f.src1, f.src1_block, f.src1_repeat, i, lanes, source), source)
        target = place(f.dst, f.dst_block, f.dst_repeat, i, lanes, row.dtype)
        result = in_single(function, row.dtype, a, b, read(ub, target, row.dtype))
        write(ub, target, saturated(f, result, row.dtype), row.dtype)


def fused_scalar(memory: Memories, f: Any, row: Instruction) -> None:
    ub, source = memory[Space.UB], row.source_dtype
    factor = element(f.scalar, source)
    for i, lanes in active_lanes(f, row):
        a = read(ub, place(f.src, f.src_block, f.src_repeat, i, lanes, source), source)
        target = place(f.dst, f.dst_block, f.dst_repeat, i, lanes, row.dtype)
        old = read(ub, target, row.dtype)
        result = in_single(lambda x, d: x * factor.astype(np.float32) + d, row.dtype, a, old)
        write(ub, target, saturated(f, result, row.dtype), row.dtype)


# Cycles per repeat [V ADK-vec]: vmla takes two.
FUSED_ROWS = (
    ("vmla", FUSED_FORM, 2, fused, "dst + src0 * src1"),
    ("vmadd", FUSED_FORM, 1, fused, "src0 * dst + src1"),
    ("vmaddrelu", FUSED_FORM, 1, fused, "max(0, src0 * dst + src1)"),
    ("vaxpy", FUSED_SCALAR, 1, fused_scalar, "dst + scalar * src"),
)
MIXED = ("vmla", "vaxpy")  # have an f32 form with sources of halves


def rows() -> Iterator[Instruction]:
    for name, form, slope, meaning, text in FUSED_ROWS:
        for dtype in F16_F32:
            mnemonic = f"{name}.{dtype}"
            yield instruction(mnemonic, form, dtype, (slope, 1), HEAD, meaning, text)
        if name in MIXED:
            summary = f"{text}, sources of halves"
            mnemonic = f"{name}.f32f16"
            yield instruction(mnemonic, form, F32, (slope, 1), HEAD, meaning, summary, F16)


FUSED: tuple[Instruction, ...] = tuple(rows())
