"""Instructions that unfold an image of L1 into the matrix a convolution multiplies (load3d)."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pypto.target.dtypes import U8, U16, U32, DType
from pypto.target.instruction import Access, Family, Instruction, RowFacts, family, nowhere, runs
from pypto.target.instructions import load3d_meaning as means
from pypto.target.instructions.fields import (
    Flag,
    Fmatrix,
    FmatrixB,
    L1Read,
    Padding,
    address,
    value,
)
from pypto.target.instructions.load3d_meaning import window_of
from pypto.target.layouts import image_to_columns, output_height, output_width
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, Pipe, Space

EDGE = 16  # rows of a fractal
MOST_POSITION = 32767
RATE = 512  # the numerator of the rates of load3d

Step = Annotated[int, value()]
Position = Annotated[int, value(0, high=MOST_POSITION)]
Stride = Annotated[int, value(1, low=1, high=63)]
Filter = Annotated[int, value(1, low=1, high=511)]  # 8 bits and a flag that adds 256
Dilation = Annotated[int, value(1, low=1, high=255)]


class Load3dA(NamedTuple):
    """L1 to L0A: rows ``pos_m``.. and columns ``pos_k``.. of the unfolded image, as zZ.

    The image is NC1HWC0 with ``channels`` channels, its size and borders in the mode register
    ``fmatrix`` (``fmatrix_b`` where ``second`` is 1). ``transpose`` writes the zZ of the window
    turned. Sizes count elements; ``step_m`` x ``step_k`` is the window.
    """

    dst: Annotated[int, address(Space.L0A, "w", align=512, clobbers=True)]
    src: L1Read
    step_k: Step
    step_m: Step
    pos_k: Annotated[int, value(0)]
    pos_m: Position
    stride_w: Stride
    stride_h: Stride
    filter_w: Filter
    filter_h: Filter
    dilation_w: Dilation
    dilation_h: Dilation
    transpose: Flag
    second: Flag
    channels: Annotated[int, value(low=1)]
    fmatrix: Fmatrix
    fmatrix_b: FmatrixB
    padding: Padding


class Load3dB(NamedTuple):
    """L1 to L0B, as Load3dA, always the nZ of the window: m is the k of the product."""

    dst: Annotated[int, address(Space.L0B, "w", align=512)]
    src: L1Read
    step_k: Step
    step_m: Step
    pos_k: Annotated[int, value(0)]
    pos_m: Position
    stride_w: Stride
    stride_h: Stride
    filter_w: Filter
    filter_h: Filter
    dilation_w: Dilation
    dilation_h: Dilation
    transpose: Flag
    second: Flag
    channels: Annotated[int, value(low=1)]
    fmatrix: Fmatrix
    fmatrix_b: FmatrixB
    padding: Padding


def image_access(f: Any, facts: RowFacts) -> Access:
    """The least box of channel blocks, rows and columns that holds the pixels read.

    Outside of L1 where no position of the filter fits into the image.
    """
    w = window_of(f)
    across = output_width(w)
    if f.step_m * f.step_k == 0:
        return runs(f.src, 0, 0, 0, 0, 0)
    if across < 1 or output_height(w) < 1:
        return nowhere()
    depth = BLOCK_BYTES // facts.src_bytes
    first, last = f.pos_k // depth, (f.pos_k + f.step_k - 1) // depth
    start, end = f.pos_m, f.pos_m + f.step_m - 1
    channel, top, left = image_to_columns(start, first, w)
    channel_end, bottom, right = image_to_columns(end, last, w)
    if channel != channel_end:
        top -= first // w.filter_w % w.filter_h * w.dilation_h
        bottom += (w.filter_h - 1 - last // w.filter_w % w.filter_h) * w.dilation_h
    if first // w.filter_w != last // w.filter_w:
        left -= first % w.filter_w * w.dilation_w
        right += (w.filter_w - 1 - last % w.filter_w) * w.dilation_w
    if start // across != end // across:
        left -= start % across * w.stride_w
        right += (across - 1 - end % across) * w.stride_w
    top, left = max(0, top), max(0, left)
    rows, columns = min(w.height - 1, bottom) - top + 1, min(w.width - 1, right) - left + 1
    if rows < 1 or columns < 1:
        return runs(f.src, 0, 0, 0, 0, 0)
    line = w.width * BLOCK_BYTES
    plane = w.height * line
    place = f.src + channel * plane + top * line + left * BLOCK_BYTES
    return runs(place, channel_end - channel + 1, plane, rows, line, columns * BLOCK_BYTES)


def load3d_a_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    columns = f.step_k
    if f.transpose != 0:
        columns = (f.step_k + EDGE - 1) // EDGE * EDGE
    length = f.step_m * columns * facts.dst_bytes
    return runs(f.dst, 1, 0, 1, 0, length), image_access(f, facts)


def load3d_b_footprint(f: Any, facts: RowFacts) -> tuple[Access, Access]:
    """Whole fractals, but the upper half of the last of a row where ``step_k`` is odd times 8."""
    steps = f.step_m // (BLOCK_BYTES // facts.dst_bytes)
    columns = (f.step_k + EDGE - 1) // EDGE
    if f.step_m * f.step_k == 0:
        steps = 0
    edge = (f.step_k - (columns - 1) * EDGE) * BLOCK_BYTES
    size = FRACTAL_BYTES
    target = Access(f.dst, steps, columns * size, columns, size, size, edge, columns, edge)
    return target, image_access(f, facts)


def lines(f: Any) -> int:
    """Rows of positions of the filter that the window of the matrix touches."""
    across = output_width(window_of(f))
    if across < 1:
        return 1
    return (f.pos_m + f.step_m - 1) // across - f.pos_m // across + 1


def line_rate(f: Any, extra: int, slowest: int, whole: int) -> int:
    """Bytes per cycle by column stride and rows touched [V asc-devkit cube performance table].

    The lower end is stated for stride 1 and for odd strides, and taken for all [A].
    """
    count = lines(f)
    stride = f.stride_w
    if stride == 1:
        if count == 1:
            return whole
        return max(slowest, RATE // (count + 2 + extra))
    if stride in (2, 4, 8):
        if count == 1:
            count = 0
        return max(slowest, RATE // (2 * stride + extra + count))
    return slowest


def load3d_cycles(f: Any, facts: RowFacts, rate: int, latency: int) -> tuple[int, int]:
    size = f.step_m * f.step_k * facts.dst_bytes
    occupancy = max(1, (size + rate - 1) // rate)
    return occupancy, occupancy + latency


def load3d_a_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    rate = line_rate(f, 0, 32, soc.l1_to_l0a)
    return load3d_cycles(f, facts, rate, soc.load3d_latency)


def load3d_b_cycles(f: Any, facts: RowFacts, soc: Any) -> tuple[int, int]:
    rate = line_rate(f, 2, 28, soc.l1_to_l0b)
    return load3d_cycles(f, facts, rate, soc.load3d_latency)


def load3d_limits(f: Any, facts: RowFacts) -> list[tuple[str, str]]:
    broken = []
    depth = BLOCK_BYTES // facts.src_bytes
    w = window_of(f)
    for name, count in (("step_k", f.step_k), ("pos_k", f.pos_k), ("channels", f.channels)):
        if count % depth:
            broken.append((name, f"a multiple of {depth}, the elements of 32 bytes"))
    if f.step_m % EDGE:
        broken.append(("step_m", "a multiple of 16"))
    columns = f.channels * w.filter_h * w.filter_w
    if f.pos_k + f.step_k > columns:
        broken.append(("step_k", f"at most the {columns - f.pos_k} columns from pos_k on"))
    # An image without pixels: the mode register is not known yet.
    for name, count in (("filter_w", output_width(w)), ("filter_h", output_height(w))):
        if count < 1 and w.width * w.height > 0:
            broken.append((name, "a filter that fits into the image and its borders"))
    if f.transpose and facts.src_bytes == 1:
        broken.append(("transpose", "0: one-byte elements are not turned while loading"))
    return broken


LOAD3D_A = family("load3d_a", Load3dA, load3d_a_footprint, load3d_a_cycles, limits=load3d_limits)
LOAD3D_B = family("load3d_b", Load3dB, load3d_b_footprint, load3d_b_cycles, limits=load3d_limits)


def load3d_row(name: str, form: Family, dtype: DType, summary: str) -> Instruction:
    facts = RowFacts(dtype.bytes, dtype.bytes, 0, 1, 1, 0, 0)
    mnemonic = f"img2colv2_cbuf_to_{name}.b{8 * dtype.bytes}"
    return Instruction(mnemonic, Pipe.MTE1, form, dtype, facts, means.load3d, summary)


LOAD3D: tuple[Instruction, ...] = (
    *(load3d_row("ca", LOAD3D_A, t, "unfolded image of L1 to L0A") for t in (U8, U16, U32)),
    *(load3d_row("cb", LOAD3D_B, t, "unfolded image of L1 to L0B") for t in (U16, U32)),
)
