"""Code generation of a module: buffers, constants, launches, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.codegen import build_executable
from pypto.dialects.context import parse_module
from pypto.errors import CompileError
from pypto.target.dtypes import F16, F32
from pypto.target.executable import Buffer, BufferArgument, Dim, Executable, Launch, Role

MODULE = """
builtin.module attributes {pypto.soc = "ascend910b1"} {
func.func @k(%x: !tik.ptr<gm>, %w: !tik.ptr<gm>, %y: !tik.ptr<gm>, %n: index)
    attributes {pypto.kernel = "vector"} {
  %c0 = arith.constant 0 : index
  %a = tik.alloc "a" bytes 64 address 0 : !tik.buffer<ub>
  %p = tik.slot %a[%c0] : !tik.buffer<ub>
  %q = tik.offset %y, %n : !tik.ptr<gm>
  tik.copy_gm_to_ubuf_align.b16 dst = %p, src = %x, length = 64
  tik.copy_ubuf_to_gm_align.b16 dst = %q, src = %p, length = 64
  func.return
}
func.func @main(%x: !host.buffer<4x?xf16> {pypto.name = "x"}, %z: !host.buffer<8xf32>)
    -> (!host.buffer<?x2xf16>) {
  %n = host.dim %x axis 1 : !host.buffer<4x?xf16>
  %w = host.constant "weights" resource "key" : !host.buffer<2x3xf32>
  %t = host.alloc temporary "t" offset 512 : !host.buffer<4x8xf16>
  %v = host.view %t : !host.buffer<4x8xf16> -> !host.buffer<32xf16>
  %c32 = host.dim %v axis 0 : !host.buffer<32xf16>
  %y = host.alloc result "y"(%n) : !host.buffer<?x2xf16>
  %m = host.dim %y axis 0 : !host.buffer<?x2xf16>
  host.launch @k(%x, %w, %v, %c32) grid 48 core vector
    : !host.buffer<4x?xf16>, !host.buffer<2x3xf32>, !host.buffer<32xf16>, index
  host.launch @k(%t, %z, %y, %m) grid 1 core vector
    : !host.buffer<4x8xf16>, !host.buffer<8xf32>, !host.buffer<?x2xf16>, index
  host.return %y : !host.buffer<?x2xf16>
}
}
"""
WEIGHTS = np.arange(6, dtype=np.float32).reshape(2, 3)


def build(text: str = MODULE) -> Executable:
    return build_executable(parse_module(text, "module.mlir"), {"key": WEIGHTS})


def test_a_module_becomes_buffers_and_launches() -> None:
    executable = build()
    assert executable.soc == "ascend910b1"
    assert executable.buffers == (
        Buffer("x", Role.INPUT, F16, (4, Dim(0, 1))),
        Buffer("argument1", Role.INPUT, F32, (8,), 32),
        Buffer("weights", Role.CONSTANT, F32, (2, 3), 24, constant="key"),
        Buffer("t", Role.TEMPORARY, F16, (4, 8), 64, offset=512),
        Buffer("y", Role.RESULT, F16, (Dim(0, 1), 2)),
    )
    assert executable.steps == (
        Launch(0, 48, (BufferArgument(0), BufferArgument(2), BufferArgument(3), 32)),
        Launch(0, 1, (BufferArgument(3), BufferArgument(1), BufferArgument(4), Dim(0, 1))),
    )
    assert (executable.inputs, executable.results) == ((0, 1), (4,))
    assert bytes(executable.constants["key"]) == WEIGHTS.tobytes()


def test_parameters_know_their_elements_and_whether_they_are_written() -> None:
    parameters = build().programs[0].parameters
    assert [(p.kind, p.dtype, p.writes) for p in parameters] == [
        ("buffer", F16, False),
        ("buffer", F32, False),
        ("buffer", F16, True),
        ("scalar", None, False),
    ]


def test_a_module_without_main_gives_its_programs() -> None:
    kernel, _ = MODULE.split("func.func @main")
    executable = build(kernel + "}")
    assert [program.name for program in executable.programs] == ["k"]
    assert executable.steps == ()


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        (' attributes {pypto.soc = "ascend910b1"}', "", "NO_SOC", "for which machine it is"),
        ("grid 48", "grid 49", "INVALID_EXECUTABLE", "ascend910b1 has 48 vector cores"),
        ('{pypto.kernel = "vector"}', "{}", "NOT_A_KERNEL", "@k is launched but is no kernel"),
        (
            "host.dim %v axis 0 : !host.buffer<32xf16>",
            "arith.addi %n, %n : index",
            "NOT_HOST_LEVEL",
            "arith.addi cannot stand in @main",
        ),
        (
            "%v = host.view %t : !host.buffer<4x8xf16> -> !host.buffer<32xf16>",
            "%v = host.view %t : !host.buffer<4x8xf16> -> !host.buffer<32xf16>\n"
            "  %s = host.view %x : !host.buffer<4x?xf16> -> !host.buffer<?xf16>\n"
            "  %r = host.dim %s axis 0 : !host.buffer<?xf16>",
            "DYNAMIC_VIEW",
            "the extent of axis 0 of a reshaped tensor is known at launch only",
        ),
    ],
)
def test_what_cannot_be_launched_is_refused(old: str, new: str, code: str, message: str) -> None:
    assert old in MODULE
    with pytest.raises(CompileError) as caught:
        build(MODULE.replace(old, new))
    assert caught.value.code == code
    assert message in caught.value.message
