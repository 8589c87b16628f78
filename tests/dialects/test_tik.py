"""The tik dialect: instructions made from rows, pointers, and the laws of each stage."""

from __future__ import annotations

import math

import pytest
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block

from pypto.dialects import tik
from pypto.dialects.context import parse_module
from pypto.dialects.tik_instructions import InstructionOp, build, instruction_class
from pypto.dialects.verify import verify_module
from pypto.target.instruction import Kind
from pypto.target.instructions import INSTRUCTIONS
from pypto.target.memory import Pipe, Space
from tests.dialects.invalid import complaint, place_of

POINTERS = {space: tik.PointerType(space) for space in Space}

KERNEL = """
builtin.module attributes {{pypto.soc = "ascend910b1"}} {{
func.func @k(%x: !tik.ptr<gm>, %n: index)
    attributes {{pypto.kernel = "vector", tik.stage = "{stage}"}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tik.alloc "a" bytes 256 slots 2{a} : !tik.buffer<ub>
  %b = tik.alloc "b" bytes 256{b} : !tik.buffer<ub>
  %p = tik.slot %a[%c0] : !tik.buffer<ub>
  %q = tik.slot %b[%c0] : !tik.buffer<ub>
  {body}
  func.return
}}
}}
"""


def virtual(body: str) -> str:
    return KERNEL.format(stage="virtual", a="", b="", body=body)


def ordered(body: str, a: str = " address 0", b: str = " address 512") -> str:
    return KERNEL.format(stage="ordered", a=a, b=b, body=f"{body}\n  tik.barrier all")


@pytest.mark.parametrize("row", INSTRUCTIONS, ids=lambda row: row.mnemonic)
def test_every_row_has_an_operation(row) -> None:
    placed = [field for field in row.fields if field.space and not field.is_register]
    block = Block(arg_types=[POINTERS[field.space] for field in placed])
    pointers = iter(block.args)
    fields = {
        field.name: next(pointers) if field.kind is Kind.ADDRESS else max(field.low, field.align)
        for field in row.fields
        if field.default is None
    }
    op = build(row.mnemonic, **fields)
    op.verify()
    assert op.row is row
    assert [field for field, _ in op.address_fields()] == placed
    assert instruction_class(row.mnemonic) is type(op)
    assert type(op).__doc__ == row.summary


def vmuls(**fields: object) -> InstructionOp:
    block = Block(arg_types=[POINTERS[Space.UB], IndexType()])
    given = {"dst": block.args[0], "src": block.args[0], "scalar": 2.5, **fields}
    return build("vmuls.f16", **given)  # pyright: ignore[reportArgumentType]


def test_fields_are_read_by_name() -> None:
    op = vmuls(mask_high=2**64 - 1)
    assert op.field("scalar") == 0x4100
    assert op.field("repeat") == 1
    assert op.field("mask_high") == -1
    assert op.field("dst") is op.field("src")
    with pytest.raises(KeyError, match=r"vmuls.f16 has no field source"):
        op.field("source")


def test_fields_are_changed_in_a_copy() -> None:
    count = Block(arg_types=[IndexType()]).args[0]
    op = vmuls()
    copy = op.with_fields(mask_mode=1, mask_low=count)
    assert copy.field("mask_low") is count
    assert copy.field("scalar") == op.field("scalar")
    assert op.field("mask_low") == -1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"stride": 1}, "vmuls.f16 has no field stride"),
        ({"scalar": None}, "vmuls.f16 needs field scalar"),
        ({"repeat": 1.5}, "vmuls.f16: field repeat is an integer, not 1.5"),
    ],
)
def test_wrong_fields_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        vmuls(**fields)


def test_an_unknown_instruction_is_refused() -> None:
    with pytest.raises(ValueError, match=r"there is no instruction vadd.f8"):
        build("vadd.f8")


@pytest.mark.parametrize("number", [0.0, -0.0, 0.1, math.inf, -math.inf, math.nan, 65504.0, 1e-8])
def test_scalars_survive_their_text(number: float) -> None:
    block = Block(arg_types=[POINTERS[Space.UB]])
    for mnemonic in ("vadds.f16", "vadds.f32"):
        op = build(mnemonic, dst=block.args[0], src=block.args[0], scalar=number)
        text = str(op).split("scalar = ")[1]
        module = parse_module(virtual(f"tik.{mnemonic} dst = %p, src = %p, scalar = {text}"), "m")
        again = next(op for op in module.walk() if isinstance(op, InstructionOp))
        assert again.field("scalar") == op.field("scalar")


