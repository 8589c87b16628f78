"""What numba lacks: typed pointers from addresses, half floats, calls through an address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, config
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model

from pypto.emulator.state import Machine


def host_has(*features: str) -> bool:
    """Whether code may use one of the CPU features: numba compiles for this very host."""
    chosen_by_name = getattr(config, "CPU_NAME", None)
    found = dict(llvmlite.binding.get_host_cpu_features())
    return not chosen_by_name and any(found.get(feature) for feature in features)


# Without them LLVM calls library functions that the process has not.
HALF_IN_HARDWARE = host_has("f16c", "fullfp16")


def internal(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that compiled code alone calls (from Python it would crash).

    Integer constants among the arguments are plain int64: numba would compile the function anew
    for every constant.
    """
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
    compiled: Any = njit(**options)(function)
    resolve = compiled.get_call_template

    def resolve_plain(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        return resolve(tuple(types.unliteral(kind) for kind in arguments), keywords)

    compiled.get_call_template = resolve_plain
    return compiled


def emitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """An intrinsic: ``function`` gives its signature and what emits LLVM code for a call."""
    return intrinsic(function)


@emitted
def pointer(typingctx, address, element):
    """``pointer(address, np.float32)``: a pointer to that type; indexing is not checked."""
    result = types.CPointer(element.dtype)

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(result))

    return result(types.int64, element), generate


@emitted
def address_of(typingctx, target):
    """The address a pointer holds, as an int64."""

    def generate(context, builder, signature, arguments):
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(target), generate


@emitted
def move_bytes(typingctx, target, source, count):
    """Copy ``count`` bytes between addresses; the ranges may overlap."""

    def generate(context, builder, signature, arguments):
        byte = ir.IntType(8).as_pointer()
        target, source = (builder.inttoptr(a, byte) for a in arguments[:2])
        cgutils.raw_memmove(builder, target, source, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _apart(builder: ir.IRBuilder) -> ir.MDValue:
    """The metadata list of the one scope that ``store_apart`` writes."""
    module = builder.module
    domain = module.add_metadata(["pypto"])
    return module.add_metadata([module.add_metadata(["apart", domain])])


@emitted
def load_apart(typingctx, source, index):
    """``source[index]``, promised not to be what ``store_apart`` writes in other iterations.

    It lets LLVM vectorise a loop whose source is its target, element for element.
    """

    def generate(context, builder, signature, arguments):
        value = builder.load(builder.gep(arguments[0], [arguments[1]]))
        value.set_metadata("noalias", _apart(builder))
        return value

    return source.dtype(source, types.int64), generate


@emitted
def store_apart(typingctx, target, index, value):
    """``target[index] = value``, see ``load_apart``."""

    def generate(context, builder, signature, arguments):
        store = builder.store(arguments[2], builder.gep(arguments[0], [arguments[1]]))
        store.set_metadata("alias.scope", _apart(builder))
        return context.get_dummy_value()

    return types.void(target, types.int64, target.dtype), generate


ELEMENTS = {"Words": types.int64, "HalfWords": types.int32, "Bytes": types.uint8}


class MachineReference(types.Type):
    """The address of the words of a ``state.Machine``; its fields are pointers and integers."""


MACHINE = MachineReference("Machine")
FIELDS: dict[str, tuple[int, types.Type]] = {
    name: (i, types.CPointer(ELEMENTS[hint]) if hint in ELEMENTS else types.int64)
    for i, (name, hint) in enumerate(
        (name, reference.__forward_arg__) for name, reference in Machine.__annotations__.items()
    )
}


@register_model(MachineReference)
class _MachineModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: MachineReference) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@infer_getattr
class _MachineFields(AttributeTemplate):
    key = MachineReference

    def generic_resolve(self, machine: MachineReference, field: str) -> types.Type:
        return FIELDS[field][1]


@lower_getattr_generic(MachineReference)
def _machine_field(context, builder, kind, machine, field):
    position, result = FIELDS[field]
    word = ir.IntType(64)
    place = builder.gep(builder.inttoptr(machine, word.as_pointer()), [ir.Constant(word, position)])
    value = builder.load(place)
    # The words stay as they are while compiled code runs.
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    if isinstance(result, types.CPointer):
        return builder.inttoptr(value, context.get_value_type(result))
    return value


@emitted
def machine_at(typingctx, address):
    """The machine whose words (see ``state.words_of``) begin at an address."""

    def generate(context, builder, signature, arguments):
        return arguments[0]

    return MACHINE(types.int64), generate


