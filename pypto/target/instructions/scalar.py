"""The scalar unit: arithmetic, branches, mode registers and synchronisation.

Scalar operations run on the dispatching unit itself; they have no footprint. Operand names say
what an operand may be: ``rd`` a register, ``a``, ``b``, ``high``, ``low``, ``value``, ``address``,
``mode`` and ``id`` a register or an integer, ``parameter`` an index, ``label`` a row, ``source``,
``target`` and ``pipe`` a pipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pypto.target.instructions.availability import architectures_of_scalar
from pypto.target.memory import Space

STATE_REGISTERS: tuple[str, ...] = (
    "mask_mode",
    "mask_high",
    "mask_low",
    "pad_value",
    "compare_mask",
    "atomic",
    "l2_mode",
    "hf32",
    "fmatrix",
    "fmatrix_b",
    "padding",
    "quant_pre",
    "quant_words",
    "saturation",
    "deq_scale",
    "deq_words",
)

# Registers that hold 0 at launch, which programs may rely on.
ZERO_AT_LAUNCH: tuple[str, ...] = (
    "l2_mode",
    "hf32",
    "fmatrix",
    "fmatrix_b",
    "padding",
    "quant_pre",
    "quant_words",
    "saturation",
    "deq_scale",
    "deq_words",
)


class ScalarKind(StrEnum):
    """What a scalar operation does."""

    ALU = "alu"  # rd = a op b
    LOAD = "load"  # rd = launch argument
    JUMP = "jump"
    BRANCH = "branch"  # compares a with b
    MEMORY_LOAD = "memory_load"  # rd = what UB or GM holds
    MEMORY_STORE = "memory_store"
    CACHE = "cache"  # writes back and forgets lines of the data cache
    DATA_BARRIER = "data_barrier"  # earlier loads and stores have ended
    END = "end"
    STATE = "state"  # writes mode registers
    SET_FLAG = "set_flag"
    WAIT_FLAG = "wait_flag"
    BARRIER = "barrier"
    CROSS_SET = "cross_set"  # tells other cores
    CROSS_WAIT = "cross_wait"  # waits for other cores


@dataclass(frozen=True)
class ScalarOperation:
    """One operation: mnemonic, operand names in order, kind, one line of meaning.

    ``state`` (kind STATE): which mode register takes which operand, or a fixed number.
    ``space``, ``width`` (loads and stores): the memory and how many bytes; ``signed``: the sign
    fills the register, else zeros do.
    """

    mnemonic: str
    operands: tuple[str, ...]
    kind: ScalarKind
    summary: str
    state: tuple[tuple[str, str | int], ...] = ()
    space: Space | None = None
    width: int = 0
    signed: bool = False

    @property
    def architectures(self) -> frozenset[str]:
        """The architectures that have the operation."""
        return architectures_of_scalar(self.mnemonic)


def alu(mnemonic: str, summary: str) -> ScalarOperation:
    """A three-operand operation on 64-bit integers that wrap."""
    return ScalarOperation(mnemonic, ("rd", "a", "b"), ScalarKind.ALU, summary)


def branch(mnemonic: str, summary: str) -> ScalarOperation:
    return ScalarOperation(mnemonic, ("a", "b", "label"), ScalarKind.BRANCH, summary)


def state(mnemonic: str, summary: str, **registers: str | int) -> ScalarOperation:
    """An operation that copies operands, or fixed numbers, into mode registers."""
    operands = tuple(v for v in registers.values() if isinstance(v, str))
    return ScalarOperation(mnemonic, operands, ScalarKind.STATE, summary, tuple(registers.items()))


def memory_operations(space: Space) -> tuple[ScalarOperation, ...]:
    """Loads and stores of one element; a float is loaded as the unsigned integer of its bits."""
    loads = (
        ScalarOperation(
            f"ld_{space}.{sign}{8 * width}",
            ("rd", "address"),
            ScalarKind.MEMORY_LOAD,
            f"rd = {sign}{8 * width} in {space}",
            space=space,
            width=width,
            signed=sign == "i",
        )
        for width in (1, 2, 4, 8)
        for sign in "iu"
        if (sign, width) != ("u", 8)
    )
    stores = (
        ScalarOperation(
            f"st_{space}.b{8 * width}",
            ("address", "value"),
            ScalarKind.MEMORY_STORE,
            f"lowest {width} bytes of value to {space}",
            space=space,
            width=width,
        )
        for width in (1, 2, 4, 8)
    )
    return *loads, *stores


SCALARS: tuple[ScalarOperation, ...] = (
    ScalarOperation("mov", ("rd", "a"), ScalarKind.ALU, "rd = a"),
    alu("add", "rd = a + b"),
    alu("sub", "rd = a - b"),
    alu("mul", "rd = a * b"),
    alu("div", "rd = a / b, truncated; 0 where b is 0"),
    alu("rem", "rd = a - (a / b) * b, truncated; 0 where b is 0"),
    alu("min", "rd = smaller of a and b"),
    alu("max", "rd = larger of a and b"),
    alu("shl", "rd = a << b"),
    alu("shr", "rd = a >> b, logical"),
    alu("and", "rd = a & b"),
    alu("or", "rd = a | b"),
    alu("slt", "rd = 1 where a < b, else 0"),
    alu("seq", "rd = 1 where a = b, else 0"),
    ScalarOperation("ldp", ("rd", "parameter"), ScalarKind.LOAD, "rd = launch argument"),
    ScalarOperation("jmp", ("label",), ScalarKind.JUMP, "continue at label"),
    branch("beq", "continue at label where a = b"),
    branch("bne", "continue at label where a is not b"),
    branch("blt", "continue at label where a < b"),
    branch("bge", "continue at label where a >= b"),
    *memory_operations(Space.UB),
    *memory_operations(Space.GM),
    ScalarOperation(
        "dcci",
        ("address", "all"),
        ScalarKind.CACHE,
        "write back and forget the line of the data cache that holds address, or all lines",
    ),
    ScalarOperation(
        "dsb", (), ScalarKind.DATA_BARRIER, "hold dispatch until scalar loads and stores have ended"
    ),
    ScalarOperation("end", (), ScalarKind.END, "end of the program"),
    state("set_mask_norm", "the mask selects lanes of every repeat", mask_mode=0),
    state("set_mask_count", "the low mask counts elements", mask_mode=1),
    state("set_vector_mask", "the 128 mask bits", mask_high="high", mask_low="low"),
    state("set_mov_pad_val", "filler of padding copies", pad_value="value"),
    state("set_cmpmask", "address of the bits of vsel", compare_mask="address"),
    state("set_saturation", "1: halves and bfloat16 saturate, 0: IEEE", saturation="mode"),
    state("set_deqscale", "the scale of vconv_deq and vconv_deqs162b8", deq_scale="value"),
    state("set_deqscale_table", "address of the scales of vconv_vdeqs162b8", deq_words="address"),
    state("set_atomic", "how stores to GM combine; 0 overwrites", atomic="mode"),
    state("set_l2_mode", "1: transfers bring nothing into L2", l2_mode="mode"),
    state("set_hf32", "how mad rounds f32: bit 0 to hf32, bit 1 towards zero", hf32="mode"),
    state("set_fmatrix", "size and borders of the image of load3d", fmatrix="value"),
    state("set_fmatrix_b", "the second image of load3d", fmatrix_b="value"),
    state("set_padding", "element of the borders of load3d", padding="value"),
    state("set_quant_pre", "the scale of a drain of L0C", quant_pre="value"),
    state("set_fpc", "address in FB of the scales of columns", quant_words="address"),
    ScalarOperation(
        "set_flag",
        ("source", "target", "id"),
        ScalarKind.SET_FLAG,
        "raise a flag once earlier instructions of source have ended",
    ),
    ScalarOperation(
        "wait_flag",
        ("source", "target", "id"),
        ScalarKind.WAIT_FLAG,
        "hold target until the flag is up, then lower it",
    ),
    ScalarOperation(
        "pipe_barrier",
        ("pipe",),
        ScalarKind.BARRIER,
        "hold pipe until its earlier instructions have ended",
    ),
    ScalarOperation(
        "ffts_cross_core_sync",
        ("pipe", "mode", "id"),
        ScalarKind.CROSS_SET,
        "once earlier instructions of pipe have ended, raise the counters of the cores that "
        "mode names: 0 all cores of the kind, 1 both vector cores of the group, 2 the other "
        "kind in the group",
    ),
    ScalarOperation(
        "wait_flag_dev",
        ("id",),
        ScalarKind.CROSS_WAIT,
        "dispatch nothing until the counter is above 0, then lower it by one",
    ),
)
