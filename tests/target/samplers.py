"""Random small legal fields for every family of instructions."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from pypto.target.instruction import Instruction
from pypto.target.instructions.vector_footprint import lanes_per_repeat
from pypto.target.memory import SPACES, Space

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
SAMPLERS: dict[str, Sampler] = {}


def of_family(*names: str) -> Callable[[Sampler], Sampler]:
    """Makes a function the sampler of the families of these names."""

    def register(sampler: Sampler) -> Sampler:
        SAMPLERS.update(dict.fromkeys(names, sampler))
        return sampler

    return register


@of_family("binary")
def binary(d: Draw) -> Values:
    source, other = d.area(), d.area()
    return {
        "src0": source,
        "src1": other,
        "dst": d.choose(d.area(), source),
        "repeat": d.repeat(),
        **d.choose(d.strides("dst", "src0", "src1"), {}),
        **d.modes(),
    }


@of_family("unary")
def unary(d: Draw) -> Values:
    return {
        "dst": d.area(),
        "src": d.area(),
        "repeat": d.repeat(),
        **d.strides("dst", "src"),
        **d.modes(),
    }


@of_family("scalar_binary")
def scalar_binary(d: Draw) -> Values:
    shift = d.row.op_name in ("vshl", "vshr")
    return {**unary(d), "scalar": d.number(0, 40) if shift else d.scalar()}


@of_family("duplicate")
def duplicate(d: Draw) -> Values:
    values = {"dst": d.area(), "scalar": d.scalar(), "repeat": d.repeat()}
    return {**values, **d.strides("dst"), **d.mask()}


@of_family("reduce")
def reduce(d: Draw) -> Values:
    strides = d.strides("dst", "src")
    del strides["dst_block"]
    strides["dst_repeat"] = d.number(1, 3)
    values = {"dst": d.area(), "src": d.area(), "repeat": d.repeat()}
    return {**values, **strides, **d.modes()}


@of_family("compare")
def compare(d: Draw) -> Values:
    values = {"dst": d.area(), "src0": d.area(), "src1": d.area(), "repeat": d.repeat()}
    return {**values, **d.strides("dst", "src0", "src1")}


@of_family("compare_scalar")
def compare_scalar(d: Draw) -> Values:
    values = {"dst": d.area(), "src": d.area(), "repeat": d.repeat(), "scalar": d.scalar()}
    return {**values, **d.strides("dst", "src")}


@of_family("select")
def select(d: Draw) -> Values:
    values = {**binary(d), "mask": d.area()}
    del values["saturation"]
    return values


@of_family("block_broadcast")
def block_broadcast(d: Draw) -> Values:
    values = {"dst": d.area(), "src": d.area(), "repeat": d.repeat()}
    return {**values, **d.strides("dst")}


@of_family("gather")
def gather(d: Draw) -> Values:
    values = {"dst": d.area(), "offsets": d.area(), "base": d.area(1), "repeat": d.repeat()}
    return {**values, "dst_repeat": d.number(8, 20), **d.mask()}


@of_family("copy_in")
def copy_in(d: Draw) -> Values:
    most = 32 // d.row.dtype.bytes
    return {
        "dst": d.area(),
        "src": d.area(1),
        "bursts": d.number(0, 4),
        "length": d.number(0, 40) * d.row.dtype.bytes,
        "left": d.choose(0, d.number(0, most)),
        "right": d.choose(0, d.number(0, most)),
        "src_gap": d.number(0, 50),
        "dst_gap": d.number(0, 3),
        "pad_value": d.scalar(),
    }


@of_family("copy_out")
def copy_out(d: Draw) -> Values:
    return {
        "dst": d.area(1),
        "src": d.area(),
        "bursts": d.number(0, 4),
        "length": d.number(0, 80),
        "src_gap": d.number(0, 3),
        "dst_gap": d.number(0, 50),
    }


@of_family(
    "blocks_gm_to_ub",
    "blocks_gm_to_l1",
    "blocks_l1_to_ub",
    "blocks_ub_to_l1",
    "blocks_in_ub",
    "blocks_ub_to_gm",
)
def blocks(d: Draw) -> Values:
    sizes = {"bursts": d.number(0, 4), "length": d.number(0, 5)}
    gaps = {"src_gap": d.number(0, 3), "dst_gap": d.number(0, 3)}
    dst, src = (d.area(1 if f.space is Space.GM else 32) for f in d.row.fields[:2])
    return {"dst": dst, "src": src, **sizes, **gaps}


@of_family("drain")
def drain(d: Draw) -> Values:
    return {
        "dst": d.area(),
        "src": AREA * d.number(2, 3),
        "bursts": d.number(0, 3),
        "length": d.number(0, 2),
        "src_gap": d.number(0, 1),
        "dst_gap": d.number(0, 3),
        "relu": d.number(0, 1),
    }


@of_family("transpose")
def transpose(d: Draw) -> Values:
    """Lists of neighbours and of halves, one repeat or several in both of their ways."""
    values = {"dst": d.area(), "src": d.area(), "repeat": d.number(0, 3)}
    for side, least in (("dst", 1), ("src", 0)):
        pair = d.number(least, 2)
        step, advance = d.choose((2 * pair, d.number(0, 40)), (1, 8), (3, 24))
        if step != 2 * pair:
            pair = d.choose(30, 50)
        values |= {
            f"{side}_step": step,
            f"{side}_pair": pair,
            f"{side}_repeat": 0 if values["repeat"] == 1 else advance,
        }
    return values


@of_family("nd2nz")
def nd2nz(d: Draw) -> Values:
    """One matrix or several, rows of blocks that touch or not, as far as both can be said."""
    rows, columns, count = d.number(0, 12), d.number(0, 40), d.choose(1, d.number(0, 3))
    depth = 32 // d.row.dtype.bytes
    row_stride = d.choose(1, 2) if count < 2 or columns <= depth else 1
    height = rows * row_stride + d.number(1, 3)
    return {
        "dst": d.area(),
        "src": d.area(1),
        "nd_count": count,
        "rows": rows,
        "columns": columns,
        "src_nd_stride": d.number(0, 600),
        "src_row_stride": columns + d.number(1, 9),
        "dst_column_stride": height,
        "dst_row_stride": row_stride,
        "dst_nd_stride": (height * (columns // depth + 1) + d.number(0, 2)) * depth,
    }


@of_family("load2d_a", "load2d_b")
def load2d(d: Draw) -> Values:
    return {
        "dst": d.area(512),
        "src": d.area(),
        "index": d.number(0, 2),
        "repeat": d.number(0, 4),
        "src_stride": d.number(0, 2),
        "dst_gap": d.number(0, 1),
        "transpose": d.number(0, 1) if d.row.dtype.bytes == 2 else 0,
    }


@of_family("load2dt_a", "load2dt_b")
def load2d_transpose(d: Draw) -> Values:
    values = load2d(d)
    del values["transpose"]
    fractal_gap = d.number(0, 1)
    return {**values, "dst_gap": 2 + fractal_gap, "dst_fractal_gap": fractal_gap, "src_stride": 1}


@of_family("mad", "mad_single")
def mad(d: Draw) -> Values:
    values = {**product(d), "c_init": d.number(0, 1)}
    return {**values, "hf32": d.number(0, 3)} if d.row.family.name == "mad_single" else values


@of_family("mad_bias", "mad_single_bias")
def mad_bias(d: Draw) -> Values:
    values = {**product(d), "bias": 64 * d.number(0, 2)}
    return {**values, "hf32": d.number(0, 3)} if d.row.family.name == "mad_single_bias" else values


def product(d: Draw) -> Values:
    return {
        "c": 1024 * d.number(0, 2),
        "a": 512 * d.number(0, 2),
        "b": 512 * d.number(0, 2),
        "m": d.choose(1, d.number(0, 40)),
        "k": d.number(0, 40),
        "n": d.number(0, 40),
        "k_align": d.number(0, 1) if d.row.source_dtype.bytes == 4 else 0,
    }


@of_family("load3d_a", "load3d_b")
def load3d(d: Draw) -> Values:
    """Images with and without borders, filters that fit; the window may begin anywhere."""
    depth = 32 // d.row.dtype.bytes
    filters = {f"filter_{axis}": d.number(1, 3) for axis in "wh"}
    steps = {f"{kind}_{axis}": d.number(1, 3) for kind in ("stride", "dilation") for axis in "wh"}
    least = {axis: steps[f"dilation_{axis}"] * (filters[f"filter_{axis}"] - 1) + 1 for axis in "wh"}
    image = [least["w"] + d.number(0, 5), least["h"] + d.number(0, 4)]
    borders = [d.choose(0, d.number(0, 3)) for _ in range(4)]
    channels = d.number(1, 2)
    blocks = channels * filters["filter_w"] * filters["filter_h"]
    pos = d.number(0, blocks - 1)
    step = d.number(0, min(blocks - pos, 4))
    turned = d.number(0, 1) if depth < 32 else 0
    if d.row.family.name == "load3d_a" and turned and step * depth % 16:
        d.partial = True
    word = image[0] | image[1] << 16 | sum(b << 32 + 8 * i for i, b in enumerate(borders))
    second = d.number(0, 1)
    return {
        "dst": d.area(512),
        "src": d.area(),
        "step_k": step * depth,
        "step_m": 16 * d.number(0, 3),
        "pos_k": pos * depth,
        "pos_m": d.number(0, 40),
        **filters,
        **steps,
        "transpose": turned,
        "second": second,
        "channels": channels * depth,
        "fmatrix": 0 if second else word,
        "fmatrix_b": word if second else 0,
        "padding": d.scalar(),
    }


@of_family("fixpipe_l1", "fixpipe_l1_scaled", "fixpipe_l1_scales")
def fixpipe_l1(d: Draw) -> Values:
    rows = d.number(0, 20)
    values = {
        "dst": d.area(),
        "src": d.area(64),
        "n": max(16, 32 // d.row.dtype.bytes) * d.number(0, 2),
        "m": rows,
        "dst_stride": rows + d.number(0, 3),
        "src_stride": rows + d.number(0, 5),
        "relu": d.number(0, 1),
    }
    return {**values, **scales(d)}


def scales(d: Draw) -> Values:
    """The scale of a drain that takes one, or where its scales lie."""
    names = {field.name for field in d.row.fields}
    if "quant_pre" in names:
        word = int.from_bytes(d.random.bytes(8), "little")
        return {"quant_pre": signed(word)}
    return {"words": 128 * d.number(0, 2)} if "words" in names else {}


@of_family("fixpipe")
def fixpipe(d: Draw) -> Values:
    rows, nd = d.number(0, 20), d.number(0, 1)
    columns = d.number(0, 40) if nd else 16 * d.number(0, 2)
    return {
        "dst": d.area(1),
        "src": d.area(64),
        "n": columns,
        "m": rows,
        "dst_stride": columns + d.number(0, 5) if nd else 2 * rows + d.number(0, 3),
        "src_stride": rows + d.number(0, 5),
        "relu": d.number(0, 1),
        "nz2nd": nd,
    }


def random_memories(draw: Draw, fields: Any) -> Memories:
    memories = {space: draw.random.integers(0, 256, MEMORY, np.uint8) for space in SPACES}
    if draw.row.family.name == "gather":
        count = (MEMORY - fields.offsets) // 4
        offsets = draw.random.integers(0, MEMORY - fields.base - 4, count).astype(np.uint32)
        stop = fields.offsets + 4 * count
        memories[Space.UB][fields.offsets : stop] = offsets.view(np.uint8)
    return memories
