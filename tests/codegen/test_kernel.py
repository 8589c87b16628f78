"""Code generation of one kernel: registers, parameters, mode registers, and what is refused."""

from __future__ import annotations

import pytest
from xdsl.dialects import func

from pypto.codegen import build_program
from pypto.codegen.registers import parallel_moves
from pypto.dialects.context import parse_module
from pypto.errors import CompileError
from pypto.target.program import Program
from pypto.target.rows import OPCODE_COLUMN, Register, forms_by_opcode
from tests.codegen.machines import IrMachine, ProgramMachine

HEADER = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tik.alloc "a" bytes 512 slots 2 address 0 : !tik.buffer<ub>
  %p = tik.slot %a[%c0] : !tik.buffer<ub>
"""


def kernel_of(body: str, parameters: str = "%n: index", header: str = HEADER) -> func.FuncOp:
    text = (
        f'func.func @k({parameters}) attributes {{pypto.kernel = "vector"}} {{'
        f"{header}{body}\n  func.return\n}}"
    )
    function = parse_module(text, "kernel.mlir").body.block.first_op
    assert isinstance(function, func.FuncOp)
    return function


def mnemonics(program: Program) -> list[str]:
    return [forms_by_opcode()[int(row[OPCODE_COLUMN])].mnemonic for row in program.rows]


def check(kernel: func.FuncOp, arguments: list[int]) -> Program:
    """The Program of a kernel, after it did what its IR says."""
    program = build_program(kernel)
    expected = IrMachine(kernel, arguments, 1, 3).trace
    assert ProgramMachine(program, arguments, 1, 3).trace == expected
    return program


USE = "tik.vector_dup.f16 dst = %p, scalar = 0.0, repeat = {0}, mask_low = {0}"


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_loops_run_as_often_as_they_say(count: int) -> None:
    body = """
  scf.for %i = %c0 to %n step %c1 {
    tik.set_flag v -> mte3, %i
    scf.for %j = %c1 to %i step %c1 {
      tik.wait_flag v -> mte3, %j
    }
  }"""
    check(kernel_of(body), [count])


def test_more_parameters_than_registers_are_loaded_where_they_are_used() -> None:
    names = [f"%n{number}" for number in range(60)]
    loop = "\n".join(f"    {USE.format(name)}" for name in names)
    body = f"\n  scf.for %i = %c0 to %n0 step %c1 {{\n{loop}\n  }}\n"
    kernel = kernel_of(body, ", ".join(f"{name}: index" for name in names))
    program = check(kernel, list(range(60)))
    assert mnemonics(program).count("ldp") >= 60


def test_cheap_values_are_computed_again_when_registers_run_out() -> None:
    values = "\n".join(f"  %v{k} = arith.addi %n, %m{k} : index" for k in range(50))
    numbers = "\n".join(f"  %m{k} = arith.constant {k} : index" for k in range(50))
    uses = "\n".join(f"    {USE.format(f'%v{k}')}" for k in range(50))
    body = f"{numbers}\n{values}\n  scf.for %i = %c0 to %n step %c1 {{\n{uses}\n  }}"
    check(kernel_of(body), [3])


def test_too_many_values_at_a_time_are_an_error_that_names_the_line() -> None:
    carried = range(31)
    arguments = ", ".join(f"%s{k} = %n" for k in carried)
    types = ", ".join("index" for _ in carried)
    body = (
        f"  %r:31 = scf.for %i = %c0 to %n step %c1 iter_args({arguments}) -> ({types}) {{\n"
        f"    scf.yield {', '.join(f'%s{k}' for k in carried)} : {types}\n  }}"
    )
    with pytest.raises(CompileError) as caught:
        build_program(kernel_of(body))
    error = caught.value
    assert error.code == "TOO_MANY_SCALARS"
    assert error.message == "kernel k needs more than the 32 scalar registers of a core here"
    assert str(error.location).startswith("kernel.mlir:6:")


def test_known_numbers_take_no_instruction() -> None:
    body = """
  %c8 = arith.constant 8 : index
  %many = arith.muli %c8, %c8 : index
  %less = tik.compare slt %c8, %many
  %q = tik.slot %a[%less] : !tik.buffer<ub>
  %r = tik.offset %q, %many : !tik.ptr<ub>
  %same = tik.offset %r, %c0 : !tik.ptr<ub>
  tik.vector_dup.f16 dst = %same, scalar = 1.0
  %dead = arith.addi %n, %n : index"""
    assert mnemonics(check(kernel_of(body), [1])) == [
        "set_mask_norm", "set_vector_mask", "vector_dup.f16", "end",
    ]  # fmt: skip


def test_a_mode_is_set_where_it_changes() -> None:
    count = "tik.vector_dup.f16 dst = %p, scalar = 1.0, mask_mode = 1, mask_low = {}"
    body = f"""
  {count.format("%n")}
  {count.format("%n")}
  scf.for %i = %c0 to %n step %c1 {{
    {count.format("%n")}
  }}
  {count.format("%n")}
  scf.for %i = %c0 to %n step %c1 {{
    {count.format("%i")}
  }}
  {count.format("%n")}"""
    names = mnemonics(check(kernel_of(body), [4]))
    assert names.count("set_mask_count") == 1
    assert names.count("set_vector_mask") == 3


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ('%z = tik.alloc "z" bytes 64 : !tik.buffer<ub>', "NOT_PLACED", "buffer z of kernel k"),
        (
            "%z = tile.full 0.0 valid(%n, %n) : !tile.tile<1x1xf16, ub>\n"
            "  %y = tile.apply abs %z : !tile.tile<1x1xf16, ub> -> !tile.tile<1x1xf16, ub>\n"
            "  %x = tile.apply abs %y : !tile.tile<1x1xf16, ub> -> !tile.tile<1x1xf16, ub>",
            "NOT_MACHINE_LEVEL",
            "tile.full is no operation of the machine",
        ),
        (
            "%t = arith.constant true\n  scf.if %t {\n    tik.barrier v\n  }",
            "NOT_MACHINE_LEVEL",
            "the condition of a branch is not an arith.cmpi",
        ),
        ("%m = arith.constant 500 : index\n  " + USE.format("%m"), "INVALID_PROGRAM", "0..255"),
    ],
)
def test_what_the_machine_cannot_do_is_refused(body: str, code: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        build_program(kernel_of(body))
    assert caught.value.code == code
    assert message in caught.value.message
    assert caught.value.location is not None


def test_a_kernel_says_its_core() -> None:
    function = kernel_of("")
    del function.attributes["pypto.kernel"]
    with pytest.raises(CompileError, match="function k does not say what core it runs on"):
        build_program(function)


def test_moves_happen_all_at_once() -> None:
    a, b, c, d = (Register(n) for n in (2, 3, 4, 5))
    moves: dict[Register, int | Register] = {a: b, b: a, c: a, d: 7}
    registers: dict[object, object] = {a: "a", b: "b", c: "c", d: "d", Register(9): "spare"}
    for home, place in parallel_moves(moves, lambda: Register(9)):
        registers[home] = registers.get(place, place)
    assert [registers[r] for r in (a, b, c, d)] == ["b", "a", "a", 7]
