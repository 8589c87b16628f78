"""Which kernel computes a row: the imports and the call that make up its generated module."""

from __future__ import annotations

from pypto.emulator.body_parts import (
    DECODE,
    FROM_DOUBLE,
    SATURATE,
    SCRATCH,
    Calls,
    base,
    bits_kind,
    decode,
    encode,
    register_in,
    stored,
)
from pypto.emulator.cube_bodies import CUBE_CALLS
from pypto.target.instruction import Instruction
from pypto.target.memory import REPEAT_BYTES, SPACES, VECTOR_REGISTER_BYTES, Space

ELEMENTS = {
    "vadd": "add",
    "vsub": "subtract",
    "vmul": "multiply",
    "vmax": "larger",
    "vmin": "smaller",
    "vdiv": "divide",
    "vand": "bit_and",
    "vor": "bit_or",
    "vadds": "add",
    "vmuls": "multiply",
    "vmaxs": "larger",
    "vmins": "smaller",
    "vlrelu": "leaky",
    "vshl": "shift_left",
    "vabs": "absolute",
    "vrelu": "relu",
    "vnot": "invert",
    "vcopy": "copied",
    "vexp": "exponential",
    "vln": "logarithm",
    "vsqrt": "square_root",
    "vrec": "reciprocal",
    "vrsqrt": "reciprocal_root",
    "vcadd": "add",
    "vcmax": "larger",
    "vcmin": "smaller",
    "vcgadd": "add",
    "vcgmax": "larger",
    "vcgmin": "smaller",
    "vcpadd": "add",
    "vaddrelu": "sum_relu",
    "vsubrelu": "difference_relu",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
# Where integers, or an operation before a cast, need a function of their own.
OF_TYPE = {
    "vrelu.i32": "integer_relu",
    "vaddrelu.i16": "short_sum_relu",
    "vsubrelu.i16": "short_difference_relu",
    "vaddreluconv_f162i8": "half_sum_relu",
    "vsubreluconv_f162i8": "half_difference_relu",
    "vmulconv_f162i8": "half_product",
    "vmulconv_f162u8": "half_product",
    "vaddreluconv_f322f16": "sum_relu",
    "vsubreluconv_f322f16": "difference_relu",
    "vaddreluconv_i162i8": "short_sum_relu",
    "vsubreluconv_i162i8": "short_difference_relu",
}
NARROWING = {
    ("f16", "i8"): "c.nearest_i8",
    ("f16", "u8"): "c.nearest_u8",
    ("i16", "i8"): "c.clipped_i8",
}
INFINITIES = {"f16": 0x7C00, "bf16": 0x7F80}
FUSED = {"vmla": "multiply_add", "vmadd": "multiply_old", "vmaddrelu": "multiply_old_relu"}
IN_DOUBLE = {"vexp", "vln", "vsqrt"}


def element(row: Instruction) -> str:
    return f"e.{OF_TYPE.get(row.mnemonic) or ELEMENTS[row.op_name]}"


def infinity(row: Instruction) -> int:
    """The bits of infinity in the row's type where results may saturate, else 0."""
    return INFINITIES.get(row.dtype.name, 0)


UB = base(Space.UB)
UB_LIMIT = f"t[MEMORY_LIMITS + {SPACES.index(Space.UB)}]"
VR = base(Space.VR)
CMPMASK = f"{VR} + f.cmpmask"

CALLS: Calls = dict(CUBE_CALLS)
of_family = register_in(CALLS)


def scalar(row: Instruction) -> str:
    """The scalar operand as an element of the source's type."""
    s = row.source_dtype
    if s.name == "f32":
        return "float_of_bits(np.uint32(f.scalar))"
    if s.name in DECODE:
        return f"{decode(s)}(np.uint16(f.scalar))"
    return f"{stored(s)}(f.scalar)"


@of_family("binary")
def binary(row: Instruction) -> str:
    s, d = row.source_dtype, row.dtype
    to = NARROWING.get((s.name, d.name)) or encode(d)
    return (
        f"lanes.binary(f, {UB}, {SCRATCH}, {element(row)}, {stored(s)}, {s.bytes}, {stored(d)}, "
        f"{d.bytes}, {decode(s)}, {to}, {infinity(row)})"
    )


def mapped(row: Instruction, operation: str, factor: str, to: str) -> str:
    s, d = row.source_dtype, row.dtype
    return (
        f"lanes.mapped(f, {UB}, {SCRATCH}, {operation}, {factor}, {stored(s)}, {s.bytes}, "
        f"{stored(d)}, {d.bytes}, {decode(s)}, {to}, {infinity(row)})"
    )


@of_family("unary")
def unary(row: Instruction) -> str:
    if row.op_name.startswith("vconv_"):
        return cast(row)
    to = f"e.{FROM_DOUBLE[row.dtype.name]}" if row.op_name in IN_DOUBLE else encode(row.dtype)
    return mapped(row, element(row), "0", to)


def cast(row: Instruction) -> str:
    """The element function and the scalar of a cast; the scalar is the rounding mode."""
    s, d, mode = row.source_dtype, row.dtype, str(row.facts.variant)
    nearest = row.facts.variant < 2
    if s == d:
        return mapped(row, "c.round_single", mode, encode(d))
    if not d.is_float:
        kind = "float" if s.is_float else "integer"
        return mapped(row, f"c.{kind}_to_{d.name}", mode, "e.same")
    if not nearest and s.name == "i64":
        return mapped(row, "c.long_to_f32", mode, "c.single")
    if not nearest:
        return mapped(row, f"c.number_to_{d.name}", mode, "c.single" if d.bytes == 4 else "e.same")
    return mapped(row, "e.copied", mode, encode(d) if d.bytes < 4 else "e.round_single")


@of_family("scalar_binary")
def scalar_binary(row: Instruction) -> str:
    if row.op_name == "vshl":
        return mapped(row, element(row), shift_amount(row), "e.same")
    return mapped(row, element(row), scalar(row), encode(row.dtype))


def shift_amount(row: Instruction) -> str:
    return f"min(f.scalar, {8 * row.dtype.bytes})"


@of_family("shift_right")
def shift_right(row: Instruction) -> str:
    plain = mapped(row, "e.shift_right", shift_amount(row), "e.same")
    rounded = mapped(row, "e.shift_right_rounded", shift_amount(row), "e.same")
    return f"{plain} if f.round == 0 else {rounded}"


@of_family("duplicate")
def duplicate(row: Instruction) -> str:
    d = row.dtype
    bits = f"np.uint{8 * d.bytes}"
    return f"lanes.filled(f, {UB}, {bits}(f.scalar), {bits}, {d.bytes})"


@of_family("reduce")
def reduce(row: Instruction) -> str:
    d = row.dtype

    def call(node: str, last: str) -> str:
        return (
            f"reductions.reduced(f, {UB}, {SCRATCH}, {element(row)}, {stored(d)}, {d.bytes}, "
            f"{decode(d)}, {node}, {last}, {row.facts.variant})"
        )

    plain = encode(d)
    if d.name not in INFINITIES:
        return call(plain, plain)
    last = f"e.{SATURATE[d.name]}"
    node = last if row.op_name.endswith("add") else plain
    return f"{call(plain, plain)} if f.saturation == 0 else {call(node, last)}"


@of_family("compare")
def compare(row: Instruction) -> str:
    d, kind = row.dtype, ELEMENTS[row.op_name.split("_")[1]]
    zero = "np.float32(0)" if d.is_float else f"{stored(d)}(0)"
    return (
        f"lanes.compare(f, {UB}, {SCRATCH}, e.{kind}, {stored(d)}, {d.bytes}, {decode(d)}, {zero})"
    )


@of_family("compare_scalar")
def compare_scalar(row: Instruction) -> str:
    d, kind = row.dtype, ELEMENTS[row.op_name.split("_")[1]]
    return (
        f"lanes.compare_scalar(f, {UB}, {SCRATCH}, e.{kind}, {scalar(row)}, {stored(d)}, "
        f"{d.bytes}, {decode(d)})"
    )


@of_family("select")
def select(row: Instruction) -> str:
    lanes = REPEAT_BYTES // row.dtype.bytes
    return f"lanes.selected(f, {UB}, {SCRATCH}, {UB} + f.mask, {lanes}, {bits_kind(row)})"


@of_family("select_by_mask")
def select_by_mask(row: Instruction) -> str:
    return f"lanes.selected(f, {UB}, {SCRATCH}, {CMPMASK}, 0, {bits_kind(row)})"


@of_family("select_scalar")
def select_scalar(row: Instruction) -> str:
    return f"picks.selected_scalar(f, {UB}, {SCRATCH}, {VR}, {bits_kind(row)})"


@of_family("compare_to_mask")
def compare_to_mask(row: Instruction) -> str:
    d, kind = row.dtype, ELEMENTS[row.op_name.split("_")[1]]
    return f"picks.compare_to_mask(f, {UB}, {VR}, e.{kind}, {stored(d)}, {d.bytes}, {decode(d)})"


@of_family("set_mask")
def set_mask(row: Instruction) -> str:
    return f"picks.copy_register({CMPMASK}, {UB} + f.src, {VECTOR_REGISTER_BYTES})"


@of_family("get_mask")
def get_mask(row: Instruction) -> str:
    return f"picks.copy_register({UB} + f.dst, {CMPMASK}, {VECTOR_REGISTER_BYTES})"


def fused_types(row: Instruction) -> str:
    s, d = row.source_dtype, row.dtype
    return (
        f"{stored(s)}, {s.bytes}, {stored(d)}, {d.bytes}, {decode(s)}, {decode(d)}, {encode(d)}, "
        f"{infinity(row)}"
    )


@of_family("fused")
def fused(row: Instruction) -> str:
    operation = FUSED[row.op_name]
    return f"fused.fused(f, {UB}, {SCRATCH}, fused.{operation}, {fused_types(row)})"


@of_family("fused_scalar")
def fused_scalar(row: Instruction) -> str:
    return f"fused.fused_scalar(f, {UB}, {SCRATCH}, {scalar(row)}, {fused_types(row)})"


@of_family("reduce_place")
def reduce_place(row: Instruction) -> str:
    d = row.dtype
    keeps = "e.greater_equal" if row.op_name.startswith("vcmax") else "e.less_equal"
    return (
        f"picks.reduced_place(f, {UB}, {keeps}, {stored(d)}, {d.bytes}, {decode(d)}, "
        f"np.uint{8 * d.bytes}, {row.facts.variant})"
    )


@of_family("gather_blocks")
def gather_blocks(row: Instruction) -> str:
    return f"picks.gathered_blocks(f, {UB}, {SCRATCH}, {UB_LIMIT})"


@of_family("compact")
def compact(row: Instruction) -> str:
    return f"picks.compacted(f, {UB}, {SCRATCH}, {bits_kind(row)})"


@of_family("bit_sort")
def bit_sort(row: Instruction) -> str:
    d = row.dtype
    return f"sorting.sorted_pairs(f, {UB}, {SCRATCH}, {stored(d)}, {d.bytes}, {decode(d)})"


@of_family("merge_sort")
def merge_sort(row: Instruction) -> str:
    return f"sorting.merged(f, {UB}, {SCRATCH}, {stored(row.dtype)}, {decode(row.dtype)})"


@of_family("dequantise")
def dequantise(row: Instruction) -> str:
    return mapped(row, "dequantised.dequantised", "e.from_half(np.uint16(f.scale))", "e.to_half")


@of_family("to_bytes")
def to_bytes(row: Instruction) -> str:
    word = f"fixpipe.word_in({SCRATCH} + {REPEAT_BYTES}, f.scale)"
    return f"dequantised.to_bytes(f, {UB}, {SCRATCH}, {word}, 0, {row.facts.variant})"


@of_family("to_bytes_by_table")
def to_bytes_by_table(row: Instruction) -> str:
    return f"dequantised.to_bytes(f, {UB}, {SCRATCH}, {UB} + f.words, 8, {row.facts.variant})"


@of_family("block_broadcast")
def block_broadcast(row: Instruction) -> str:
    return f"lanes.broadcast_blocks(f, {UB}, {bits_kind(row)})"


@of_family("gather")
def gather(row: Instruction) -> str:
    return f"lanes.gathered(f, {UB}, {UB_LIMIT}, {bits_kind(row)})"


@of_family("copy_in")
def copy_in(row: Instruction) -> str:
    return f"moves.copy_in(f, {base(Space.GM)}, {UB}, {bits_kind(row)})"


@of_family("copy_out")
def copy_out(row: Instruction) -> str:
    return f"moves.copy_out(f, {base(Space.GM)}, {UB})"


@of_family(
    "blocks_gm_to_ub", "blocks_gm_to_l1", "blocks_l1_to_ub", "blocks_ub_to_l1", "blocks_in_ub"
)
def copy_blocks(row: Instruction) -> str:
    target, source = (base(space) for space in row.spaces())
    return f"blocks.copy_blocks(f, {target}, {source})"


@of_family("blocks_ub_to_gm")
def store_blocks(row: Instruction) -> str:
    return f"blocks.store_blocks(f, {base(Space.GM)}, {UB})"


@of_family("drain")
def drain(row: Instruction) -> str:
    d = row.dtype
    return f"blocks.drain(f, {UB}, {base(Space.L0C)}, {stored(d)}, {d.bytes}, {encode(d)})"


@of_family("transpose")
def transpose(row: Instruction) -> str:
    turn = "turn_words" if row.dtype.bytes == 4 else "turn_shorts"
    return f"turns.transpose(f, {UB}, {SCRATCH}, turns.{turn})"


@of_family("transpose_halves")
def transpose_halves(row: Instruction) -> str:
    return f"turns.transpose_halves(f, {UB}, {SCRATCH})"


@of_family("square")
def square(row: Instruction) -> str:
    return f"turns.transpose_square(f, {UB}, {SCRATCH})"


def body_call(row: Instruction) -> str:
    """The expression that runs a row on its fields ``f`` and the memory table ``t``."""
    return CALLS[row.family.name](row)
