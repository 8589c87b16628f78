"""Accumulators on their way out of L0C: to global memory, or to rows in the unified buffer."""

from __future__ import annotations

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.dialects.scalars import wrap
from pypto.passes.tik.lane_masks import WORD, ones
from pypto.passes.tik.lowering_matrix import matrix_bytes
from pypto.passes.tik.lowering_state import BITS_OF_SIZE, Lowering, Tile
from pypto.passes.tile.arithmetic import ceil_div
from pypto.target.dtypes import BF16, F16, F32, DType
from pypto.target.layouts import EDGE
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

FIXPIPE: dict[DType, str] = {F32: "f32", F16: "f32f16", BF16: "f32bf16"}
DRAIN: dict[DType, str] = {F32: "f32", F16: "f32f16"}
# Bits of a mask word for the elements of one row of a drained fractal, and for the first ones.
ALL_OF_ROW = (1 << EDGE) - 1
ONE_PER_ROW = 0x0001_0001_0001_0001


def drain_to_gm(
    state: Lowering,
    total: Tile,
    target: SSAValue,
    dtype: DType,
    offset: Index,
    stride: Index,
    relu: bool,
) -> None:
    """L0C to rows of global memory, rounded to the tensor's element type."""
    emit = state.emit
    mnemonic = f"copy_matrix_cc_to_gm.{FIXPIPE[dtype]}"
    if not state.has(mnemonic):
        raise state.unsupported("an accumulator stored from l0c", "drain it to ub: tile.drain")
    emit.instruction(
        mnemonic,
        dst=state.at(target, emit.mul(offset, dtype.bytes)),
        src=total.pointer,
        n=total.columns,
        m=total.rows,
        dst_stride=stride,
        src_stride=total.pitch,
        relu=int(relu),
    )


def drain_to_ub(state: Lowering, total: Tile, out: Tile, relu: bool) -> None:
    """L0C to rows in UB, rounded to the element type there.

    Fractals arrive as they are, of the one column there is or of several to be set side by side.
    """
    emit, size = state.emit, out.size
    if out.dtype not in DRAIN:
        raise state.unsupported(f"an accumulator drained as {out.dtype}", "drain it as f16 or f32")
    mnemonic = f"copy_matrix_cc_to_ubuf.{DRAIN[out.dtype]}"
    if not state.has(mnemonic):
        raise state.unsupported("an accumulator drained to ub", "store it from l0c")
    if state.granule % EDGE:
        raise state.unsupported(
            f"an accumulator drained to rows that begin at multiples of {state.granule} elements",
            f"give the kernel tile.granule = {EDGE}",
        )
    columns = emit.ceil_div(total.columns, EDGE)
    is_one = out.type.shape[1] <= EDGE
    scratch_bytes = matrix_bytes(*out.type.shape, size)
    target = out.pointer if is_one else state.temporary("fractals", scratch_bytes)
    emit.instruction(
        mnemonic,
        dst=target,
        src=total.pointer,
        length=emit.mul(columns, emit.floor_div(total.pitch, EDGE)),
        relu=int(relu),
    )
    clear_padding(state, total, emit.sub(columns, 1), target, size)
    if is_one:
        return
    set_side_by_side(state, total, columns, target, out)


def set_side_by_side(
    state: Lowering, total: Tile, columns: Index, fractals: SSAValue, out: Tile
) -> None:
    """Columns of drained fractals to whole rows, a column or, of few rows, a row at a time."""
    emit, size = state.emit, out.size
    line = EDGE * size
    length = line // BLOCK_BYTES
    pitch_bytes = emit.mul(out.pitch, size)
    most_columns = ceil_div(out.type.shape[1], EDGE)
    by_rows = isinstance(total.rows, int) and total.rows < most_columns
    with state.disjoint(total.rows if by_rows else columns) as turn:
        if by_rows:
            gaps = {"src_gap": emit.mul(emit.sub(total.pitch, 1), length), "dst_gap": 0}
        else:
            pitch = emit.floor_div(pitch_bytes, BLOCK_BYTES)
            gaps = {"src_gap": 0, "dst_gap": emit.sub(pitch, length)}
        start = line if by_rows else emit.mul(total.pitch, line)
        end = pitch_bytes if by_rows else line
        emit.instruction(
            "copy_ubuf_to_ubuf.b32",
            dst=state.at(out.pointer, emit.mul(turn, end)),
            src=state.at(fractals, emit.mul(turn, start)),
            bursts=columns if by_rows else total.rows,
            length=length,
            **gaps,
        )


def clear_padding(state: Lowering, total: Tile, last: Index, fractals: SSAValue, size: int) -> None:
    """Zeros beside the valid part of the ``last`` column of fractals: nothing was computed there.

    Stores of whole blocks read them.
    """
    emit = state.emit
    column_bytes = emit.mul(total.pitch, EDGE * size)
    with emit.if_(emit.compare_lt(0, emit.remainder(total.columns, EDGE))):
        held = emit.sub(total.columns, emit.mul(last, EDGE))
        word = emit.mul(emit.sub(ALL_OF_ROW, ones(emit, held)), ONE_PER_ROW)
        word = wrap(word) if isinstance(word, int) else word
        words = ("mask_low", "mask_high")[: REPEAT_BYTES // size // WORD]
        emit.instruction(
            f"vector_dup.{BITS_OF_SIZE[size]}",
            dst=state.at(fractals, emit.mul(last, column_bytes)),
            scalar=0,
            repeat=emit.floor_div(column_bytes, REPEAT_BYTES),
            **dict.fromkeys(words, word),
        )
