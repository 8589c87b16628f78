"""Which kernel computes a row of the cube, or of the moves to and from its memories."""

from __future__ import annotations

from pypto.emulator.body_parts import (
    SATURATE,
    SCRATCH,
    Calls,
    base,
    bits_kind,
    decode,
    register_in,
    stored,
)
from pypto.target.dtypes import F16, I8
from pypto.target.instruction import Instruction
from pypto.target.instructions.cube import MIXED_SIGNS
from pypto.target.instructions.fixpipe import FIXPIPE_GM
from pypto.target.instructions.l1_copies import BIAS_UNIT, L1_TO_BT, SCALE_UNIT
from pypto.target.instructions.load3d import LOAD3D_B
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, Space
from pypto.target.quantisation import Quantisation

CUBE_CALLS: Calls = {}
of_family = register_in(CUBE_CALLS)


@of_family("nd2nz")
def nd2nz(row: Instruction) -> str:
    return f"moves.nd2nz(f, {base(Space.GM)}, {base(Space.L1)}, {row.dtype.bytes})"


@of_family("load2d_a", "load2d_b", "load_gm_a", "load_gm_b", "load_gm_l1")
def load2d(row: Instruction) -> str:
    names = {field.name for field in row.fields}
    transpose = "f.transpose" if "transpose" in names and row.dtype.bytes == 2 else "0"
    descending = "f.descending" if "descending" in names else "0"
    target, source = (base(space) for space in row.spaces())
    return f"fractals.load2d(f, {source}, {target}, {transpose}, {descending})"


@of_family("load2dt_a", "load2dt_b")
def load2d_transpose(row: Instruction) -> str:
    target, source = (base(space) for space in row.spaces())
    return f"fractals.load2d_transpose(f, {source}, {target}, {bits_kind(row)})"


@of_family("fill_a", "fill_b", "fill_l1")
def fill(row: Instruction) -> str:
    (space,) = row.spaces()
    unit = BLOCK_BYTES if space is Space.L1 else FRACTAL_BYTES
    value = f"np.uint{8 * row.dtype.bytes}(f.scalar)"
    return f"fractals.fill(f, {base(space)}, {bits_kind(row)}, {unit}, {value})"


@of_family("l1_to_bt", "l1_to_fb")
def to_table(row: Instruction) -> str:
    s, d = row.source_dtype, row.dtype
    unit = BIAS_UNIT if row.family is L1_TO_BT else SCALE_UNIT
    widths = f"{unit}, {unit * d.bytes // s.bytes}, {unit}"
    table, source = (base(space) for space in row.spaces())
    kinds = f"{stored(s)}, {stored(d)}, {d.bytes}, {decode(s)}"
    return f"l1_copies.to_table(f, {table}, {source}, {widths}, {kinds})"


@of_family("l1_to_gm")
def l1_to_gm(row: Instruction) -> str:
    return f"l1_copies.to_gm(f, {base(Space.GM)}, {base(Space.L1)})"


QUANTISED = {
    Quantisation.FLOAT_TO_BYTE: "float_to_byte",
    Quantisation.INTEGER_TO_BYTE: "integer_to_byte",
    Quantisation.INTEGER_TO_HALF: "integer_to_half",
}


@of_family("fixpipe", "fixpipe_l1")
def fixpipe(row: Instruction) -> str:
    s, d = row.source_dtype, row.dtype
    to = f"e.{SATURATE[d.name]}" if d.is_float else "e.same"
    form = "f.nz2nd, f.channel_split, f.atomic" if row.family is FIXPIPE_GM else "0, 0, 0"
    return (
        f"fixpipe.drain(f, {base(row.spaces()[0])}, {base(Space.L0C)}, {SCRATCH}, {form}, "
        f"{stored(s)}, {stored(d)}, {d.bytes}, {to})"
    )


@of_family("fixpipe_scaled", "fixpipe_scales", "fixpipe_l1_scaled", "fixpipe_l1_scales")
def fixpipe_by_scale(row: Instruction) -> str:
    memory = row.spaces()[0]
    form = "f.nz2nd, f.atomic" if memory is Space.GM else "0, 0"
    source = base(Space.L0C)
    return (
        f"fixpipe.drain_by_scale(f, {base(memory)}, {source}, {SCRATCH}, {form}, {quantised(row)})"
    )


def quantised(row: Instruction) -> str:
    """Where the scales lie and how far apart, and the way of one element."""
    d = row.dtype
    words, step = f"fixpipe.word_in({SCRATCH}, f.quant_pre)", 0
    if any(field.space is Space.FB for field in row.fields):
        words, step = f"{base(Space.FB)} + f.words", "fixpipe.WORD_BYTES"
    convert = f"fixpipe.{QUANTISED[Quantisation(row.facts.variant)]}"
    bits = f"np.uint{8 * d.bytes}"
    return f"{words}, {step}, {stored(row.source_dtype)}, {bits}, {d.bytes}, {convert}"


@of_family("load3d_a", "load3d_b")
def load3d(row: Instruction) -> str:
    l1, target = base(Space.L1), base(row.spaces()[0])
    bits = f"np.uint{8 * row.dtype.bytes}"
    to_l0b = int(row.family is LOAD3D_B)
    return f"load3d.load3d(f, {l1}, {target}, {SCRATCH}, {bits}, {row.dtype.bytes}, {to_l0b})"


@of_family("mad", "mad_single", "mad_bias", "mad_single_bias")
def mad(row: Instruction) -> str:
    a, b, c = base(Space.L0A), base(Space.L0B), base(Space.L0C)
    if row.dtype == F16:
        return f"cube.mad_halves(f, {a}, {b}, {c})"
    s = row.source_dtype
    second = I8 if row.facts.variant == MIXED_SIGNS else s
    floats = row.dtype.is_float
    total, multiply = ("np.float32", "floats") if floats else ("np.int32", "words")
    decodes = [decode(kind) if floats else "cube.to_word" for kind in (s, second)]
    has_bias = any(field.space is Space.BT for field in row.fields)
    bias, init = (f"{base(Space.BT)} + f.bias", "0") if has_bias else ("0", "f.c_init")
    hf32 = "f.hf32" if s.name == "f32" else "0"
    return (
        f"cube.mad(f, {a}, {b}, {c}, {bias}, {SCRATCH}, {stored(s)}, {stored(second)}, {s.bytes}, "
        f"{decodes[0]}, {decodes[1]}, {total}, cube.multiply_{multiply}, {init}, {hf32})"
    )
