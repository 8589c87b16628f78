"""Vector instructions on a number of elements where no mask can count: repeats, then a rest.

Whole repeats go in pieces of as many as one instruction takes, the lanes left over in one repeat
of their own. Nothing is emitted for none of either: no instruction takes 0 repeats or lanes there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import BlockArgument, SSAValue

from pypto.dialects import tik
from pypto.dialects.emitter import Emitter, Index
from pypto.dialects.scalars import constant_of
from pypto.passes.tik.lane_masks import first_lanes
from pypto.passes.tik.sync_units import DISJOINT
from pypto.target.instruction import Instruction, Kind
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

MAX_REPEATS = 255

Value = int | float | SSAValue


def emit_counted(emit: Emitter, mnemonic: str, count: Index, fields: Mapping[str, Value]) -> None:
    """A vector instruction on the first ``count`` elements, in whole repeats and a rest."""
    row = BY_MNEMONIC[mnemonic]
    lanes = REPEAT_BYTES // max(row.facts.dst_bytes, row.facts.src_bytes)
    most = most_repeats(row, fields)
    if not isinstance(count, int) and most <= 1:
        with emit.if_(emit.compare_lt(0, count)):
            emit.instruction(mnemonic, **fields, **first_lanes(emit, count, lanes))
        return
    whole = emit.floor_div(count, lanes)
    for start, size in pieces(emit, whole, most):
        emit.instruction(mnemonic, repeat=size, **further_on(emit, row, fields, start))
    rest = 0 if factor_of(count) % lanes == 0 else emit.remainder(count, lanes)
    with emit.if_(emit.compare_lt(0, rest)):
        masked = further_on(emit, row, fields, whole)
        emit.instruction(mnemonic, **masked, **first_lanes(emit, rest, lanes))


def most_repeats(row: Instruction, fields: Mapping[str, Value]) -> int:
    """Whole repeats that fit into the slot the result lies in."""
    pointer = fields["dst"]
    assert isinstance(pointer, SSAValue)
    slot = tik.slot_of(pointer)
    assert slot is not None
    repeat = fields.get("dst_repeat", default_of(row, "dst_repeat"))
    bytes = repeat * BLOCK_BYTES if isinstance(repeat, int) and repeat else REPEAT_BYTES
    return max(1, slot.allocation.slot_bytes // bytes)


def pieces(emit: Emitter, total: Index, most: int) -> Iterator[tuple[Index, Index]]:
    """Start and size of pieces of ``total`` repeats, itself at most ``most``; none is empty."""
    if isinstance(total, int):
        for start in range(0, total, MAX_REPEATS):
            yield start, min(MAX_REPEATS, total - start)
    elif most <= MAX_REPEATS:
        with emit.if_(emit.compare_lt(0, total)):
            yield 0, total
    else:
        with disjoint_loop(emit, emit.ceil_div(total, MAX_REPEATS)) as turn:
            start = emit.mul(turn, MAX_REPEATS)
            yield start, emit.min(MAX_REPEATS, emit.sub(total, start))


@contextmanager
def disjoint_loop(emit: Emitter, trips: Index) -> Iterator[Index]:
    """A loop whose turns write different bytes of every buffer acquired outside of it."""
    with emit.for_(0, trips) as loop:
        if isinstance(loop.index, BlockArgument):
            made = loop.index.block.parent_op()
            if isinstance(made, scf.ForOp):
                made.attributes[DISJOINT] = UnitAttr()
        yield loop.index


def further_on(
    emit: Emitter, row: Instruction, fields: Mapping[str, Value], repeats: Index
) -> dict[str, Value]:
    """The fields with every address ``repeats`` repeats further on, at its own stride."""
    moved = dict(fields)
    for field in row.fields:
        pointer = fields.get(field.name)
        if field.kind is Kind.ADDRESS and isinstance(pointer, SSAValue):
            name = f"{field.name}_repeat"
            stride = fields.get(name, default_of(row, name))
            assert not isinstance(stride, float)
            offset = emit.mul(repeats, emit.mul(stride, BLOCK_BYTES))
            moved[field.name] = emit.offset(pointer, offset)
    return moved


def default_of(row: Instruction, name: str) -> int:
    default = next(field.default for field in row.fields if field.name == name)
    assert default is not None
    return default


def factor_of(value: Index) -> int:
    """A number that a value is known to be a multiple of."""
    number = value if isinstance(value, int) else constant_of(value)
    if number is not None:
        return number
    assert isinstance(value, SSAValue)
    owner = value.owner
    if isinstance(owner, arith.MuliOp):
        return factor_of(owner.lhs) * factor_of(owner.rhs)
    if isinstance(owner, arith.AndIOp):
        mask = constant_of(owner.rhs)
        return mask & -mask if mask else 1
    return 1