def _call(argument_count: int):
    def generate(context, builder, signature, arguments):
        word, error = ir.IntType(64), ir.IntType(8).as_pointer()
        given = [word.as_pointer(), error.as_pointer(), *[word] * argument_count]
        function = ir.FunctionType(ir.IntType(32), given)
        target = builder.inttoptr(arguments[0], function.as_pointer())
        result = cgutils.alloca_once(builder, word)
        failure = cgutils.alloca_once(builder, error)
        builder.call(target, [result, failure, *arguments[1:]])
        return builder.load(result)

    return generate


@emitted
def call2(typingctx, target, first, second):
    """Call numba's code at address ``target`` with two int64 arguments."""
    return types.int64(types.int64, types.int64, types.int64), _call(2)


@emitted
def call5(typingctx, target, first, second, third, fourth, fifth):
    """Call numba's code at address ``target`` with five int64 arguments."""
    return types.int64(*[types.int64] * 6), _call(5)


@emitted
def _half_to_float(typingctx, bits):
    def generate(context, builder, signature, arguments):
        return builder.fpext(builder.bitcast(arguments[0], ir.HalfType()), ir.FloatType())

    return types.float32(types.uint16), generate


@emitted
def _float_to_half(typingctx, value):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(builder.fptrunc(arguments[0], ir.HalfType()), ir.IntType(16))

    return types.uint16(types.float32), generate


@emitted
def float_bits(typingctx, value):
    """The 32 bits of a float32."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.uint32(types.float32), generate


@emitted
def float_of_bits(typingctx, bits):
    """The float32 with the given 32 bits."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.uint32), generate


@internal
def half_to_float_by_integers(bits):
    """The float32 of 16 half bits; every NaN payload is kept."""
    magnitude = np.uint32(bits & np.uint16(0x7FFF)) << np.uint32(13)
    sign = np.uint32(bits & np.uint16(0x8000)) << np.uint32(16)
    exponent = magnitude & np.uint32(0x0F800000)
    normal = magnitude + np.uint32((127 - 15) << 23)
    if exponent == np.uint32(0x0F800000):
        normal += np.uint32((128 - 16) << 23)
    elif exponent == np.uint32(0):
        shifted = float_of_bits(magnitude + np.uint32(113 << 23))
        normal = float_bits(shifted - float_of_bits(np.uint32(113 << 23)))
    return float_of_bits(normal | sign)


@internal
def float_to_half_by_integers(value):
    """The nearest half of a float32, ties to even."""
    bits = float_bits(value)
    sign = (bits >> np.uint32(16)) & np.uint32(0x8000)
    magnitude = bits & np.uint32(0x7FFFFFFF)
    if magnitude >= np.uint32(0x47800000):
        is_nan = magnitude > np.uint32(0x7F800000)
        result = np.uint32(0x7E00) if is_nan else np.uint32(0x7C00)
    elif magnitude < np.uint32(0x38800000):
        half = float_of_bits(magnitude) + np.float32(0.5)
        result = float_bits(half) - np.uint32(0x3F000000)
    else:
        odd = (magnitude >> np.uint32(13)) & np.uint32(1)
        rounded = magnitude + np.uint32(0xC8000FFF) + odd
        result = rounded >> np.uint32(13)
    return np.uint16(result | sign)


half_to_float = _half_to_float if HALF_IN_HARDWARE else half_to_float_by_integers
float_to_half = _float_to_half if HALF_IN_HARDWARE else float_to_half_by_integers


@internal
def double_to_half(value):
    """The nearest half of a float64, ties to even, in one rounding."""
    single = np.float32(value)
    back = np.float64(single)
    bits = float_bits(single)
    if back != value and back == back:
        # Round to odd: the second rounding then sees which side of a tie the value was on.
        if abs(back) > abs(value):
            bits -= np.uint32(1)
        bits |= np.uint32(1)
    return float_to_half(float_of_bits(bits))


@internal
def bfloat_to_float(bits):
    """The float32 of 16 bfloat16 bits."""
    return float_of_bits(np.uint32(bits) << np.uint32(16))


@internal
def float_to_bfloat(value):
    """The nearest bfloat16 of a float32, ties to even; LLVM's own flushes subnormals."""
    bits = float_bits(value)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)
    is_nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.uint16((bits >> np.uint32(16)) | np.uint32(0x40) if is_nan else rounded)
