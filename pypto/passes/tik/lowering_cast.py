"""Conversions between element types, in the steps the machine has."""

from __future__ import annotations

from collections.abc import Iterator

from pypto.passes.tik.lowering_bits import compare_bits, invert_bits
from pypto.passes.tik.lowering_bits import source as number_source
from pypto.passes.tik.lowering_ramp import ramp
from pypto.passes.tik.lowering_state import Lowering, Tile, same_bits
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
    mnemonic = next(mnemonics(source.dtype, out.dtype, rounding), None)
    if mnemonic is None:
        raise state.unsupported(
            f"conversion from {source.dtype} to {out.dtype}", "go through float32"
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
    """Rows that convert with this rounding; an exact conversion has no suffix."""
    for suffix in (SUFFIX[rounding], ""):
        name = f"vconv_{source}2{target}{suffix}"
        if name in BY_MNEMONIC:
            yield name


def choose_ones(state: Lowering, bits: Tile, out: Tile) -> None:
    """1 where a bit is set, else 0."""
    dtype = out.dtype
    if dtype.bytes not in (2, 4):
        between = state.scratch(out, F16 if dtype.bytes == 1 else I32)
        choose_ones(state, bits, between)
        cast(state, between, out, "rint")
        return
    state.vector(
        f"vsel.{same_bits(dtype)}",
        out.count,
        dst=out.pointer,
        mask=bits.pointer,
        **number_source(state, "src0", 1, dtype),
        **number_source(state, "src1", 0, dtype),
    )


def test_zero(state: Lowering, source: Tile, bits: Tile) -> None:
    """A bit where an element is not zero; the source is a number in whole repeats."""
    if source.dtype in (F16, F32):
        compare_bits(state, "ne", source, 0, bits)
    elif source.dtype == I32:
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
    state.vector(f"vshl.{dtype}", out.count, dst=out.pointer, src=source.pointer, scalar=amount)
    right = dtype if narrow.kind == "i" else {2: U16, 4: U32}[dtype.bytes]
    state.vector(f"vshr.{right}", out.count, dst=out.pointer, src=out.pointer, scalar=amount)


def to_byte(state: Lowering, source: Tile, out: Tile, rounding: str) -> None:
    """8-bit integers: from floats saturated, from integers wrapped; f16 holds them exactly."""
    start, end = source.dtype, out.dtype
    wide = state.scratch(out, I16 if start == I16 else I32)
    if start.is_float:
        cast(state, source, wide, rounding)
        low, high = (-128, 127) if end == I8 else (0, 255)
        for name, limit in (("vmaxs", low), ("vmins", high)):
            state.vector(f"{name}.i32", out.count, dst=wide.pointer, src=wide.pointer, scalar=limit)
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
