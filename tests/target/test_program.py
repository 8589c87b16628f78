"""Programs: what the builder writes, what validation refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pypto.errors import CompileError
from pypto.target.dtypes import BF16, F16, F32, I32
from pypto.target.memory import PIPES, CoreKind, Pipe, Space
from pypto.target.program import LocalBuffer, Parameter, Program, ProgramBuilder
from pypto.target.rows import (
    LINE_COLUMN,
    MASK_COLUMN,
    OPCODE_COLUMN,
    OPERAND_COLUMN,
    PIPE_COLUMN,
    ROW_WIDTH,
    Register,
    forms,
    forms_by_opcode,
    scalar_bits,
    scalar_value,
)  # fmt: skip
from pypto.target.soc import soc


def build() -> ProgramBuilder:
    builder = ProgramBuilder("k", CoreKind.VECTOR)
    builder.parameter("n", "scalar")
    builder.at("k.py:1:1")
    builder.append("ldp", Register(2), 0)
    builder.label("again")
    builder.at("k.py:2:1")
    builder.append("vadd.f16", dst=0x100, src0=Register(5), src1=64, repeat=Register(7))
    builder.append("set_flag", Pipe.V, Pipe.MTE3, 1)
    builder.append("wait_flag", Pipe.V, Pipe.MTE3, Register(4))
    builder.append("pipe_barrier", Pipe.V)
    builder.append("pipe_barrier", Pipe.ALL)
    builder.append("blt", Register(2), 4, "again")
    builder.at(None)
    builder.append("end")
    return builder


def test_every_row_fits_and_every_opcode_is_known() -> None:
    for form in forms().values():
        assert len(form.operands) <= ROW_WIDTH - OPERAND_COLUMN, form.mnemonic
        assert forms_by_opcode()[form.opcode] is form


def test_columns() -> None:
    program = build().build()
    program.validate(soc())
    rows = program.rows
    assert rows.shape == (8, ROW_WIDTH)
    assert rows[:, LINE_COLUMN].tolist() == [0, 1, 1, 1, 1, 1, 1, -1]
    assert program.lines == ("k.py:1:1", "k.py:2:1")
    assert rows[0, MASK_COLUMN] == 0  # rd is a destination, its bit stays clear
    assert rows[1, MASK_COLUMN] == 0b1010
    pipes = [str(PIPES[i]) for i in rows[:, PIPE_COLUMN]]
    assert pipes == ["s", "v", "v", "mte3", "v", "s", "s", "s"]
    assert rows[6, OPERAND_COLUMN : OPERAND_COLUMN + 3].tolist() == [2, 4, 1]


def test_equality_is_bit_for_bit() -> None:
    one, two = build().build(), build().build()
    assert one == two
    assert hash(one) == hash(two)
    rows = one.rows.copy()
    rows[1, OPERAND_COLUMN] += 32
    assert replace(one, rows=rows) != one
    assert replace(one, lines=("k.py:1:1", "k.py:2:2")) != one
    assert not rows.flags.writeable or not one.rows.flags.writeable


@pytest.mark.parametrize(
    ("append", "message"),
    [
        (lambda b: b.append("vadd"), "unknown mnemonic vadd"),
        (lambda b: b.append("vadd.f16", dst=0, src0=0), "vadd.f16 needs src1"),
        (lambda b: b.append("vadd.f16", dst=0, src0=0, src1=0, x=1), "has no operand x"),
        (lambda b: b.append("add", Register(1), 2, 3, 4), "add takes 3 operands"),
        (lambda b: b.append("add", 1, 2, 3), "rd takes a register, not 1"),
        (lambda b: b.append("add", Register(32), 2, 3), "there is no register r32"),
        (lambda b: b.append("add", Register(1), 2**63, 3), "a is 9223372036854775808, legal is"),
        (lambda b: b.append("add", Register(1), Pipe.V, 3), "a takes an integer or a register"),
        (lambda b: b.append("add", Register(1), "x", 3), "a takes an integer or a register"),
        (lambda b: b.append("jmp", Register(1)), "label takes a label, not r1"),
        (lambda b: b.append("pipe_barrier", Pipe.S), "pipe is 0, legal is 1..7"),
        (lambda b: b.append("vadd.f16", dst=8, src0=0, src1=0), "not a multiple of 32"),
        (lambda b: b.append("vadd.f16", dst=0, src0=0, src1=0, mask_low=3), "mask_low is 3"),
        (lambda b: b.label("again"), "label again stands twice"),
        (lambda b: (b.append("jmp", "x"), b.build()), "label x is nowhere"),
    ],
)
def test_builder_refuses(append: object, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        append(build())  # pyright: ignore[reportCallIssue]
    assert message in caught.value.message


def changed(row: int, column: int, value: int) -> Program:
    program = build().build()
    rows = program.rows.copy()
    rows[row, column] = value
    return replace(program, rows=rows)


OPERAND = OPERAND_COLUMN
UB = 196608


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (changed(1, OPCODE_COLUMN, 120), "row 1 has the unknown opcode 120"),
        (changed(1, PIPE_COLUMN, 3), "row 1 (vadd.f16): pipe column 3 is not its pipe 1"),
        (changed(1, MASK_COLUMN, 1 << 19), "columns beyond its 14 operands"),
        (changed(1, OPERAND + 14, 1), "columns beyond its 14 operands"),
        (changed(1, OPERAND + 12, 1), "mask_low is 1, legal is 0..0"),
        (changed(1, OPERAND + 1, 32), "there is no register r32"),
        (changed(1, LINE_COLUMN, 2), "source line 2 of 2 lines"),
        (changed(0, OPERAND + 1, 1), "reads parameter 1 of 1"),
        (changed(0, MASK_COLUMN, 1), "rd is a destination"),
        (changed(6, OPERAND + 2, 8), "jumps to row 8 of 8"),
        (changed(2, OPERAND + 2, 8), "event id 8, legal is 0..7"),
        (changed(2, OPERAND + 1, PIPES.index(Pipe.M)), "no event from v to m on a vector core"),
        (replace(build().build(), core=CoreKind.CUBE), "a cube core has no pipe v"),
        (replace(build().build(), rows=build().build().rows[:-1]), "the last row is not `end`"),
        (replace(build().build(), rows=np.zeros((1, 16), np.int64)), "rows are int64[1, 16]"),
        (replace(build().build(), lines=("a", "a")), "an entry twice"),
        (replace(build().build(), parameters=(Parameter("n", "x"),)), "parameter n is a 'x'"),
        (
            replace(build().build(), buffers=(LocalBuffer("t", Space.UB, UB - 32, 64),)),
            f"spans bytes {UB - 32} to {UB + 32} of ub, which holds {UB}",
        ),
        (replace(build().build(), buffers=(LocalBuffer("t", Space.UB, 0, 64, 3),)), "3 slots"),
    ],
)
def test_validation_refuses(program: Program, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        program.validate(soc())
    assert message in caught.value.message


def test_a_row_without_registers_must_stay_in_memory() -> None:
    builder = ProgramBuilder("k", CoreKind.CUBE)
    builder.append("load_cbuf_to_ca.b16", dst=65536 - 512, src=0, repeat=2)
    builder.append("end")
    with pytest.raises(CompileError, match="l0a ends at byte 65536"):
        builder.build().validate(soc())


@pytest.mark.parametrize(
    ("value", "dtype", "bits"),
    [(1.5, F16, 0x3E00), (-2.0, F32, 0xC0000000), (1.0, BF16, 0x3F80), (-3, I32, -3)],
)
def test_scalar_bits(value: float, dtype: object, bits: int) -> None:
    assert scalar_bits(value, dtype) == bits  # pyright: ignore[reportArgumentType]
    assert scalar_value(bits, dtype) == value  # pyright: ignore[reportArgumentType]
