"""Modules as text: locations, errors, round trips."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.traits import MemoryEffect

from pypto.dialects import host, tik, tile
from pypto.dialects.context import make_context, parse_module, print_module
from pypto.dialects.elements import element_dtype, element_type
from pypto.dialects.locations import nearest_source, source_of, to_ir
from pypto.dialects.tik_instructions import InstructionOp
from pypto.dialects.verify import verify_module
from pypto.errors import CompileError, SourceLocation
from pypto.target.dtypes import DTYPES

TEXT = """\
func.func @k(%x: !tik.ptr<gm> loc("k.py":1:7), %n: index) attributes {pypto.kernel = "vector"} {
  %c0 = arith.constant 0 : index
  %a = tik.alloc "a" bytes 64 : !tik.buffer<ub>
  scf.for %i = %c0 to %n step %n {
    %p = tik.slot %a[%c0] : !tik.buffer<ub> loc(unknown)
    tik.vadds.f32 dst = %p, src = %p, scalar = -1.5 loc("k.py":2:3)
  }
  func.return
}
"""


def test_operations_know_where_they_stand_in_the_text() -> None:
    module = parse_module(TEXT, "k.mlir")
    places = {op.name: str(source_of(op)) for op in module.walk()}
    assert places["func.func"] == "k.mlir:1:1"
    assert places["tik.alloc"] == "k.mlir:3:3"
    assert places["scf.for"] == "k.mlir:4:3"
    assert places["tik.slot"] == "None"
    assert places["tik.vadds.f32"] == "k.py:2:3"
    slot = next(op for op in module.walk() if op.name == "tik.slot")
    assert nearest_source(slot) == SourceLocation("k.mlir", 4, 3)
    function = module.body.block.first_op
    assert function is not None
    assert source_of(function.regions[0].block.args[0]) == SourceLocation("k.py", 1, 7)


def test_text_with_locations_reads_back_equal() -> None:
    module = parse_module(TEXT, "k.mlir")
    text = print_module(module)
    again = parse_module(text, "other.mlir")
    assert print_module(again) == text
    assert again.is_structurally_equivalent(module)
    assert "loc(" not in print_module(module, locations=False)


@pytest.mark.parametrize(
    "text", ["", "hello world\n", "[build-system]\n", '"""Words."""\nimport pypto\n', "%0 = a.b\n"]
)
def test_files_that_are_no_ir(text: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse_module(text, "k.txt")
    assert caught.value.code == "NOT_IR"
    assert caught.value.message == (
        "k.txt is no IR: no line begins with an operation of "
        "builtin, func, arith, scf, pypto, tile, tik, host"
    )
    assert caught.value.fix == (
        "write IR with `pyptoc compile KERNEL.py --emit tensor -o NAME.mlir`"
    )


def test_what_follows_the_last_operation_has_a_message() -> None:
    with pytest.raises(CompileError) as caught:
        parse_module("builtin.module {\n}\n]\n", "k.mlir")
    assert caught.value.code == "IR_SYNTAX"
    assert caught.value.message == "an operation should begin here"
    assert str(caught.value.location) == "k.mlir:3:1"


def test_syntax_errors_have_a_place() -> None:
    with pytest.raises(CompileError) as caught:
        parse_module(TEXT.replace("dst = %p", "dst = %q", 1).replace("%q,", "", 1), "k.mlir")
    assert caught.value.code == "IR_SYNTAX"
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == ("k.mlir", 6)


@pytest.mark.parametrize("text", ['"vector', '"vec\\qtor"', f'"{"a" * 5000}'])
def test_an_open_string_is_told_at_once(text: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse_module(TEXT.replace('"vector"', text), "k.mlir")
    assert caught.value.message == "this string does not end on its line, or has an unknown escape"
    assert caught.value.location == SourceLocation("k.mlir", 1, TEXT.index('"vector') + 1)


def test_strings_may_have_escapes_and_comments_quotes() -> None:
    text = TEXT.replace('"vector"', '"a\\"b\\0A\\\\"') + '// one " in a comment\n'
    assert parse_module(text, "k.mlir").body.block.ops


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(TEXT)), st.integers(0, 20), st.sampled_from(["", "x", "%q", "1", ">"]))
def test_broken_text_is_at_most_a_compile_error(start: int, length: int, inserted: str) -> None:
    text = TEXT[:start] + inserted + TEXT[start + length :]
    with contextlib.suppress(CompileError):
        verify_module(parse_module(text, "k.mlir"))


def test_instructions_are_made_when_a_text_names_them() -> None:
    kind = make_context().get_op("tik.vadd.f16")
    assert issubclass(kind, InstructionOp)
    assert make_context().get_optional_op("tik.vadd.f8") is None


@pytest.mark.parametrize("dialect", [tile.Tile, tik.Tik, host.Host], ids=lambda d: d.name)
def test_every_operation_states_its_effects(dialect) -> None:
    for kind in (*dialect.operations, InstructionOp):
        assert any(isinstance(trait, MemoryEffect) for trait in kind.traits.traits), kind.__name__


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_element_types_go_both_ways(dtype) -> None:
    assert element_dtype(element_type(dtype)) is dtype


def test_locations_go_both_ways() -> None:
    location = SourceLocation("k.py", 3, 4)
    module = parse_module("builtin.module {} loc(unknown)", "k.mlir")
    assert source_of(module) is None
    module.location = to_ir(location)
    assert source_of(module) == location
