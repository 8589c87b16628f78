"""Text assembly: round trips, and errors that name the place and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from pypto.errors import CompileError
from pypto.target.assembly import assemble, disassemble
from pypto.target.executable import BufferArgument, Dim, Executable
from pypto.target.instructions.availability import NOT_MODELLED
from pypto.target.rows import MASK_COLUMN, OPERAND_COLUMN, forms
from tests.target.drawn_programs import executables

TEXT = """\
// One vector kernel and its launch.
.soc ascend910b1
.constant "key 1" hex {
  "00ff"  // the first half
  "0102"
}
.buffer x input f16 [4, 8]
.buffer y result f16 [4, dim(0, 1)] bytes=64
.buffer k constant f16 [2] constant="key 1"
.program double vector {
  .parameter x buffer f16
  .parameter y buffer f16 writes
  .parameter n scalar
  .local t ub address=0x0 bytes=4096 slots=2
  ldp r2, n
loop: vadd.f16 dst=0x100, src0=r5, src1=r6, repeat=r7
  .loc "double.py:3:9"
  vmuls.f16 dst=0x100, src=r5, scalar=1.5
  set_flag mte2, v, r3
  .loc none
  pipe_barrier all
  blt r2, 5, loop
  end
}
.launch double grid=4 (x, y+4, 3)
.inputs x
.results y
"""


def test_text_says_what_it_says() -> None:
    executable = assemble(TEXT)
    (program,) = executable.programs
    assert executable.constants["key 1"].tobytes() == b"\x00\xff\x01\x02"
    assert executable.buffers[1].shape == (4, Dim(0, 1))
    assert executable.steps[0].arguments == (BufferArgument(0), BufferArgument(1, 4), 3)
    assert program.lines == ("double.py:3:9",)
    form = forms()["vadd.f16"]
    row = program.rows[1].tolist()
    assert row[0] == form.opcode
    assert row[MASK_COLUMN] == 0b1110
    assert row[OPERAND_COLUMN : OPERAND_COLUMN + 5] == [0x100, 5, 6, 7, 1]
    assert program.rows[2, OPERAND_COLUMN + 2] == 0x3E00  # 1.5 in f16


def test_print_hides_defaults_and_shows_floats() -> None:
    text = disassemble(assemble(TEXT))
    assert "  vadd.f16 dst=0x100, src0=r5, src1=r6, repeat=r7\n" in text
    assert "  vmuls.f16 dst=0x100, src=r5, scalar=1.5\n" in text
    assert "  ldp r2, n\n" in text
    assert " L0:\n  vadd.f16" in text
    assert "  blt r2, 5, L0\n" in text


@given(executables())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_round_trip_is_bit_for_bit(executable: Executable) -> None:
    executable.validate()
    text = disassemble(executable)
    again = assemble(text)
    assert again == executable
    assert disassemble(again) == text


GROUPS = """\
.soc ascend910b1
.buffer x input f16 [4]
.program m cube {
  .parameter x buffer f16
  ffts_cross_core_sync fix, 2, 0
  end
}
.program k vector {
  .parameter n scalar
  wait_flag_dev r3
  end
}

