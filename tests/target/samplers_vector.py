"""Random small legal fields for every family of the vector pipe that computes."""

from __future__ import annotations

from pypto.target.instructions.vector_footprint import lanes_per_repeat
from pypto.target.quantisation import scale_word
from tests.target.draws import Draw, Samplers, Values, register_in

VECTOR_SAMPLERS: Samplers = {}
of_family = register_in(VECTOR_SAMPLERS)


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
    is_shift = d.row.op_name == "vshl"
    return {**unary(d), "scalar": d.number(0, 40) if is_shift else d.scalar()}


@of_family("shift_right")
def shift_right(d: Draw) -> Values:
    return {**unary(d), "scalar": d.number(0, 40), "round": d.number(0, 1)}


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


@of_family("fused")
def fused(d: Draw) -> Values:
    values = binary(d)
    mixed = {"src0_repeat": 4, "src1_repeat": 4} if d.row.source is not None else {}
    return {**values, **mixed}


@of_family("fused_scalar")
def fused_scalar(d: Draw) -> Values:
    bits = 8 * d.row.source_dtype.bytes
    return {**unary(d), "scalar": d.number(0, 2**bits - 1)}


@of_family("compare_to_mask")
def compare_to_mask(d: Draw) -> Values:
    lanes = lanes_per_repeat(d.row.facts)
    mask = d.mask()
    if mask["mask_mode"] == 1:
        mask["mask_low"] = min(mask["mask_low"], lanes)
    blocks = {"src0_block": d.number(0, 3), "src1_block": d.number(0, 3)}
    return {"src0": d.area(), "src1": d.area(), **blocks, **mask}


@of_family("set_mask")
def set_mask(d: Draw) -> Values:
    return {"src": d.area()}


@of_family("get_mask")
def get_mask(d: Draw) -> Values:
    return {"dst": d.area()}


@of_family("select_by_mask")
def select_by_mask(d: Draw) -> Values:
    values = binary(d)
    del values["saturation"]
    return values


@of_family("select_scalar")
def select_scalar(d: Draw) -> Values:
    values = {"dst": d.area(), "src0": d.area(), "src1": d.area(), "repeat": d.repeat()}
    return {**values, **d.strides("dst", "src0"), **d.mask()}


@of_family("reduce_place")
def reduce_place(d: Draw) -> Values:
    strides = d.strides("dst", "src")
    del strides["dst_block"]
    strides["dst_repeat"] = d.number(1, 3)
    return {"dst": d.area(), "src": d.area(), "repeat": d.repeat(), **strides, **d.mask()}


@of_family("gather_blocks")
def gather_blocks(d: Draw) -> Values:
    strides = {"dst_repeat": d.number(0, 20), "dst_block": d.number(0, 2)}
    places = {"dst": d.area(), "offsets": d.area(), "base": d.area(1)}
    return {**places, **strides, "repeat": d.repeat()}


@of_family("compact")
def compact(d: Draw) -> Values:
    count = {"mask_mode": 1, "mask_low": d.number(0, 300)}
    pattern = d.choose(0, d.number(1, 7))
    d.partial = pattern == 0
    return {
        "dst": d.area(),
        "src0": d.area(),
        "src1": d.area(),
        "repeat": d.repeat(),
        "src0_block": d.number(0, 2),
        "pattern": pattern,
        "src0_repeat": d.number(0, 20),
        "src1_repeat": d.number(0, 3),
        **d.choose(count, {}),
    }


@of_family("bit_sort")
def bit_sort(d: Draw) -> Values:
    return {"dst": d.area(), "src0": d.area(), "src1": d.area(), "repeat": d.repeat()}


@of_family("merge_sort")
def merge_sort(d: Draw) -> Values:
    """Four lists that follow each other, several times; or two to four apart, some empty."""
    target, start = d.area(), d.area()
    if d.choose(True, False):
        length = d.number(0, 40)
        lists = {f"src{i}": start + i * 8 * length for i in range(4)}
        lengths = {f"length{i}": length for i in range(4)}
        return {"dst": target, **lists, **lengths, "repeat": d.number(0, 3)}
    d.partial = bool(suspend := d.number(0, 1))
    lists = {"src0": start} | {f"src{i}": d.area(8) for i in range(1, 4)}
    lengths = {f"length{i}": d.number(0, 60) for i in range(4)}
    return {"dst": target, **lists, **lengths, "valid": d.choose(3, 7, 15), "suspend": suspend}


@of_family("dequantise")
def dequantise(d: Draw) -> Values:
    return {**unary(d), "scale": d.number(0, 0xFFFF)}


@of_family("to_bytes")
def to_bytes(d: Draw) -> Values:
    values = unary(d)
    del values["saturation"]
    word = scale_word(2.0 ** d.number(-12, 2), d.number(-200, 200), d.choose(True, False))
    return {**values, "scale": word}


@of_family("to_bytes_by_table")
def to_bytes_by_table(d: Draw) -> Values:
    values = unary(d)
    del values["saturation"]
    return {**values, "words": d.area()}


@of_family("transpose_halves")
def transpose_halves(d: Draw) -> Values:
    return {**transpose(d), "dst_high": d.number(0, 1), "src_high": d.number(0, 1)}


@of_family("square")
def square(d: Draw) -> Values:
    source = d.area()
    return {"dst": d.choose(d.area(), source), "src": source}


@of_family("block_broadcast")
def block_broadcast(d: Draw) -> Values:
    values = {"dst": d.area(), "src": d.area(), "repeat": d.repeat()}
    return {**values, **d.strides("dst")}


@of_family("gather")
def gather(d: Draw) -> Values:
    values = {"dst": d.area(), "offsets": d.area(), "base": d.area(1), "repeat": d.repeat()}
    return {**values, "dst_repeat": d.number(8, 20), **d.mask()}


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
