"""Conversions between element types, in the steps the machine has."""

from __future__ import annotations

from collections.abc import Iterator

from pypto.passes.tik.lowering_bits import compare_bits, invert_bits, with_number
from pypto.passes.tik.lowering_bits import source as number_source
from pypto.passes.tik.lowering_ramp import ramp
from pypto.passes.tik.lowering_select import choose, chooses
from pypto.passes.tik.lowering_state import Lowering, Tile
from pypto.target.dtypes import BF16, F16, F32, I1, I8, I16, I32, I64, U8, U16, U32, DType
from pypto.target.instructions import BY_MNEMONIC

# Rounding of the catalogue -> suffix of vconv.
SUFFIX = {"rint": "r", "trunc": "z", "floor": "f", "ceil": "c", "away": "a"}

# Element types on the way where no instruction converts directly. Every step but the last is
# exact, except from 32- and 64-bit integers to narrow floats, which round twice.
ROUTES: dict[tuple[DType, DType], tuple[DType, ...]] = {
    (F16, BF16): (F32,),
    (BF16, F16): (F32,),
    (F16, I64): (F32,),
    (BF16, I64): (F32,),
    (BF16, I16): (F32,),
    (I32, F16): (F32,),
    (I32, BF16): (F32,),
    (I64, F16): (F32,),
    (I64, BF16): (F32,),
    (I16, BF16): (F32,),
    (I16, I32): (F32,),
    (I16, I64): (F32,),
    **{(byte, F32): (F16,) for byte in (I8, U8)},
    **{(byte, BF16): (F16, F32) for byte in (I8, U8)},
    **{(byte, I32): (F16,) for byte in (I8, U8)},
    **{(byte, I16): (F16,) for byte in (I8, U8)},
    **{(byte, I64): (F16, F32) for byte in (I8, U8)},
}


def cast(state: Lowering, source: Tile, out: Tile, rounding: str) -> None:
    """``out`` = ``source`` in the element type of ``out``."""
    start, end = source.dtype, out.dtype
    if start == end or {start, end} == {I8, U8}:
        state.copy(out, source)
    elif start == I1:
        choose_ones(state, source, out)
    elif end == I1:
        test_zero(state, source, out)
    elif end in (I8, U8) and start != F16:
        to_byte(state, source, out, rounding)
    elif start == I64 and end in (I32, I16):
        low = out if end == I32 else state.scratch(out, I32)
        low_words(state, source, low)
        if low is not out:
            cast(state, low, out, rounding)
    elif (start, end) == (I32, I16):
        wrapped = state.scratch(out, I32)
        sign_extend(state, source, wrapped, I16)
        step(state, wrapped, out, rounding)
    else:
        for hop in ROUTES.get((start, end), ()):
            between = state.scratch(out, hop)
            step(state, source, between, "rint")
            source = between
        step(state, source, out, rounding)


def step(state: Lowering, source: Tile, out: Tile, rounding: str) -> None:
    """One conversion instruction; strides count the wider type's repeats."""
    names = mnemonics(source.dtype, out.dtype, rounding)
    mnemonic = next(filter(state.has, names), None)
    if mnemonic is None:
        raise state.unsupported(
            f"conversion from {source.dtype} to {out.dtype}", "use float32 or int32"
        )
    wider = max(source.size, out.size)
    state.vector(
        mnemonic,
        out.count,
        dst=out.pointer,
        src=source.pointer,
        dst_repeat=8 * out.size // wider,
        src_repeat=8 * source.size // wider,
    )


def mnemonics(source: DType, target: DType, rounding: str) -> Iterator[str]:
    """Rows that convert with this rounding; an exact conversion has no suffix, on any machine."""
    name = f"vconv_{source}2{target}"
    yield name + SUFFIX[rounding]
    if rounding == "rint" or f"{name}z" not in BY_MNEMONIC:
        yield name