MISTAKES = [
    ("tik.vadd.f16 dst = %p, src0 = %p", "vadd.f16 needs field src1"),
    ("tik.vadd.f16 dst = %p, dst = %q", "a field is given twice"),
    ("tik.vadd.f16 dst = %p, source = %q", "vadd.f16 has no field source"),
    ("tik.vadd.f16 dst = %p, src0 = %p, src1 = %x", "operand is used with type !tik.ptr<ub>"),
    ("tik.vadd.f16 dst = %p, src0 = %p, src1 = 64", "field src1 is a pointer"),
    ("tik.vadd.f16 dst = %p, src0 = %p, src1 = %q, repeat = 256", "the machine takes 0..255"),
    ("tik.vadd.f16 dst = %p, src0 = %p, src1 = %q, repeat = %p", "operand is used with type index"),
    ("tik.vadd.f16 dst = %p, src0 = %p, src1 = %q, repeat = x", "Expected an operand"),
    ("tik.vadd.f8 dst = %p", "Operation tik.vadd.f8 is not registered"),
    ("tik.set_flag v -> v, 0", "no event from v to v"),
    ("tik.set_flag v -> all, 0", "no event from v to all"),
    ("tik.set_flag v -> sun, 0", "a pipe is expected: one of s, v, m"),
    ("tik.barrier s", "there is no barrier on s"),
    ("%r = tik.compare sge %n, %n", "a comparison is expected: one of slt, seq"),
    ('%r = tik.alloc "g" bytes 64 : !tik.buffer<gm>', "gm comes as a parameter"),
    ('%r = tik.alloc "r" bytes 0 : !tik.buffer<ub>', "1 slots of 0 bytes"),
    ("%r = tik.slot %a[%c0] : !tik.buffer<l1>", "has been previously used or defined"),
]


@pytest.mark.parametrize(("body", "message"), MISTAKES)
def test_mistakes_are_told(body: str, message: str) -> None:
    text = virtual(body)
    error = complaint(text)
    assert message in error.message
    assert error.location is not None
    assert error.location.line == place_of(text, body)[0]


ALLOC = '%z = tik.alloc "z" bytes 1 : !tik.buffer<ub>'
VADD = "tik.vadd.f16 dst = %p, src0 = %q, src1 = %q"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (KERNEL.format(stage="ready", a="", b="", body=""), "a stage is virtual, placed, ordered"),
        (KERNEL.format(stage="virtual", a=" address 0", b="", body=""), "before it is placed"),
        (virtual("tik.barrier v"), "in a kernel that is not ordered yet"),
        (KERNEL.format(stage="placed", a="", b="", body=""), "buffer a has no address"),
        (ordered("", a=" address 188160"), "ends at byte 188672 of ub; ascend910b1 has 188416"),
        (KERNEL.format(stage="ordered", a=" address 0", b=" address 512", body=""), "barrier all"),
        (ordered("tik.set_flag v -> mte3, 6"), "event 6; a program has events 0..5"),
        (ordered(f"{VADD}\n  {VADD}", b=" address 256"), "buffers a and b of ub overlap"),
        (
            virtual("scf.for %i = %c0 to %n step %c1 {\n" + ALLOC + "\n}"),
            "a buffer is allocated inside a loop or a branch",
        ),
        (virtual("%r = arith.addi %n, %n : index loc(unknown)"), "has no source location"),
        (
            virtual("tik.vmaxs.f16 dst = %p, src = %q, scalar = 1.0").replace("910b1", "910a"),
            "ascend910a (architecture 1001) has no vmaxs.f16; ascend910b1 and ascend310p3 have it",
        ),
        (virtual(f"{VADD}, repeat = 0").replace("910b1", "910a"), "the machine takes 1..255"),
    ],
)
def test_broken_laws_are_told(text: str, message: str) -> None:
    assert message in complaint(text).message


@pytest.mark.parametrize(
    "body",
    [
        # One buffer is read for the last time by the instruction that fills the other.
        "tik.vector_dup.f16 dst = %q, scalar = 0.0\n  tik.vadd.f16 dst = %p, src0 = %q, src1 = %q",
        # Each turn of the loop is done with one before it touches the other.
        """scf.for %i = %c0 to %n step %c1 {
    %r = tik.slot %a[%c0] : !tik.buffer<ub>
    tik.vector_dup.f16 dst = %r, scalar = 0.0
    %s = tik.slot %b[%c0] : !tik.buffer<ub>
    tik.vector_dup.f16 dst = %s, scalar = 0.0
  }""",
    ],
)
def test_buffers_may_share_bytes_one_after_the_other(body: str) -> None:
    verify_module(parse_module(ordered(body, b=" address 0"), "m"))


def test_a_buffer_held_over_a_loop_is_in_use_for_all_of_it() -> None:
    loop = """scf.for %i = %c0 to %n step %c1 {
    %s = tik.slot %b[%c0] : !tik.buffer<ub>
    tik.vector_dup.f16 dst = %s, scalar = 0.0
    tik.vector_dup.f16 dst = %p, scalar = 0.0
  }"""
    assert "buffers a and b of ub overlap" in complaint(ordered(loop, b=" address 0")).message


def test_pointers_know_their_slot() -> None:
    text = ordered("""%r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %p) -> (!tik.ptr<ub>) {
    %u = tik.offset %t, %c1 : !tik.ptr<ub>
    tik.copy_gm_to_ubuf_align.b16 dst = %u, src = %x, length = 64
    scf.yield %u : !tik.ptr<ub>
  }
  tik.copy_gm_to_ubuf_align.b16 dst = %r, src = %x, length = 64""")
    copies = [op for op in parse_module(text, "m").walk() if isinstance(op, InstructionOp)]
    for copy in copies:
        (_, target), (_, source) = copy.address_fields()
        slot = tik.slot_of(target)
        assert slot is not None
        assert slot.allocation.label.data == "a"
        assert tik.slot_of(source) is None


def test_flags_take_a_number_or_a_value() -> None:
    event = Block(arg_types=[IndexType()]).args[0]
    assert tik.SetFlagOp(Pipe.V, Pipe.MTE3, 3).event_id == 3
    assert tik.WaitFlagOp(Pipe.V, Pipe.MTE3, event).event_id is event
