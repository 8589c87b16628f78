"""Random small legal fields for every family of instructions."""

from __future__ import annotations

from pypto.target.memory import Space
from tests.target.draws import (
    AREA,
    MEMORY,
    Draw,
    Memories,
    Samplers,
    Values,
    random_memories,
    register_in,
    scale,
    signed,
)
from tests.target.samplers_vector import VECTOR_SAMPLERS

__all__ = ["AREA", "MEMORY", "SAMPLERS", "Draw", "Memories", "Values", "random_memories"]

SAMPLERS: Samplers = dict(VECTOR_SAMPLERS)
of_family = register_in(SAMPLERS)


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
        "length": d.number(0, 80) // d.row.dtype.bytes * d.row.dtype.bytes,
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
    return {**fractals(d), "transpose": d.number(0, 1) if d.row.dtype.bytes == 2 else 0}


def fractals(d: Draw) -> Values:
    dst, src = (d.area(1 if f.space is Space.GM else 512) for f in d.row.fields[:2])
    return {
        "dst": dst,
        "src": src,
        "index": d.number(0, 2),
        "repeat": d.number(0, 4),
        "src_stride": d.number(0, 2),
        "dst_gap": d.number(0, 1),
    }


@of_family("load_gm_a", "load_gm_b", "load_gm_l1")
def load_gm(d: Draw) -> Values:
    values = fractals(d)
    if d.row.family.name == "load_gm_l1" and d.number(0, 1):
        return {**values, "index": 7, "descending": 1}
    return values


@of_family("load2dt_a", "load2dt_b")
def load2d_transpose(d: Draw) -> Values:
    fractal_gap = d.number(0, 1)
    gaps = {"dst_gap": 2 + fractal_gap, "dst_fractal_gap": fractal_gap, "src_stride": 1}
    return {**fractals(d), **gaps}


@of_family("fill_a", "fill_b", "fill_l1")
def fill(d: Draw) -> Values:
    sizes = {"repeat": d.number(0, 3), "length": d.number(0, 3), "gap": d.number(0, 2)}
    return {"dst": d.area(512), "scalar": d.scalar(), **sizes}


@of_family("l1_to_bt", "l1_to_fb", "l1_to_gm")
def l1_copies(d: Draw) -> Values:
    align = {Space.BT: 64, Space.FB: 128, Space.GM: 1}[d.row.spaces()[0]]
    dst = d.number(0, 2) * align if align > 1 else d.area(1)
    sizes = {"bursts": d.number(0, 2), "length": d.number(0, 2)}
    return {
        "dst": dst,
        "src": d.area(),
        **sizes,
        "src_gap": d.number(0, 3),
        "dst_gap": d.number(0, 1),
    }


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
        any_word = signed(int.from_bytes(d.random.bytes(8), "little"))
        return {"quant_pre": d.choose(any_word, scale(d))}
    return {"words": 128 * d.number(0, 2)} if "words" in names else {}


@of_family("fixpipe", "fixpipe_scaled", "fixpipe_scales")
def fixpipe(d: Draw) -> Values:
    rows, nd = d.number(0, 20), d.number(0, 1)
    split = 0 if nd or d.row.dtype.bytes < 4 or d.row.family.name != "fixpipe" else d.number(0, 1)
    width = 8 if split else max(16, 32 // d.row.dtype.bytes)
    columns = d.number(0, 40) if nd else width * d.number(0, 2)
    values = {
        "dst": d.area(1),
        "src": d.area(64),
        "n": columns,
        "m": rows,
        "dst_stride": columns + d.number(0, 5) if nd else 2 * rows + d.number(0, 3),
        "src_stride": rows + d.number(0, 5),
        "relu": d.number(0, 1),
        "channel_split": split,
        "nz2nd": nd,
    }
    return {**values, **scales(d)}