def choose_ones(state: Lowering, bits: Tile, out: Tile) -> None:
    """1 where a bit is set, else 0."""
    dtype = out.dtype
    if dtype.bytes in (2, 4) and chooses(state, dtype):
        choose(state, bits, 1, 0, out)
        return
    has_whole = dtype.bytes > 4 and chooses(state, I32)
    between = state.scratch(out, I32 if has_whole else F16)
    choose_ones(state, bits, between)
    cast(state, between, out, "rint")


def test_zero(state: Lowering, source: Tile, bits: Tile) -> None:
    """A bit where an element is not zero; the source is a number in whole repeats."""
    if source.dtype in (F16, F32):
        compare_bits(state, "ne", source, 0, bits)
    elif source.dtype == I32 and state.has("vcmpv_eq.i32"):
        compare_bits(state, "eq", source, 0, bits)
        invert_bits(state, bits)
    else:
        dtype = F16 if source.size == 1 else F32
        between = state.whole_scratch(source, dtype)
        cast(state, source, between, "rint")
        test_zero(state, between, bits)


def sign_extend(state: Lowering, source: Tile, out: Tile, narrow: DType) -> None:
    """The low bits of integers, extended to their width: what wrapping to ``narrow`` keeps."""
    dtype = source.dtype
    amount = 8 * (dtype.bytes - narrow.bytes)
    if not state.has(f"vshl.{dtype}"):
        keep_low_bits(state, source, out, narrow)
        return
    state.vector(f"vshl.{dtype}", out.count, dst=out.pointer, src=source.pointer, scalar=amount)
    right = dtype if narrow.kind == "i" else {2: U16, 4: U32}[dtype.bytes]
    state.vector(f"vshr.{right}", out.count, dst=out.pointer, src=out.pointer, scalar=amount)


def keep_low_bits(state: Lowering, source: Tile, out: Tile, narrow: DType) -> None:
    """``sign_extend`` of i32 without shifts: ((x + half) & ones) - half, half 0 if unsigned."""
    if source.dtype != I32:
        raise state.unsupported(f"wrapping {source.dtype} elements", "cast to int32 first")
    ones = 2 ** (8 * narrow.bytes) - 1
    half = (ones + 1) // 2 if narrow.kind == "i" else 0
    words = state.emit.mul(out.count, I32.bytes // U16.bytes)
    mask = number_source(state, "src1", ones, I32)
    start = source.pointer
    if half:
        with_number(state, "vadd", I32, out.count, out.pointer, start, half)
        start = out.pointer
    state.vector("vand.u16", words, dst=out.pointer, src0=start, **mask)
    if half:
        with_number(state, "vadd", I32, out.count, out.pointer, out.pointer, -half)


def to_byte(state: Lowering, source: Tile, out: Tile, rounding: str) -> None:
    """8-bit integers: from floats saturated, from integers wrapped; f16 holds them exactly."""
    start, end = source.dtype, out.dtype
    wide = state.scratch(out, I16 if start == I16 else I32)
    if start.is_float:
        cast(state, source, wide, rounding)
        low, high = (-128, 127) if end == I8 else (0, 255)
        for name, limit in (("vmax", low), ("vmin", high)):
            with_number(state, name, I32, out.count, wide.pointer, wide.pointer, limit)
    else:
        if start == I64:
            low_words(state, source, wide)
            source = wide
        sign_extend(state, source, wide, end)
    half = state.scratch(out, F16)
    cast(state, wide, half, "rint")
    step(state, half, out, "rint")


def low_words(state: Lowering, source: Tile, out: Tile) -> None:
    """The low halves of 64-bit integers."""
    offsets = state.scratch(out, I32)
    ramp(state, offsets.pointer, out.count, out.most(state.granule), 0, I64.bytes)
    state.vector(
        "vgather.u32",
        out.count,
        dst=out.pointer,
        offsets=offsets.pointer,
        base=source.pointer,
    )
