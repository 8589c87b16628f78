"""Pieces of the calls that make up generated modules: types, memories, tables of calls."""

from __future__ import annotations

from collections.abc import Callable

from pypto.target.dtypes import DType
from pypto.target.instruction import Instruction
from pypto.target.memory import SPACES, Space

# How an element type lies in memory, and its way to f32 and back; integers stay as they are.
STORED = {"f16": "uint16", "bf16": "uint16", "f32": "float32"}
DECODE = {"f16": "from_half", "bf16": "from_bfloat"}
ENCODE = {"f16": "to_half", "bf16": "to_bfloat"}
FROM_DOUBLE = {"f16": "round_half", "f32": "round_single"}
SATURATE = {"f16": "to_half_saturated", "bf16": "to_bfloat_saturated", "f32": "same"}
SCRATCH = "t[MEMORY_SCRATCH]"

Call = Callable[[Instruction], str]
Calls = dict[str, Call]


def stored(dtype: DType) -> str:
    """The NumPy type of an element in memory."""
    return f"np.{STORED.get(dtype.name, dtype.public_name)}"


def decode(dtype: DType) -> str:
    return f"e.{DECODE.get(dtype.name, 'same')}"


def encode(dtype: DType) -> str:
    return f"e.{ENCODE.get(dtype.name, 'same')}"


def base(space: Space) -> str:
    """The base address of a space in the memory table."""
    return f"t[{SPACES.index(space)}]"


def bits_kind(row: Instruction) -> str:
    return f"np.uint{8 * row.dtype.bytes}, {row.dtype.bytes}"


def register_in(calls: Calls) -> Callable[..., Callable[[Call], Call]]:
    """``of_family(names)`` for a table: makes a function the call of these families."""

    def of_family(*names: str) -> Callable[[Call], Call]:
        def register(call: Call) -> Call:
            calls.update(dict.fromkeys(names, call))
            return call

        return register

    return of_family
