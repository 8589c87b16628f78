"""One emit function per elementwise primitive of the catalogue.

Every function writes its result with its last instruction only, so that the result may lie where
an operand lies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from xdsl.ir import SSAValue

from pypto.dialects.emitter import Index
from pypto.errors import CompileError
from pypto.passes.tik.lowering_bits import (
    BITS_PER_WORD,
    Operand,
    compare_bits,
    invert_bits,
    number,
    source,
    with_number,
)
from pypto.passes.tik.lowering_cast import cast
from pypto.passes.tik.lowering_select import choose
from pypto.passes.tik.lowering_state import Lowering, Tile
from pypto.target.dtypes import F16, F32, I1, I16, I32, U16, DType


@dataclass(frozen=True)
class Call:
    """An elementwise primitive on tiles of equal extents; at most one operand is a number."""

    state: Lowering
    operator: str
    inputs: tuple[Operand, ...]
    out: Tile
    rounding: str = "rint"

    @property
    def tiles(self) -> list[Tile]:
        return [x for x in self.inputs if isinstance(x, Tile)]

    @property
    def dtype(self) -> DType:
        """The element type of the operands."""
        return self.tiles[-1].dtype

    def instruct(
        self, mnemonic: str, count: Index | None = None, **fields: int | float | SSAValue
    ) -> None:
        """An instruction on all elements; an error if the machine has no such row."""
        if not self.state.has(mnemonic):
            raise self.unsupported()
        self.state.vector(mnemonic, self.out.count if count is None else count, **fields)

    def unsupported(self) -> CompileError:
        what = f"{self.operator} of {self.dtype} elements"
        return self.state.unsupported(what, "cast to float32 first")

    def source(self, field: str, operand: Operand, dtype: DType) -> dict[str, int | SSAValue]:
        """The fields of a source operand of a type."""
        return source(self.state, field, operand, dtype)


def binary(call: Call, name: str) -> None:
    """Both operands as blocks or tiles."""
    x, y = call.inputs
    sources = call.source("src0", x, call.dtype) | call.source("src1", y, call.dtype)
    call.instruct(f"{name}.{call.dtype}", dst=call.out.pointer, **sources)


def commutative(call: Call, name: str) -> None:
    """A number may be on either side."""
    numbers = [x for x in call.inputs if not isinstance(x, Tile)]
    if not numbers:
        binary(call, name)
    elif call.state.has(f"{name}.{call.dtype}"):
        places = call.out.pointer, call.tiles[0].pointer
        with_number(call.state, name, call.dtype, call.out.count, *places, numbers[0])
    else:
        raise call.unsupported()


def subtract(call: Call) -> None:
    x, y = call.inputs
    if isinstance(y, Tile):
        binary(call, "vsub")
    else:
        commutative(replace(call, inputs=(x, -number(y, call.dtype))), "vadd")


def unary(call: Call, name: str) -> None:
    call.instruct(f"{name}.{call.dtype}", dst=call.out.pointer, src=call.tiles[0].pointer)


def absolute(call: Call) -> None:
    if call.dtype.is_float:
        unary(call, "vabs")
        return
    (x,) = call.tiles
    negative = call.state.scratch(call.out, call.dtype)
    commutative(replace(call, inputs=(x, -1), out=negative), "vmul")
    call.instruct(f"vmax.{call.dtype}", dst=call.out.pointer, src0=x.pointer, src1=negative.pointer)


def convert(call: Call) -> None:
    cast(call.state, call.tiles[0], call.out, call.rounding)


# Comparison -> the same with its operands exchanged.
EXCHANGED = {"eq": "eq", "lt": "gt", "le": "ge"}


def compare(call: Call) -> None:
    if call.dtype == I32:
        compare_integers(call)
    elif call.dtype in (F16, F32):
        x, y = call.inputs
        if isinstance(x, Tile):
            compare_bits(call.state, call.operator, x, y, call.out)
        elif isinstance(y, Tile):
            compare_bits(call.state, EXCHANGED[call.operator], y, x, call.out)
    else:
        raise call.state.unsupported(
            f"comparison of {call.dtype} elements", "cast to float32 first"
        )


def compare_integers(call: Call) -> None:
    """x < y is not (min(x, y) == y), x <= y is min(x, y) == x: no other comparison exists."""
    x, y = call.inputs
    if call.operator == "eq":
        first, second = (x, y) if isinstance(x, Tile) else (y, x)
        assert isinstance(first, Tile)
        compare_bits(call.state, "eq", first, second, call.out)
        return
    smaller = call.state.whole_scratch(call.out, I32)
    commutative(replace(call, out=smaller), "vmin")
    compare_bits(call.state, "eq", smaller, y if call.operator == "lt" else x, call.out)
    if call.operator == "lt":
        invert_bits(call.state, call.out)


def select(call: Call) -> None:
    condition, x, y = call.inputs
    assert isinstance(condition, Tile)
    dtype = call.out.dtype
    if dtype.bytes not in (2, 4):
        raise call.state.unsupported(f"selection of {dtype} elements", "cast to float32 first")
    choose(call.state, condition, x, y, call.out)


def words(call: Call) -> Index:
    """How many 16-bit words the elements are."""
    emit = call.state.emit
    if call.dtype == I1:
        return emit.ceil_div(call.out.count, BITS_PER_WORD)
    return emit.mul(call.out.count, call.dtype.bytes // U16.bytes)


def logic(call: Call, name: str) -> None:
    """Bitwise and, or, not on 16-bit words."""
    call.instruct(f"{name}.u16", words(call), dst=call.out.pointer, **logic_sources(call))


def logic_sources(call: Call) -> dict[str, int | SSAValue]:
    if len(call.inputs) == 1:
        return {"src": call.tiles[0].pointer}
    x, y = (mask_word(operand) if call.dtype == I1 else operand for operand in call.inputs)
    dtype = U16 if call.dtype == I1 else call.dtype
    return call.source("src0", x, dtype) | call.source("src1", y, dtype)


def mask_word(operand: Operand) -> Operand:
    """A truth value as 16 equal bits."""
    if isinstance(operand, Tile):
        return operand
    return 0xFFFF if operand else 0


def exclusive_or(call: Call) -> None:
    """(x | y) - (x & y), or (x | y) & ~(x & y): the machine has no xor."""
    either, both = (call.state.scratch(call.out, call.dtype) for _ in range(2))
    sources = logic_sources(call)
    call.instruct("vor.u16", words(call), dst=either.pointer, **sources)
    call.instruct("vand.u16", words(call), dst=both.pointer, **sources)
    dtype, count = (I16, words(call)) if call.dtype == I1 else (call.dtype, call.out.count)
    operands = {"dst": call.out.pointer, "src0": either.pointer, "src1": both.pointer}
    if call.state.has(f"vsub.{dtype}"):
        call.instruct(f"vsub.{dtype}", count, **operands)
    else:
        call.instruct("vnot.u16", words(call), dst=both.pointer, src=both.pointer)
        call.instruct("vand.u16", words(call), **operands)


# Arithmetic on two tiles: one instruction.
BINARY: dict[str, str] = {
    "add": "vadd",
    "sub": "vsub",
    "mul": "vmul",
    "div": "vdiv",
    "max": "vmax",
    "min": "vmin",
}

ELEMENTWISE: dict[str, Callable[[Call], None]] = {
    **{name: partial(commutative, name=BINARY[name]) for name in ("add", "mul", "max", "min")},
    "sub": subtract,
    "div": partial(binary, name="vdiv"),
    "exp": partial(unary, name="vexp"),
    "log": partial(unary, name="vln"),
    "sqrt": partial(unary, name="vsqrt"),
    "abs": absolute,
    "cast": convert,
    "eq": compare,
    "lt": compare,
    "le": compare,
    "select": select,
    "and": partial(logic, name="vand"),
    "or": partial(logic, name="vor"),
    "not": partial(logic, name="vnot"),
    "xor": exclusive_or,
}

COMPARISONS = frozenset(EXCHANGED)