.launch m grid=2 (x), k (7)
.inputs x
"""


def test_a_launch_on_groups_of_cores() -> None:
    executable = assemble(GROUPS)
    (step,) = executable.steps
    assert [part.program for part in step.parts] == [0, 1]
    assert step.all_arguments == (BufferArgument(0), 7)
    assert ".launch m grid=2 (x), k (7)\n" in disassemble(executable)
    assert assemble(disassemble(executable)) == executable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("fix, 2, 0", "all, 2, 0"), "it is queued on one pipe, not on all"),
        (("fix, 2, 0", "s, 2, 0"), "pipe is 0, legal is 1..7"),
        (("fix, 2, 0", "v, 2, 0"), "a cube core has no pipe v"),
        (("fix, 2, 0", "fix, 3, 0"), "mode is 3, legal is 0..2"),
        (("fix, 2, 0", "fix, 2, 16"), "id is 16, legal is 0..15"),
        (("wait_flag_dev r3", "wait_flag_dev -1"), "id is -1, legal is 0..15"),
        ((", k (7)", ", m (x)"), "joins a program for cube cores with one for cube cores"),
        (
            (".soc ascend910b1", ".soc ascend910a"),
            "ascend910a (architecture 1001) has no ffts_cross_core_sync",
        ),
    ],
)
def test_errors_between_cores(change: tuple[str, str], message: str) -> None:
    with pytest.raises(CompileError) as caught:
        assemble(GROUPS.replace(*change, 1))
    assert message in str(caught.value)


ERRORS = [
    (("src1=r6", "src1="), "16:41: error[ASSEMBLY_SYNTAX]: found ',', expected a name"),
    (("[4, 8]", "[4, 8"), "7:26: error[ASSEMBLY_SYNTAX]: found the end of the line, expected ','"),
    ((".buffer x", "buffer x"), "7:1: error[ASSEMBLY_SYNTAX]: found 'buffer', expected '.buffer'"),
    (("vadd.f16 dst", "vadd.f16 @"), "16:16: error[ASSEMBLY_SYNTAX]: found '@', expected"),
    (
        ("vadd.f16", "vconv_i42f16"),
        "16:7: error[ASSEMBLY]: there is no vconv_i42f16 here: its elements have 4 bits, and none"
        " of less than a byte are modelled",
    ),
    (("vadd.f16", "vadd.f64"), "16:7: error[ASSEMBLY]: unknown mnemonic vadd.f64\nfix: write"),
    (("src1=r6", "srcx=r6"), "16:36: error[ASSEMBLY]: vadd.f16 has no operand srcx, it has dst"),
    (("src1=r6, ", ""), "16:7: error[ASSEMBLY]: program double: vadd.f16 needs src1"),
    (("dst=0x100, src0", "dst=257, src0"), "16:20: error[ASSEMBLY]: dst is 257, which is not a"),
    (("repeat=r7", "repeat=256"), "16:52: error[ASSEMBLY]: repeat is 256, legal is 0..255"),
    (("src0=r5", "src0=r32"), "16:32: error[ASSEMBLY]: there is no register r32"),
    (("scalar=1.5", "scalar=2"), "scalar is f16, found the integer 2\nfix: write 2.0"),
    (("r2, n", "r2, q"), "15:11: error[ASSEMBLY]: parameter: found q, expected a parameter"),
    (("mte2, v, r3", "mte2, w, r3"), "19:18: error[ASSEMBLY]: unknown pipe w, expected one of s,"),
    (("mte2, v, r3", "mte2, m, r3"), "no event from mte2 to m on a vector core"),
    (("blt r2, 5, loop", "blt r2, 5, lop"), "label lop is nowhere"),
    (("grid=4", "grid=49"), "asks for a grid of 49; ascend910b1 has 48 vector cores"),
    (("(x, y+4, 3)", "(x, y+4)"), "passes 2 arguments to 3 parameters"),
    (("(x, y+4, 3)", "(x, k, 3)"), "is written, but buffer k is a read-only constant"),
    (("(x, y+4, 3)", "(x, z, 3)"), "25:27: error[ASSEMBLY]: buffer z is unknown"),
    ((".inputs x", ".inputs $7"), "26:10: error[ASSEMBLY]: buffer 7 of 3"),
    (("  end\n", ""), "the last row is not `end`"),
    (("hex {", "octal {"), "3:19: error[ASSEMBLY]: unknown encoding octal, expected hex or base64"),
    (('"0102"', '"01020"'), "3:19: error[ASSEMBLY]: not hex: non-hexadecimal number found"),
    (("ascend910b1", "ascend910"), "no SoC is named 'ascend910'"),
]


@pytest.mark.parametrize(("change", "message"), ERRORS, ids=[c[1] or c[0] for c, _ in ERRORS])
def test_errors_name_place_and_expectation(change: tuple[str, str], message: str) -> None:
    assert change[0] in TEXT
    with pytest.raises(CompileError) as caught:
        assemble(TEXT.replace(*change, 1), "double.dvasm")
    assert message in str(caught.value)
    assert "double.dvasm:" in str(caught.value)


def test_errors_show_the_line(tmp_path: Path) -> None:
    path = tmp_path / "double.dvasm"
    path.write_text(TEXT.replace("vadd.f16", "vadd.f64"))
    with pytest.raises(CompileError) as caught:
        assemble(path.read_text(), str(path))
    assert "| loop: vadd.f64 dst=0x100" in str(caught.value)


@pytest.mark.parametrize("bits", [0x7FFFFFFF, 0x7FC00000, 0xFFC00000, 0x7F800000, 0x80000000, 1])
def test_every_bit_of_a_float_survives(bits: int) -> None:
    text = TEXT.replace("vmuls.f16", "vmuls.f32").replace("scalar=1.5", f"scalar={bits:#x}")
    executable = assemble(text)
    assert executable.programs[0].rows[2, OPERAND_COLUMN + 2] == bits
    assert assemble(disassemble(executable)) == executable


def test_names_that_are_not_unique_are_called_by_number() -> None:
    text = TEXT.replace(".buffer k constant", ".buffer x constant")
    text = text.replace("(x, y", "($0, y").replace(".inputs x", ".inputs $0")
    assert ".inputs $0" in disassemble(assemble(text))
    with pytest.raises(CompileError, match="buffer x is not the only one of its name"):
        assemble(text.replace(".inputs $0", ".inputs x"))


@pytest.mark.parametrize("mnemonic", NOT_MODELLED)
def test_what_is_not_modelled_is_refused_with_its_reason(mnemonic: str) -> None:
    with pytest.raises(CompileError) as caught:
        assemble(TEXT.replace("vmuls.f16 dst=0x100, src=r5, scalar=1.5", f"{mnemonic} dst=0"))
    assert f"there is no {mnemonic} here: {NOT_MODELLED[mnemonic]}" in str(caught.value)
    assert mnemonic not in forms()
