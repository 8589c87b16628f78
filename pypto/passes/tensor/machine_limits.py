"""What a program asks of a machine that lacks it: refused by name before anything is lowered."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from pypto.dialects.locations import source_of
from pypto.dialects.pypto import TensorOperation
from pypto.dialects.types import type_of
from pypto.errors import CompileError
from pypto.passes.tensor.element_types import converts_directly
from pypto.passes.tensor.units import CREATORS, CUBE
from pypto.target.dtypes import F16, F32, I1, I32, DType
from pypto.target.instructions import exists
from pypto.target.soc import Soc, examples

# Elementwise, but without arithmetic: bits that are chosen, or made from nothing.
PLAIN = ("select", *CREATORS)


def refuse_what_is_lacking(module: ModuleOp, machine: Soc) -> None:
    """Raise UNSUPPORTED_ON_SOC at the first element type or product the machine does not know."""
    for op in module.walk():
        for value in _tensors_at(op):
            dtype = type_of(value).dtype
            if dtype.is_float and not computes_in(dtype, machine.architecture):
                raise _refused(value, f"{machine.name} has no {dtype.public_name}", dtype, machine)
        if isinstance(op, TensorOperation):
            _refuse_operation(op, machine)


def _refuse_operation(op: TensorOperation, machine: Soc) -> None:
    if op.row.name in CUBE:
        dtype = type_of(op.operands[0]).dtype
        if not multiplies(dtype, machine.architecture):
            what = f"{machine.name} has no {dtype.public_name} {op.row.name}"
            raise _refused(op, what, dtype, machine)
    elif op.row.name == "reduce" or (op.row.elementwise and op.row.name not in PLAIN):
        for value in (*op.operands, *op.results):
            dtype = type_of(value).dtype
            if not computes_in(dtype, machine.architecture):
                what = f"{machine.name} has no arithmetic on {dtype.public_name}"
                raise _refused(op, what, dtype, machine)


def computes_in(dtype: DType, architecture: str) -> bool:
    """Whether vectors of an element type can be computed with, perhaps in a wider float type.

    Then the machine has every conversion to and from floats that some machine has.
    """
    if dtype in (F16, F32, I1):
        return True
    pairs = [(dtype, F16), (dtype, F32), (F16, dtype), (F32, dtype)]
    known = [pair for pair in pairs if converts_directly(*pair)]
    return bool(known) and all(_converts_on(*pair, architecture) for pair in known)


def _converts_on(source: DType, target: DType, architecture: str) -> bool:
    """Whether one instruction of an architecture converts."""
    return any(exists(f"vconv_{source}2{target}{mode}", architecture) for mode in ("", "r"))


def multiplies(dtype: DType, architecture: str) -> bool:
    """Whether products of an element type are compiled: those of floats the cube multiplies."""
    return dtype.is_float and exists(f"mad.{dtype}", architecture)


def _tensors_at(op: Operation) -> Iterator[SSAValue]:
    """The tensors an operation makes, and those that enter its blocks."""
    entering = (value for region in op.regions for block in region.blocks for value in block.args)
    for value in (*entering, *op.results):
        if isinstance(value.type, TensorType):
            yield value


def _refused(place: Operation | SSAValue, what: str, dtype: DType, machine: Soc) -> CompileError:
    return CompileError(
        "UNSUPPORTED_ON_SOC", what, location=source_of(place), fix=_fix(place, dtype, machine)
    )


def _fix(place: Operation | SSAValue, dtype: DType, machine: Soc) -> str:
    """Another element type the machine has, or a machine that has this one."""
    is_product = isinstance(place, TensorOperation) and place.row.name in CUBE
    has = multiplies if is_product else computes_in
    kin = [F16, F32] if dtype.is_float else [I32]
    names = [one.public_name for one in kin if has(one, machine.architecture)]
    others = [one.name for one in examples() if has(dtype, one.architecture)]
    return " or ".join(
        [f"use {' or '.join(names)}, e.g. .astype(np.{names[0]})"] * bool(names)
        + [f"compile for another SoC, e.g. {others[0]}"] * bool(others)
    )
